/** Undo through the front door: a scripted run in a throw-away repository and home, then `sawtooth undo`. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { serve, tempWorkspace } from "../support/served.ts";
import { until } from "../support/until.ts";

/** A repository with two commits, three uncommitted files, two untracked ones and an ignored one. */
function repository(): Workspace {
  const workspace = tempWorkspace();
  for (const commit of ["one", "two"]) {
    for (const name of ["a", "b", "c"])
      writeFileSync(join(workspace.cwd, `${name}.txt`), `${name} ${commit}\n`);
    writeFileSync(join(workspace.cwd, ".gitignore"), ".env.local\nnode_modules\n");
    if (commit === "one") git(workspace, "init", "-q");
    git(workspace, "add", "-A");
    git(workspace, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", commit);
  }
  writeFileSync(join(workspace.cwd, "a.txt"), "a uncommitted \u{1f7e2}\r\n");
  writeFileSync(join(workspace.cwd, "b.txt"), Buffer.from([0, 255, 254, 10]));
  rmSync(join(workspace.cwd, "c.txt"));
  mkdirSync(join(workspace.cwd, "new"));
  writeFileSync(join(workspace.cwd, "new", "untracked.sh"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync("../a.txt", join(workspace.cwd, "new", "link"));
  writeFileSync(join(workspace.cwd, ".env.local"), "KEY=of-mine\n", { mode: 0o600 });
  return workspace;
}

function git({ cwd, env }: Workspace, ...words: string[]): string {
  return execFileSync("git", words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const files = ["a.txt", "b.txt", "c.txt", "new/untracked.sh", "new/link", ".env.local"];

/** Content, mode and links, byte for byte. */
function stateOf({ cwd }: Workspace): Record<string, string> {
  const told = files.map((file) => {
    const path = join(cwd, file);
    const status = lstatSync(path, { throwIfNoEntry: false });
    if (!status) return [file, "missing"];
    const content = status.isSymbolicLink() ? readlinkSync(path) : readFileSync(path).toString("hex");
    return [file, `${status.mode.toString(8)} ${content}`];
  });
  return Object.fromEntries(told);
}

/** One turn that runs the commands, each in a step of its own. */
function run(workspace: Workspace, commands: string[], words: string[] = []) {
  const script = join(workspace.home, "script.json");
  const turns = [...commands.map((command) => ({ calls: [{ bash: { command } }] })), { text: "done" }];
  writeFileSync(script, JSON.stringify({ turns }));
  return sawtooth(workspace, [
    "-p",
    "go",
    "--model",
    `scripted/${script}`,
    "--permission-mode",
    "auto",
    ...words,
  ]);
}

describe("what a turn destroyed", () => {
  test.each([
    "git reset -q --hard HEAD~1",
    "git clean -qfdx",
    "git checkout -- . && git clean -qfdx",
    "git stash -qu && git stash drop -q",
    "git rm -rqf . && rm -f .env.local",
    "rm -rf new && echo > a.txt && chmod 777 .env.local && ln -sf /etc/hostname b.txt",
  ])("%s is undone byte for byte, by another process", async (command) => {
    const workspace = repository();
    const before = stateOf(workspace);
    expect(await run(workspace, ["ls", command])).toMatchObject({ code: 0, stdout: "done\n" });
    expect(stateOf(workspace)).not.toEqual(before);
    const undone = await sawtooth(workspace, ["undo"]);
    expect(undone).toMatchObject({ code: 0, stderr: "" });
    expect(stateOf(workspace)).toEqual(before);
  });

  test("an undo is undone by --redo, and that by another undo", async () => {
    const workspace = repository();
    const before = stateOf(workspace);
    await run(workspace, ["git clean -qfdx && echo made > new.txt"]);
    const after = stateOf(workspace);
    await sawtooth(workspace, ["undo"]);
    expect(existsSync(join(workspace.cwd, "new.txt"))).toBe(false);
    expect((await sawtooth(workspace, ["undo", "--redo"])).code).toBe(0);
    expect(stateOf(workspace)).toEqual(after);
    expect(readFileSync(join(workspace.cwd, "new.txt"), "utf8")).toBe("made\n");
    await sawtooth(workspace, ["undo"]);
    expect(stateOf(workspace)).toEqual(before);
  });

  test("turn after turn is undone, the last one first, and then there is nothing more", async () => {
    const workspace = repository();
    await run(workspace, ["echo 1 > a.txt"]);
    // A script goes on after the replies that the session has: two of the first run.
    await run(workspace, ["skipped", "skipped", "echo 2 > a.txt", "echo 3 > a.txt"], ["-c"]);
    const content = () => readFileSync(join(workspace.cwd, "a.txt"), "utf8");
    await sawtooth(workspace, ["undo"]);
    expect(content()).toBe("1\n");
    await sawtooth(workspace, ["undo"]);
    expect(content()).toBe("a uncommitted \u{1f7e2}\r\n");
    expect((await sawtooth(workspace, ["undo"])).stdout).toMatch(/nothing to undo/);
  });

  test("it is undone after the agent was killed in the middle of a command", async () => {
    const workspace = repository();
    const before = stateOf(workspace);
    const script = join(workspace.home, "script.json");
    const command = "git clean -qfdx; touch cleaned; sleep 60";
    writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ bash: { command } }] }] }));
    const words = ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto"];
    const running = start(workspace, words);
    await until(() => existsSync(join(workspace.cwd, "cleaned")));
    running.child.kill("SIGKILL");
    await running.ended;
    expect((await sawtooth(workspace, ["undo"])).code).toBe(0);
    expect(stateOf(workspace)).toEqual(before);
    expect(existsSync(join(workspace.cwd, "cleaned"))).toBe(false);
    await sawtooth(workspace, ["doctor", "--clean"]);
  });
});

