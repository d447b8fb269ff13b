/** Repositories that commands make or bend: git outside runs nothing that they name. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import {
  jsonLines,
  makeWorkspace,
  sawtooth,
  start,
  type Workspace,
  writeSettings,
} from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import { engine } from "./support.ts";

const git = (cwd: string, ...words: string[]): string =>
  execFileSync("git", ["-c", "user.name=n", "-c", "user.email=e@example.com", ...words], {
    ...{ cwd, encoding: "utf8", env: { PATH: process.env.PATH, HOME: cwd } },
  });

/** Makes git write the file `ran` in the folder above the workspace, by a setting. */
const evil = (workspace: Workspace) => `touch ${ranIn(workspace)}; false`;
const ranIn = ({ home }: Workspace) => join(home, "..", "ran");

async function served(turns: (workspace: Workspace) => ScriptedReply[]) {
  let made: Workspace | undefined;
  const { workspace, server } = await serve(
    (body) => {
      const replies = body.messages.filter(({ role }) => role === "assistant").length;
      return (made && turns(made)[replies]) ?? { text: "done" };
    },
    {},
    (url) => {
      made = makeWorkspace(url);
      writeSettings(made, { sandbox: "on" });
      return made;
    },
  );
  return { workspace, server };
}

function repository({ cwd }: Workspace): void {
  git(cwd, "init", "--quiet", "--initial-branch=main");
  writeFileSync(join(cwd, "a"), "a\n");
  git(cwd, "add", "-A");
  git(cwd, "commit", "--quiet", "-m", "one");
}

const auto = ["-p", "go", "--permission-mode", "auto", "--output-format", "stream-json"];
const quarantined = (stdout: string): string[] =>
  ((jsonLines(stdout).at(-1) as { quarantined: { path: string }[] }).quarantined ?? []).map((one) =>
    typeof one === "string" ? one : one.path,
  );
const user = "git config user.name n; git config user.email e@example.com";
/** Lines of a shell that the reader of commands cannot read, so that what they do is only met by the walls. */
const unread = (script: string) =>
  bash(`bash -c "$(echo ${Buffer.from(script).toString("base64")} | base64 -d)"`);

