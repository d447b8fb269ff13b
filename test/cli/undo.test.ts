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
import { type Place, sawtooth, start } from "../support/sawtooth.ts";
import { madePlace, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

/** A repository with two commits, three uncommitted files, two untracked ones and an ignored one. */
function repository(): Place {
  const place = madePlace();
  for (const commit of ["one", "two"]) {
    for (const name of ["a", "b", "c"]) writeFileSync(join(place.cwd, `${name}.txt`), `${name} ${commit}\n`);
    writeFileSync(join(place.cwd, ".gitignore"), ".env.local\nnode_modules\n");
    if (commit === "one") git(place, "init", "-q");
    git(place, "add", "-A");
    git(place, "-c", "user.name=t", "-c", "user.email=t@t", "commit", "-qm", commit);
  }
  writeFileSync(join(place.cwd, "a.txt"), "a uncommitted \u{1f7e2}\r\n");
  writeFileSync(join(place.cwd, "b.txt"), Buffer.from([0, 255, 254, 10]));
  rmSync(join(place.cwd, "c.txt"));
  mkdirSync(join(place.cwd, "new"));
  writeFileSync(join(place.cwd, "new", "untracked.sh"), "#!/bin/sh\n", { mode: 0o755 });
  symlinkSync("../a.txt", join(place.cwd, "new", "link"));
  writeFileSync(join(place.cwd, ".env.local"), "KEY=of-mine\n", { mode: 0o600 });
  return place;
}

function git({ cwd, env }: Place, ...words: string[]): string {
  return execFileSync("git", words, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const files = ["a.txt", "b.txt", "c.txt", "new/untracked.sh", "new/link", ".env.local"];

/** Content, mode and links, byte for byte. */
function stateOf({ cwd }: Place): Record<string, string> {
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
function run(place: Place, commands: string[], words: string[] = []) {
  const script = join(place.home, "script.json");
  const turns = [...commands.map((command) => ({ calls: [{ bash: { command } }] })), { text: "done" }];
  writeFileSync(script, JSON.stringify({ turns }));
  return sawtooth(place, [
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
    const place = repository();
    const before = stateOf(place);
    expect(await run(place, ["ls", command])).toMatchObject({ code: 0, stdout: "done\n" });
    expect(stateOf(place)).not.toEqual(before);
    const undone = await sawtooth(place, ["undo"]);
    expect(undone).toMatchObject({ code: 0, stderr: "" });
    expect(stateOf(place)).toEqual(before);
  });

  test("an undo is undone by --redo, and that by another undo", async () => {
    const place = repository();
    const before = stateOf(place);
    await run(place, ["git clean -qfdx && echo made > new.txt"]);
    const after = stateOf(place);
    await sawtooth(place, ["undo"]);
    expect(existsSync(join(place.cwd, "new.txt"))).toBe(false);
    expect((await sawtooth(place, ["undo", "--redo"])).code).toBe(0);
    expect(stateOf(place)).toEqual(after);
    expect(readFileSync(join(place.cwd, "new.txt"), "utf8")).toBe("made\n");
    await sawtooth(place, ["undo"]);
    expect(stateOf(place)).toEqual(before);
  });

  test("turn after turn is undone, the last one first, and then there is nothing more", async () => {
    const place = repository();
    await run(place, ["echo 1 > a.txt"]);
    // A script goes on after the replies that the session has: two of the first run.
    await run(place, ["skipped", "skipped", "echo 2 > a.txt", "echo 3 > a.txt"], ["-c"]);
    const content = () => readFileSync(join(place.cwd, "a.txt"), "utf8");
    await sawtooth(place, ["undo"]);
    expect(content()).toBe("1\n");
    await sawtooth(place, ["undo"]);
    expect(content()).toBe("a uncommitted \u{1f7e2}\r\n");
    expect((await sawtooth(place, ["undo"])).stdout).toMatch(/nothing to undo/);
  });

  test("it is undone after the agent was killed in the middle of a command", async () => {
    const place = repository();
    const before = stateOf(place);
    const script = join(place.home, "script.json");
    const command = "git clean -qfdx; touch cleaned; sleep 60";
    writeFileSync(script, JSON.stringify({ turns: [{ calls: [{ bash: { command } }] }] }));
    const words = ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto"];
    const running = start(place, words);
    await until(() => existsSync(join(place.cwd, "cleaned")));
    running.child.kill("SIGKILL");
    await running.ended;
    expect((await sawtooth(place, ["undo"])).code).toBe(0);
    expect(stateOf(place)).toEqual(before);
    expect(existsSync(join(place.cwd, "cleaned"))).toBe(false);
    await sawtooth(place, ["doctor", "--clean"]);
  });
});

describe("an undo", () => {
  test("leaves alone what others changed, and keeps a copy where both did", async () => {
    const place = repository();
    await run(place, ["echo agent > a.txt"]);
    writeFileSync(join(place.cwd, "a.txt"), "mine\n");
    writeFileSync(join(place.cwd, "b.txt"), "mine too\n");
    const { stdout, code } = await sawtooth(place, ["undo"]);
    expect(code).toBe(0);
    expect(readFileSync(join(place.cwd, "b.txt"), "utf8")).toBe("mine too\n");
    expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("a uncommitted \u{1f7e2}\r\n");
    const copy = /a\.txt: (\/\S+)/.exec(stdout)?.[1] ?? "";
    expect(readFileSync(copy, "utf8")).toBe("mine\n");
  });

  test("never writes through a link that was put in the place of a folder", async () => {
    const place = repository();
    const outside = join(place.home, "outside");
    mkdirSync(outside);
    await run(place, ["echo changed > new/untracked.sh"]);
    rmSync(join(place.cwd, "new"), { recursive: true });
    symlinkSync(outside, join(place.cwd, "new"));
    await sawtooth(place, ["undo"]);
    expect(existsSync(join(outside, "untracked.sh"))).toBe(false);
  });

  test("touches neither git's index nor its refs, and tells how they go back", async () => {
    const place = repository();
    const head = git(place, "rev-parse", "HEAD").trim();
    git(place, "-c", "user.name=t", "-c", "user.email=t@t", "stash", "-q");
    const stash = git(place, "rev-parse", "stash").trim();
    git(place, "stash", "apply", "-q");
    await run(place, ["git reset -q --hard HEAD~1; git stash drop -q; git add -A && echo x > a.txt"]);
    const gitState = () => [git(place, "rev-parse", "HEAD"), git(place, "diff", "--cached", "--raw")];
    const before = gitState();
    const { stdout } = await sawtooth(place, ["undo"]);
    expect(gitState()).toEqual(before);
    const reset = /git reset ([0-9a-f]+) goes back/.exec(stdout)?.[1] ?? "";
    expect(head.startsWith(reset)).toBe(true);
    expect(stdout).toContain(`git stash store ${stash}`);
    git(place, "reset", "-q", reset);
    git(place, "stash", "store", stash);
    expect(git(place, "status", "--short")).toBe(" M a.txt\n M b.txt\n D c.txt\n?? new/\n");
  });

  test("is told to the model in the next request", async () => {
    const turns = [
      { calls: [{ bash: { command: "echo new > made.txt" } }] },
      { text: "made" },
      { text: "ok" },
    ];
    const { server, place } = await serve(turns);
    await sawtooth(place, ["-p", "go", "--permission-mode", "auto"]);
    await sawtooth(place, ["undo"]);
    expect(await sawtooth(place, ["-c", "-p", "go on"])).toMatchObject({ code: 0, stdout: "ok\n" });
    const last = JSON.stringify(server.requests.at(-1)?.messages.at(-1));
    expect(last).toMatch(/The user undid changes .*made\.txt \(removed\).*go on/);
  });

  test("goes back to a chosen snapshot of the list", async () => {
    const place = repository();
    await run(place, ["echo 1 > a.txt", "cat a.txt", "echo 2 > a.txt", "echo 3 > a.txt"]);
    const { stdout } = await sawtooth(place, ["undo", "--list"]);
    expect(stdout.split("\n").filter((line) => line.includes("before echo"))).toHaveLength(3);
    expect(stdout).not.toContain("before cat");
    const n = /(\d+) .*before echo 2/.exec(stdout)?.[1] ?? "";
    expect((await sawtooth(place, ["undo", "--to", n])).stdout).toContain("a.txt");
    expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("1\n");
    expect(await sawtooth(place, ["undo", "--to", "77"])).toMatchObject({ code: 2 });
  });

  test("covers edits of files that are ignored, huge or outside", async () => {
    const place = repository();
    const [outside, huge] = [join(place.home, "extra", "notes.txt"), join(place.cwd, "huge.txt")];
    mkdirSync(join(place.home, "extra"));
    writeFileSync(outside, "old\n");
    writeFileSync(huge, `old\n${`${"x".repeat(99)}\n`.repeat(110_000)}`);
    const edit = (path: string) => ({
      str_replace_editor: { command: "str_replace", path, old_str: "old", new_str: "newer" },
    });
    const create = (path: string) => ({
      str_replace_editor: { command: "create", path, file_text: "made\n" },
    });
    const script = join(place.home, "script.json");
    const made = join(place.home, "extra", "made.txt");
    const turns = [{ calls: [edit(outside), edit(huge), create(made)] }, { text: "done" }];
    writeFileSync(script, JSON.stringify({ turns }));
    const size = lstatSync(huge).size;
    const words = ["-p", "go", "--model", `scripted/${script}`, "--permission-mode", "auto"];
    expect((await sawtooth(place, words)).code).toBe(0);
    const state = () => [readFileSync(outside, "utf8"), lstatSync(huge).size, existsSync(made)];
    expect(state()).toEqual(["newer\n", size + 2, true]);
    expect((await sawtooth(place, ["undo"])).code).toBe(0);
    expect(state()).toEqual(["old\n", size, false]);
  });

  test("says what it could not put back", async () => {
    const place = repository();
    writeFileSync(join(place.cwd, "large.bin"), Buffer.alloc(11 * 2 ** 20));
    await run(place, ["rm large.bin", "echo x > a.txt"]);
    const { code, stdout } = await sawtooth(place, ["undo"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(/Could not be restored:\n {2}large\.bin: .*too large/);
    expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("a uncommitted \u{1f7e2}\r\n");
  });
});

test("reading costs no snapshot, and a folder that cannot be kept stops nothing", async () => {
  const place = repository();
  await run(place, ["ls -la", "git status"]);
  expect((await sawtooth(place, ["undo"])).stderr).toMatch(/no session .* changed files/);
  const broken = join(place.cwd, "unreadable");
  mkdirSync(broken);
  writeFileSync(join(broken, "x"), "x");
  chmodSync(broken, 0);
  onTestFinished(() => chmodSync(broken, 0o700));
  expect(await run(place, ["echo y > a.txt"])).toMatchObject({ code: 0, stdout: "done\n" });
  await sawtooth(place, ["undo"]);
  expect(readFileSync(join(place.cwd, "a.txt"), "utf8")).toBe("a uncommitted \u{1f7e2}\r\n");
});
