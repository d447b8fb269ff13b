/** `-w` on real repositories: a run works in a worktree of its own, which stays when something changed in it. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { standingRules } from "../../src/app/rules.ts";
import { makeWorkspace, sawtooth, type Workspace } from "../support/sawtooth.ts";

const who = ["-c", "user.email=a@example.org", "-c", "user.name=a"];

function git(cwd: string, ...words: string[]): string {
  const env = { PATH: process.env.PATH, HOME: cwd, LC_ALL: "C" };
  return execFileSync("git", [...who, ...words], { cwd, env, encoding: "utf8" }).trim();
}

function repository(): Workspace {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  const { cwd } = workspace;
  git(cwd, "init", "--quiet", "--initial-branch=main");
  mkdirSync(join(cwd, "sub"));
  writeFileSync(join(cwd, "sub/b"), "b\n");
  writeFileSync(join(cwd, "a"), "a\n");
  git(cwd, "add", "-A");
  git(cwd, "commit", "--quiet", "-m", "one");
  return workspace;
}

/** A headless run whose model gives one command and ends. */
function run(workspace: Workspace, command: string, words: readonly string[], cwd = workspace.cwd) {
  const script = join(workspace.home, `${Buffer.from(command).toString("hex").slice(0, 80)}.json`);
  const turns = [{ calls: [{ bash: { command } }] }, { text: "done" }];
  // A session that goes on is at its third reply.
  if (words.includes("-c")) turns.unshift({ text: "" }, { text: "" });
  writeFileSync(script, JSON.stringify({ turns }));
  const model = ["--model", `scripted/${script}`, "--permission-mode", "auto"];
  return sawtooth({ ...workspace, cwd }, ["-p", "go", ...model, ...words]);
}

/** The folder that a run named on standard error. */
const folderIn = ({ home }: Workspace, stderr: string): string =>
  /^Worktree (\S+) on branch/m.exec(stderr)?.[1]?.replace(/^~/, home) ?? "none";

const commit = `git ${who.join(" ")} commit -qam two`;

test("nothing changed: the worktree and its branch are gone afterwards, and the folder was another", async () => {
  const workspace = repository();
  writeFileSync(join(workspace.cwd, "a"), "changed\n");
  const sub = join(workspace.cwd, "sub");
  const { code, stderr } = await run(workspace, "pwd; cat ../a b", ["-w", "--verbose"], sub);
  expect(code).toBe(0);
  expect(stderr).toContain("1 changed file of ");
  expect(stderr).toContain("The worktree was removed: nothing in it had changed");
  expect(existsSync(folderIn(workspace, stderr))).toBe(false);
  expect(git(workspace.cwd, "branch", "--list")).toBe("* main");
  expect(git(workspace.cwd, "worktree", "list").split("\n")).toHaveLength(1);
  expect(git(workspace.cwd, "status", "--porcelain")).toBe("M a");
});

test("two side by side on one repository stay apart, are kept, and are merged as it is told", async () => {
  const workspace = repository();
  const [one, two] = await Promise.all([
    run(workspace, `pwd > where; echo one >> a; git add -A; ${commit}`, ["-w", "one"]),
    run(workspace, "echo two > new", ["-w", "two"]),
  ]);
  expect([one.code, two.code]).toEqual([0, 0]);
  expect(one.stderr).toContain("The worktree has 1 commit to merge:");
  expect(two.stderr).toContain("The worktree has 1 file not committed:");
  expect(readFileSync(join(workspace.cwd, "a"), "utf8")).toBe("a\n");
  expect(existsSync(join(workspace.cwd, "new"))).toBe(false);
  for (const { stderr } of [one, two]) {
    const told = (word: string) => new RegExp(`^ {2}${word} +(git .+)$`, "m").exec(stderr)?.[1];
    for (const line of [told("commit"), told("merge")]) {
      if (line === undefined) continue;
      const words = line.replaceAll("commit", "commit -m work").replaceAll("git ", `git ${who.join(" ")} `);
      execFileSync("bash", ["-c", words], {
        cwd: workspace.cwd,
        env: { PATH: process.env.PATH, HOME: workspace.home },
      });
    }
  }
  expect(readFileSync(join(workspace.cwd, "a"), "utf8")).toBe("a\none\n");
  expect(readFileSync(join(workspace.cwd, "new"), "utf8")).toBe("two\n");
  expect(readFileSync(join(workspace.cwd, "where"), "utf8").trim()).toBe(folderIn(workspace, one.stderr));
  // Merged, so nothing of its own is left.
  const again = await run(workspace, "true", ["-w", "one"]);
  expect(again.stderr).toContain("as it was left");
  expect(again.stderr).toContain("The worktree was removed");
});