describe.skipIf(!engine)("S05 hooks, in repositories that commands make", () => {
  test("a pointer to other settings in the workspace's own repository is gone while the command still runs", async () => {
    const { workspace } = await served((made) => [
      {
        calls: [
          unread(`mkdir other; printf '[core]\\n\\tfsmonitor = ${evil(made)}\\n' > other/config
            cp -r .git/refs .git/objects other; echo ../other > .git/commondir; touch set; until [ -e go ]; do sleep 0.05; done`),
        ],
      },
    ]);
    repository(workspace);
    const run = start(workspace, auto);
    await until(() => existsSync(join(workspace.cwd, "set")), "the pointer");
    await until(() => !existsSync(join(workspace.cwd, ".git/commondir")), "its end");
    git(workspace.cwd, "status");
    writeFileSync(join(workspace.cwd, "go"), "");
    const { stdout } = await run.ended;
    expect(quarantined(stdout)).toEqual([join(workspace.cwd, ".git/commondir")]);
    expect(existsSync(ranIn(workspace))).toBe(false);
  });

  test("settings and hooks of a new one are moved, so that git in it and around it runs nothing", async () => {
    const hook =
      "printf '#!/bin/sh\\ntouch RAN\\n' > sub/.git/hooks/post-index-change; chmod +x sub/.git/hooks/*";
    const { workspace, server } = await served((made) => [
      {
        calls: [
          unread(`git init -q sub; cd sub; ${user}; git commit -q --allow-empty -m x; git config core.fsmonitor '${evil(made)}'
            cd ..; git add sub; ${hook.replace("RAN", ranIn(made))}; git init -q deep/er/still; git -C deep/er/still config diff.external evil`),
        ],
      },
    ]);
    repository(workspace);
    const { stdout } = await sawtooth(workspace, auto);
    const at = (name: string) => join(workspace.cwd, name);
    expect(quarantined(stdout).sort()).toEqual([
      at("deep/er/still/.git/config"),
      at("sub/.git/config"),
      at("sub/.git/hooks/post-index-change"),
    ]);
    git(workspace.cwd, "status");
    git(at("sub"), "status");
    expect(existsSync(ranIn(workspace))).toBe(false);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("sub/.git/config appeared");
  });

  test("one around the workspace, made there, one without a working tree, and a file that leads to other data are no way either", async () => {
    const settings = (made: Workspace) => `printf '[core]\\n\\tfsmonitor = ${evil(made)}\\n'`;
    const { workspace } = await served((made) => [
      {
        calls: [
          unread(`git init -q; git config core.fsmonitor '${evil(made)}'; git init -q --bare data; ${settings(made)} > data/config
            mkdir tree; echo 'gitdir: ../hidden' > tree/.git; cp -r data hidden; rm hidden/HEAD; ln -s ../data linked.git; mkdir l; ln -s ../data l/.git`),
        ],
      },
    ]);
    const { stdout } = await sawtooth(workspace, auto);
    const at = (name: string) => join(workspace.cwd, name);
    expect(quarantined(stdout).sort()).toEqual(
      [at(".git/config"), at("data/config"), at("hidden/config"), at("l/.git")].sort(),
    );
    for (const folder of [".", "data", "tree", "l"])
      try {
        git(at(folder), "status");
      } catch {
        // Some are no working trees.
      }
    expect(existsSync(ranIn(workspace))).toBe(false);
  });

  test("what the settings of the person's own lead to can only be read, and what is missing of it does not stay", async () => {
    const { workspace } = await served(() => [
      {
        calls: [
          unread(`echo evil > tools/hooks/pre-commit; echo evil > tools/hooks/new; echo evil > shared.gitconfig; mv tools old
            echo evil > more.gitconfig; echo evil > other/a; echo fine`),
        ],
      },
    ]);
    repository(workspace);
    const at = (name: string) => join(workspace.cwd, name);
    mkdirSync(at("tools/hooks"), { recursive: true });
    mkdirSync(at("other"));
    writeFileSync(at("tools/hooks/pre-commit"), "mine");
    writeFileSync(at("shared.gitconfig"), "[include]\n\tpath = more.gitconfig\n");
    git(workspace.cwd, "config", "core.hooksPath", "tools/hooks");
    git(workspace.cwd, "config", "include.path", "../shared.gitconfig");
    const { stdout } = await sawtooth(workspace, auto);
    expect(stdout).toContain("fine");
    expect(readdirSync(at("tools/hooks"))).toEqual(["pre-commit"]);
    expect(readFileSync(at("tools/hooks/pre-commit"), "utf8")).toBe("mine");
    expect(readFileSync(at("shared.gitconfig"), "utf8")).toContain("more.gitconfig");
    expect(readFileSync(at("other/a"), "utf8")).toBe("evil\n");
    expect(quarantined(stdout)).toEqual([at("more.gitconfig")]);
  });

  test("ordinary work with new ones is left alone", async () => {
    const { workspace } = await served(() => [
      {
        calls: [
          unread(`set -e; git init -q sub; cd sub; ${user}; echo b > b; git add b; git commit -qm b; git config core.fsmonitor true
            cd ..; git clone -q sub copy; git -C copy switch -qc topic; git -C sub worktree add -q ../tree; git -C tree status -s
            git -C copy config alias.st status; git -C copy config pull.rebase true; git clone -q --bare sub bare.git; echo fine`),
        ],
      },
    ]);
    repository(workspace);
    const { stdout } = await sawtooth(workspace, auto);
    expect(stdout).toContain("fine");
    expect(quarantined(stdout)).toEqual([]);
    expect(readdirSync(workspace.cwd).sort()).toEqual([".git", "a", "bare.git", "copy", "sub", "tree"]);
  });

  test("the person's own, beyond what walls are made for, keep their hooks, and get no others", async () => {
    const { workspace } = await served(() => [
      {
        calls: [
          unread("for n in $(seq 62); do echo changed > r/$n/.git/hooks/post-commit; done; touch made"),
        ],
      },
    ]);
    for (let at = 1; at <= 62; at++) {
      const hooks = join(workspace.cwd, "r", String(at), ".git/hooks");
      mkdirSync(hooks, { recursive: true });
      writeFileSync(join(hooks, "..", "config"), "[core]\n\tpager = mine\n");
      writeFileSync(join(hooks, "pre-commit"), "mine", { mode: 0o755 });
      writeFileSync(join(hooks, "post-commit"), "mine", { mode: 0o755 });
    }
    const { stdout } = await sawtooth(workspace, auto);
    const moved = quarantined(stdout);
    const kept = (at: number) => join(workspace.cwd, "r", String(at), ".git/hooks/post-commit");
    const changed = Array.from({ length: 62 }, (_, at) => at + 1).filter(
      (at) => existsSync(kept(at)) && readFileSync(kept(at), "utf8") !== "mine",
    );
    expect(changed).toEqual([]);
    expect(moved.every((path) => path.endsWith("/post-commit"))).toBe(true);
    expect(moved.length).toBeGreaterThan(0);
  });
});

describe.skipIf(!engine)("S08 new-watched, after the command", () => {
  test("what a job makes when no command runs is moved, and what it makes at the end of the session", async () => {
    const { workspace } = await served(() => [
      {
        calls: [
          {
            bash: {
              command:
                "until [ -e go ]; do sleep 0.05; done; echo evil > .envrc; touch set; until [ ! -e .envrc ]; do sleep 0.05; done; touch moved; while :; do echo evil > .mcp.json; done",
              background: true,
            },
          },
        ],
      },
      { text: "thinking ".repeat(60), fault: { silentAfterEvents: 12 } },
    ]);
    const run = start(workspace, auto);
    await until(() => run.stdout().includes("background job"), "the job");
    writeFileSync(join(workspace.cwd, "go"), "");
    await until(() => existsSync(join(workspace.cwd, "moved")), "its file to be moved");
    run.child.kill("SIGINT");
    const { stdout } = await run.ended;
    expect(existsSync(join(workspace.cwd, ".envrc"))).toBe(false);
    expect(existsSync(join(workspace.cwd, ".mcp.json"))).toBe(false);
    expect(quarantined(stdout)).toContain(join(workspace.cwd, ".envrc"));
  });

  test("every name that the editor asks about is moved", async () => {
    const names = [
      ".pre-commit-config.yaml",
      "mise.toml",
      ".exrc",
      ".windsurf",
      "a.code-workspace",
      ".VSCode",
    ];
    const { workspace } = await served(() => [
      { calls: [unread(`for n in ${names.join(" ")}; do echo evil > $n; done`)] },
    ]);
    const { stdout } = await sawtooth(workspace, auto);
    expect(quarantined(stdout).sort()).toEqual(names.map((name) => join(workspace.cwd, name)).sort());
    expect(readdirSync(workspace.cwd)).toEqual([]);
  });
});
