/** Files behind a wall that programs of the machine replace: the kernel takes the wall off, and it is put back. */

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Sandbox } from "../../src/core/sandbox.ts";
import { lostMounts } from "../../src/sandbox/lost-mounts.ts";
import { followOutput } from "../../src/tools/bash/output-file.ts";
import { createShell, type Shell } from "../../src/tools/bash/shell/shell.ts";
import { until } from "../support/until.ts";
import { type InsideSession, openInside } from "./session.ts";
import { engine, insideOf } from "./support.ts";

const git = (cwd: string, ...words: string[]) => execFileSync("git", words, { cwd, encoding: "utf8" });

/** Replaces a file as most programs do: a new one takes its name. */
function replace(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

describe.skipIf(!engine)("what another program replaces while a sandbox runs", () => {
  let session: InsideSession;
  const warned: string[] = [];
  beforeAll(() => {
    const files = {
      "home/.netrc": "KEY-CANARY",
      "home/.npmrc": "registry=https://registry.example/\n//registry.example/:_authToken=KEY-CANARY\n",
      "home/.aws/credentials": "KEY-CANARY",
      "work/.envrc": "mine",
      "work/.vscode/tasks.json": "{}",
    };
    session = openInside(files, {
      warn: (text) => warned.push(text),
      rules: () => ({ allow: [], deny: ["read(.env)"] }),
    });
    git(session.work, "init", "-q");
  });
  afterAll(() => session.close());

  test("S07 git-config: it stays read-only after git wrote it outside", async () => {
    await session.run("true");
    git(session.work, "config", "branch.main.remote", "origin");
    expect(await session.run("echo evil >>.git/config")).toContain("Read-only file system");
    expect(await session.run("git config branch.main.remote; mv .git .git2")).toMatch(/^origin\n.*busy/);
  });

  test("S09 watched-exists: a file and a folder stay read-only", async () => {
    const { work } = session;
    replace(join(work, ".envrc"), "newer");
    rmSync(join(work, ".vscode"), { recursive: true });
    mkdirSync(join(work, ".vscode"));
    const said = await session.run("echo evil >>.envrc; echo evil >.vscode/tasks.json; cat .envrc");
    expect(said).toMatch(/\.envrc: Read-only.*\n.*tasks\.json: Read-only.*\nnewer$/);
  });

  test("S05 hooks: a repository that is made anew is closed like the one before", async () => {
    const { work } = session;
    rmSync(join(work, ".git"), { recursive: true });
    git(work, "init", "-q");
    const said = await session.run(
      "echo evil >.git/hooks/post-commit; echo evil >>.git/config; mv .git .git2",
    );
    expect(said).toMatch(/post-commit: Read-only.*\n.*config: Read-only.*\n.*busy/);
  });

  test("S12 hidden: keys stay hidden, and a settings file without its tokens", async () => {
    const { home } = session;
    replace(join(home, ".netrc"), "KEY-CANARY new");
    replace(join(home, ".npmrc"), "//registry.example/:_authToken=KEY-CANARY\n");
    renameSync(join(home, ".aws"), join(home, ".aws-old"));
    mkdirSync(join(home, ".aws"));
    writeFileSync(join(home, ".aws/credentials"), "KEY-CANARY");
    rmSync(join(home, ".aws-old"), { recursive: true });
    const said = await session.run("cat ~/.netrc ~/.npmrc ~/.aws/credentials; ls -A ~/.aws");
    expect(said).toContain("registry=");
    expect(said).not.toContain("CANARY");
  });

  test("S12 hidden: a key that is made meanwhile, and a file that a rule hides, are hidden too", async () => {
    const { home, work } = session;
    mkdirSync(join(home, ".config/gcloud"), { recursive: true });
    for (const path of [join(home, ".config/gcloud/key"), join(home, ".pgpass"), join(work, ".env")])
      writeFileSync(path, "KEY-CANARY");
    const said = await session.run("cat ~/.config/gcloud/key ~/.pgpass .env; ls -A ~/.config/gcloud");
    expect(said).not.toContain("CANARY");
    expect(readFileSync(join(work, ".env"), "utf8")).toBe("KEY-CANARY");
  });

  test("S12 hidden: a key that is made while a command runs is hidden while it runs", async () => {
    const { home, work } = session;
    const running = session.run(
      "touch waiting; until [ -e ~/.kube ]; do sleep 0.01; done; while [ -e ~/.kube/config ]; do sleep 0.01; done; ls -A ~/.kube",
    );
    await expect.poll(() => existsSync(join(work, "waiting"))).toBe(true);
    mkdirSync(join(home, ".kube-new"));
    writeFileSync(join(home, ".kube-new/config"), "KEY-CANARY");
    renameSync(join(home, ".kube-new"), join(home, ".kube"));
    expect(await running).toBe("(no output)");
    expect(readFileSync(join(home, ".kube/config"), "utf8")).toBe("KEY-CANARY");
  });

  test("S07 git-config: it is closed while a command runs, and the person is told", async () => {
    expect(warned).toEqual([]);
    const running = session.run(
      "touch started; until grep -q rebase .git/config; do sleep 0.01; done; until ! echo '# open' >>.git/config; do sleep 0.01; done",
    );
    await expect.poll(() => existsSync(join(session.work, "started"))).toBe(true);
    git(session.work, "config", "pull.rebase", "true");
    expect(await running).toContain("Read-only file system");
    expect(git(session.work, "config", "pull.rebase")).toBe("true\n");
    await expect.poll(() => warned).toEqual([expect.stringContaining(join(session.work, ".git/config"))]);
  });

  test("S07 git-config: the file that git outside is about to put in its place can be swapped by a job, and the person is told", async () => {
    warned.length = 0;
    const lock = join(session.work, ".git/config.lock");
    await session.run({
      command:
        "until [ -e .git/config.lock ]; do :; done; echo evil > x; mv x .git/config.lock; touch swapped; sleep 60",
      background: true,
    });
    // As git does.
    writeFileSync(lock, readFileSync(join(session.work, ".git/config")), { flag: "wx" });
    await until(() => existsSync(join(session.work, "swapped")), "the swap");
    renameSync(lock, join(session.work, ".git/config"));
    await until(() => warned.length > 0, "the warning");
    expect(warned).toEqual([expect.stringContaining(join(session.work, ".git/config"))]);
    expect(readFileSync(join(session.work, ".git/config"), "utf8")).toBe("evil\n");
    expect(await session.run("echo more >> .git/config; true")).toContain("Read-only file system");
  });
});

describe.skipIf(!engine)("what another program removes while a sandbox runs", () => {
  let root: string;
  let sandbox: Sandbox;
  let shell: Shell;
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-removed-")));
    const [work, state] = [join(root, "work"), join(root, "session")];
    for (const folder of [work, state]) mkdirSync(folder);
    writeFileSync(join(work, ".envrc"), "mine");
    sandbox = insideOf({ work, state });
    shell = createShell({
      ...{ cwd: work, env: process.env, sessionId: root.slice(-6), stateFolder: state },
      sandbox: async () => sandbox,
    });
  });
  afterEach(async () => {
    await shell.close();
    rmSync(root, { recursive: true, force: true });
  });
  const run = async (command: string) => {
    const outputPath = join(root, "session", "output");
    writeFileSync(outputPath, "");
    const output = followOutput(outputPath);
    const { signal } = new AbortController();
    const io = { output, outputPath, timeoutMs: 60_000, signal, onProgress() {} };
    const { notes } = await shell.run(command, io);
    output.close();
    return { text: readFileSync(outputPath, "utf8"), notes };
  };

  test("S08 new-watched: is watched from then on, like what never was there", async () => {
    const path = join(root, "work", ".envrc");
    expect((await run("echo evil >.envrc")).text).toContain("Read-only");
    expect(sandbox.plan().watched).not.toContain(path);
    rmSync(path);
    await run("true");
    expect(sandbox.plan().watched).toContain(path);
    expect((await run("echo evil >.envrc")).text).toBe("");
    expect(existsSync(path)).toBe(true);
  });

  test("a sandbox that had to be ended before a command is a new one for it, with folder and exports", async () => {
    const { closeLate } = sandbox;
    await run("mkdir -p sub; cd sub; export KEPT=yes");
    sandbox.closeLate = async (box) => {
      sandbox.closeLate = closeLate;
      box.kill();
    };
    const { text, notes } = await run("echo $KEPT $PWD; echo evil >../.envrc");
    expect(text).toMatch(/^yes .*\/work\/sub\n.*Read-only/);
    expect(notes).toEqual([expect.stringContaining("new shell")]);
  });

  test("what cannot be closed again without Perl and Python is a failure", async () => {
    await run("true");
    const path = join(root, "work", ".envrc");
    const failures: string[] = [];
    const lost = lostMounts([{ path, how: "readOnly" }], {
      ...{ pid: process.pid, isAlive: () => true, onGone() {}, onHidden() {}, warn() {} },
      ...{ onFailure: (reason) => failures.push(reason), folders: [] },
    });
    await lost(() => false);
    await lost(() => false);
    expect(failures).toEqual([expect.stringContaining("neither perl nor python3")]);
  });
});
