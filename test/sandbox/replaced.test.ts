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
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { followOutput } from "../../src/tools/bash/output-file.ts";
import { createShell } from "../../src/tools/bash/shell/shell.ts";
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
    session = openInside(files, { warn: (text) => warned.push(text) });
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
});

describe.skipIf(!engine)("what another program removes while a sandbox runs", () => {
  test("S08 new-watched: is watched from then on, like what never was there", async () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "sawtooth-removed-")));
    const [work, state] = [join(root, "work"), join(root, "session")];
    for (const folder of [work, state]) mkdirSync(folder);
    writeFileSync(join(work, ".envrc"), "mine");
    const sandbox = insideOf({ work, state });
    const shell = createShell({
      ...{ cwd: work, env: process.env, sessionId: "removed", stateFolder: state },
      sandbox: async () => sandbox,
    });
    onTestFinished(async () => {
      await shell.close();
      rmSync(root, { recursive: true, force: true });
    });
    const run = async (command: string): Promise<string> => {
      const outputPath = join(state, "output");
      writeFileSync(outputPath, "");
      const output = followOutput(outputPath);
      const { signal } = new AbortController();
      await shell.run(command, { output, outputPath, timeoutMs: 60_000, signal, onProgress() {} });
      output.close();
      return readFileSync(outputPath, "utf8");
    };
    expect(await run("echo evil >.envrc")).toContain("Read-only");
    expect(sandbox.plan().watched).not.toContain(join(work, ".envrc"));
    rmSync(join(work, ".envrc"));
    await run("true");
    expect(sandbox.plan().watched).toContain(join(work, ".envrc"));
    expect(await run("echo evil >.envrc")).toBe("");
    expect(existsSync(join(work, ".envrc"))).toBe(true);
  });
});