describe("an undo", () => {
  test("leaves alone what others changed, and keeps a copy where both did", async () => {
    const workspace = repository();
    await run(workspace, ["echo agent > a.txt"]);
    writeFileSync(join(workspace.cwd, "a.txt"), "mine\n");
    writeFileSync(join(workspace.cwd, "b.txt"), "mine too\n");
    const { stdout, code } = await sawtooth(workspace, ["undo"]);
    expect(code).toBe(0);
    expect(readFileSync(join(workspace.cwd, "b.txt"), "utf8")).toBe("mine too\n");
    expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("a uncommitted \u{1f7e2}\r\n");
    const copy = /a\.txt: (\/\S+)/.exec(stdout)?.[1] ?? "";
    expect(readFileSync(copy, "utf8")).toBe("mine\n");
  });

  test("never writes through a link that was put in the place of a folder", async () => {
    const workspace = repository();
    const outside = join(workspace.home, "outside");
    mkdirSync(outside);
    await run(workspace, ["echo changed > new/untracked.sh"]);
    rmSync(join(workspace.cwd, "new"), { recursive: true });
    symlinkSync(outside, join(workspace.cwd, "new"));
    await sawtooth(workspace, ["undo"]);
    expect(existsSync(join(outside, "untracked.sh"))).toBe(false);
  });

  test("touches neither git's index nor its refs, and tells how they go back", async () => {
    const workspace = repository();
    const head = git(workspace, "rev-parse", "HEAD").trim();
    git(workspace, "-c", "user.name=t", "-c", "user.email=t@t", "stash", "-q");
    const stash = git(workspace, "rev-parse", "stash").trim();
    git(workspace, "stash", "apply", "-q");
    await run(workspace, ["git reset -q --hard HEAD~1; git stash drop -q; git add -A && echo x > a.txt"]);
    const gitState = () => [git(workspace, "rev-parse", "HEAD"), git(workspace, "diff", "--cached", "--raw")];
    const before = gitState();
    const { stdout } = await sawtooth(workspace, ["undo"]);
    expect(gitState()).toEqual(before);
    const reset = /git reset ([0-9a-f]+) goes back/.exec(stdout)?.[1] ?? "";
    expect(head.startsWith(reset)).toBe(true);
    expect(stdout).toContain(`git stash store ${stash}`);
    git(workspace, "reset", "-q", reset);
    git(workspace, "stash", "store", stash);
    expect(git(workspace, "status", "--short")).toBe(" M a.txt\n M b.txt\n D c.txt\n?? new/\n");
  });

  test("is told to the model in the next request", async () => {
    const turns = [
      { calls: [{ bash: { command: "echo new > made.txt" } }] },
      { text: "made" },
      { text: "ok" },
    ];
    const { server, workspace } = await serve(turns);
    await sawtooth(workspace, ["-p", "go", "--permission-mode", "auto"]);
    await sawtooth(workspace, ["undo"]);
    expect(await sawtooth(workspace, ["-c", "-p", "go on"])).toMatchObject({ code: 0, stdout: "ok\n" });
    const last = JSON.stringify(server.requests.at(-1)?.messages.at(-1));
    expect(last).toMatch(/The user undid changes .*made\.txt \(removed\).*go on/);
  });

  test("goes back to a chosen snapshot of the list", async () => {
    const workspace = repository();
    await run(workspace, ["echo 1 > a.txt", "cat a.txt", "echo 2 > a.txt", "echo 3 > a.txt"]);
    const { stdout } = await sawtooth(workspace, ["undo", "--list"]);
    expect(stdout.split("\n").filter((line) => line.includes("before echo"))).toHaveLength(3);
    expect(stdout).not.toContain("before cat");
    const n = /(\d+) .*before echo 2/.exec(stdout)?.[1] ?? "";
    expect((await sawtooth(workspace, ["undo", "--to", n])).stdout).toContain("a.txt");
    expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("1\n");
    expect(await sawtooth(workspace, ["undo", "--to", "77"])).toMatchObject({ code: 2 });
  });

  test("covers edits of files that are ignored, huge or outside", async () => {
    const workspace = repository();
    const [outside, huge] = [join(workspace.home, "extra", "notes.txt"), join(workspace.cwd, "huge.txt")];
    mkdirSync(join(workspace.home, "extra"));
    writeFileSync(outside, "old\n");
    writeFileSync(huge, `old\n${`${"x".repeat(99)}\n`.repeat(110_000)}`);
    const edit = (path: string) => ({
      str_replace_editor: { command: "str_replace", path, old_str: "old", new_str: "newer" },
    });
    const create = (path: string) => ({
      str_replace_editor: { command: "create", path, file_text: "made\n" },
    });
    const script = join(workspace.home, "script.json");
    const made = join(workspace.home, "extra", "made.txt");
    const turns = [{ calls: [edit(outside), edit(huge), create(made)] }, { text: "done" }];
    writeFileSync(script, JSON.stringify({ turns }));
    const size = lstatSync(huge).size;
    const words = ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto"];
    expect((await sawtooth(workspace, words)).code).toBe(0);
    const state = () => [readFileSync(outside, "utf8"), lstatSync(huge).size, existsSync(made)];
    expect(state()).toEqual(["newer\n", size + 2, true]);
    expect((await sawtooth(workspace, ["undo"])).code).toBe(0);
    expect(state()).toEqual(["old\n", size, false]);
  });

  test("says what it could not put back", async () => {
    const workspace = repository();
    writeFileSync(join(workspace.cwd, "large.bin"), Buffer.alloc(11 * 2 ** 20));
    await run(workspace, ["rm large.bin", "echo x > a.txt"]);
    const { code, stdout } = await sawtooth(workspace, ["undo"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/Could not be restored:\n {2}large\.bin: .*too large/);
    expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("a uncommitted \u{1f7e2}\r\n");
  });
});

test("reading costs no snapshot, and a folder that cannot be kept stops nothing", async () => {
  const workspace = repository();
  await run(workspace, ["ls -la", "git status"]);
  expect((await sawtooth(workspace, ["undo"])).stderr).toMatch(/no session .* changed files/);
  const broken = join(workspace.cwd, "unreadable");
  mkdirSync(broken);
  writeFileSync(join(broken, "x"), "x");
  chmodSync(broken, 0);
  onTestFinished(() => chmodSync(broken, 0o700));
  expect(await run(workspace, ["echo y > a.txt"])).toMatchObject({ code: 0, stdout: "done\n" });
  await sawtooth(workspace, ["undo"]);
  expect(readFileSync(join(workspace.cwd, "a.txt"), "utf8")).toBe("a uncommitted \u{1f7e2}\r\n");
});