describe("a worktree that is there", () => {
  test("is gone on with, and its session too", async () => {
    const workspace = repository();
    await run(workspace, "echo first > f", ["-w", "fix"]);
    const { stderr, code } = await run(workspace, "cat f >> g", ["-w", "fix", "-c"]);
    expect(code).toBe(0);
    expect(stderr).toContain("as it was left");
    expect(stderr).toContain("2 files not committed");
    expect(readFileSync(join(folderIn(workspace, stderr), "g"), "utf8")).toBe("first\n");
  });

  test("and was removed by hand is made anew from its branch", async () => {
    const workspace = repository();
    const first = await run(workspace, `echo more >> a; ${commit}`, ["-w", "fix"]);
    rmSync(folderIn(workspace, first.stderr), { recursive: true });
    const second = await run(workspace, "echo again > f", ["-w", "fix"]);
    expect(second.stderr).toContain("1 commit and 1 file not committed");
    expect(readFileSync(join(folderIn(workspace, second.stderr), "a"), "utf8")).toBe("a\nmore\n");
  });

  test("and is removed by a command of its own session ends the run in order", async () => {
    const workspace = repository();
    const command = `cd / && git -C ${workspace.cwd} worktree remove --force $OLDPWD && echo gone`;
    const { code, stderr } = await run(workspace, command, ["-w", "fix"]);
    expect([0, 1]).toContain(code);
    expect(stderr).not.toMatch(/ at .*:\d+:\d+/);
  });

  test("has the rules of its repository", async () => {
    const workspace = repository();
    const { stderr } = await run(workspace, "echo first > f", ["-w", "fix"]);
    const config = join(workspace.home, "config");
    const rulesIn = (root: string) =>
      standingRules({
        ...{ flags: { allow: [], deny: [], bare: false } as never, settings: {}, config, root, session: [] },
        ...{ env: {}, warn() {} },
      });
    rulesIn(folderIn(workspace, stderr)).add("bash(make:*)", "project");
    expect(rulesIn(workspace.cwd).allow()).toEqual(["bash(make:*)"]);
  });
});

describe("is refused with what to do", () => {
  test.each(["fix the bug", "../up", "a.lock", ".a", "a..b", "a".repeat(61), "\u001b[2J"])(
    "%j",
    async (name) => {
      const workspace = repository();
      const { code, stderr } = await run(workspace, "true", [`--worktree=${name}`]);
      expect(code).toBe(2);
      expect(stderr).toContain("A prompt stands before the option");
      expect(stderr).not.toContain("\u001b");
      expect(git(workspace.cwd, "worktree", "list").split("\n")).toHaveLength(1);
    },
  );

  test("no repository, and one without a commit", async () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    expect((await run(workspace, "true", ["-w"])).stderr).toMatch(
      /needs a git repository, and \S+ is in none/,
    );
    git(workspace.cwd, "init", "--quiet");
    const { code, stderr } = await run(workspace, "true", ["-w"]);
    expect(code).toBe(2);
    expect(stderr).toContain("commit first");
  });

  test("a folder of that name that is no worktree", async () => {
    const workspace = repository();
    const { stderr } = await run(workspace, "echo > f", ["-w", "fix"]);
    const folder = join(folderIn(workspace, stderr), "../other");
    mkdirSync(folder);
    const refused = await run(workspace, "true", ["-w", "other"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("is no worktree of this repository");
  });
});
