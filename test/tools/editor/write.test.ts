/** Files are written all or nothing, and keep what they are: mode, links, owner (T18). */

import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { machineName } from "../../../src/disk/process-name.ts";
import { replaceFile } from "../../../src/tools/editor/replace-file.ts";
import { editorTool } from "../../../src/tools/editor/tool.ts";
import { editorHere } from "../../support/editor.ts";
import { farMachine } from "../../support/foreign-claim.ts";

const edit = { command: "str_replace", old_str: "one", new_str: "ONE" };
const isRoot = process.getuid?.() === 0;

test.each([0o755, 0o600, 0o640, 0o4755])("a file keeps its mode %o", async (mode) => {
  const editor = editorHere();
  chmodSync(editor.write("f", "one\n"), mode);
  await editor.run({ ...edit, path: "f" });
  expect(statSync(join(editor.folder, "f")).mode & 0o7777).toBe(mode);
  expect(editor.read("f").toString()).toBe("ONE\n");
});

test.runIf(isRoot)("a file keeps its owner", async () => {
  const editor = editorHere();
  const path = editor.write("f", "one\n");
  chownSync(path, 1234, 4321);
  await editor.run({ ...edit, path: "f" });
  expect(statSync(path)).toMatchObject({ uid: 1234, gid: 4321 });
});

test("a new file has the mode that the umask leaves, and its folders are made", async () => {
  const editor = editorHere();
  await editor.run({ command: "create", path: "a/b/c.txt", file_text: "x" });
  expect(statSync(join(editor.folder, "a/b/c.txt")).mode & 0o777).toBe(0o666 & ~process.umask());
  expect(editor.read("a/b/c.txt").toString()).toBe("x");
});

test("a chain of links stays, and the file at its end is changed", async () => {
  const editor = editorHere();
  mkdirSync(join(editor.folder, "deep"));
  editor.write("deep/real", "one\n");
  symlinkSync("deep/real", join(editor.folder, "second"));
  symlinkSync("second", join(editor.folder, "first"));
  const { stats } = await editor.run({ ...edit, path: "first" });
  expect(readlinkSync(join(editor.folder, "first"))).toBe("second");
  expect(readlinkSync(join(editor.folder, "second"))).toBe("deep/real");
  expect(editor.read("deep/real").toString()).toBe("ONE\n");
  expect(stats?.wrote).toEqual([join(editor.folder, "deep/real")]);
});

test("a file is created where a dangling link points", async () => {
  const editor = editorHere();
  symlinkSync("later/real", join(editor.folder, "link"));
  await editor.run({ command: "create", path: "link", file_text: "x\n" });
  expect(lstatSync(join(editor.folder, "link")).isSymbolicLink()).toBe(true);
  expect(editor.read("later/real").toString()).toBe("x\n");
});

test("a loop of links is an error that says so", async () => {
  const editor = editorHere();
  symlinkSync("b", join(editor.folder, "a"));
  symlinkSync("a", join(editor.folder, "b"));
  for (const command of ["view", "create", "str_replace", "insert"]) {
    const output = await editor.run({ ...edit, command, path: "a", file_text: "x" });
    expect(output).toMatchObject({ isError: true, content: expect.stringContaining("circle") });
  }
});

test("hard links stay one file", async () => {
  const editor = editorHere();
  const path = editor.write("f", "one and more\n");
  chmodSync(path, 0o4750);
  linkSync(path, join(editor.folder, "g"));
  await editor.run({ ...edit, path: "f", old_str: "one and more", new_str: "1" });
  expect(editor.read("g").toString()).toBe("1\n");
  expect(statSync(path)).toMatchObject({ nlink: 2, ino: statSync(join(editor.folder, "g")).ino });
  expect(statSync(path).mode & 0o7777).toBe(0o4750);
  expect(editor.names()).toEqual(["f", "g"]);
});

test("a link to another file system is followed there", async () => {
  const editor = editorHere();
  const other = mkdtempSync("/dev/shm/editor-");
  onTestFinished(() => rmSync(other, { recursive: true }));
  writeFileSync(join(other, "real"), "one\n");
  symlinkSync(join(other, "real"), join(editor.folder, "f"));
  await editor.run({ ...edit, path: "f" });
  expect(readFileSync(join(other, "real"), "utf8")).toBe("ONE\n");
  expect(lstatSync(join(editor.folder, "f")).isSymbolicLink()).toBe(true);
});

test.skipIf(isRoot)("a read-only file is not written, and the reason is told", async () => {
  const editor = editorHere();
  chmodSync(editor.write("f", "one\n"), 0o444);
  const output = await editor.run({ ...edit, path: "f" });
  expect(output).toMatchObject({ isError: true, content: expect.stringContaining("permission denied") });
  expect(editor.read("f").toString()).toBe("one\n");
});

test.skipIf(isRoot)("in a folder that is read-only nothing changes and the reason is told", async () => {
  const editor = editorHere();
  editor.write("f", "one\n");
  chmodSync(editor.folder, 0o555);
  onTestFinished(() => chmodSync(editor.folder, 0o755));
  const output = await editor.run({ ...edit, path: "f" });
  expect(output).toMatchObject({ isError: true, content: expect.stringContaining("permission denied") });
  expect(editor.read("f").toString()).toBe("one\n");
});

/** A file system of one megabyte. */
function smallDisk(): string {
  const folder = mkdtempSync(join(tmpdir(), "editor-disk-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], { stdio: "ignore" });
  onTestFinished(() => void execFileSync("umount", [folder]));
  return folder;
}

/** True where we may mount file systems. */
const canMount =
  spawnSync("unshare", ["-m", "mount", "-t", "tmpfs", "tmpfs", tmpdir()], { stdio: "ignore" }).status === 0;

describe.runIf(canMount)("on a full or read-only disk", () => {
  test.each(["a file", "a file with a hard link"])(
    "%s stays as it was, and nothing is left beside it",
    async (kind) => {
      const disk = smallDisk();
      const original = `one\n${"x".repeat(300_000)}\n`;
      writeFileSync(join(disk, "f"), original);
      if (kind !== "a file") linkSync(join(disk, "f"), join(disk, "g"));
      const editor = editorHere();
      const output = await editor.run({ ...edit, path: join(disk, "f"), new_str: "y".repeat(900_000) });
      expect(output).toMatchObject({ isError: true, content: expect.stringContaining("no space") });
      expect(readFileSync(join(disk, "f"), "utf8")).toBe(original);
      expect(execFileSync("ls", ["-A", disk], { encoding: "utf8" }).split("\n")).toEqual(
        kind === "a file" ? ["f", ""] : ["f", "g", ""],
      );
    },
  );

  test("a read-only file system is named", async () => {
    const disk = smallDisk();
    writeFileSync(join(disk, "f"), "one\n");
    execFileSync("mount", ["-o", "remount,ro", disk]);
    const editor = editorHere();
    const said = await editor.say({ ...edit, path: join(disk, "f") });
    expect(said).toContain("read-only");
    expect(readFileSync(join(disk, "f"), "utf8")).toBe("one\n");
  });

  test("a file that is a mount point is written in place", async () => {
    const editor = editorHere();
    const [real, point] = [editor.write("real", "one\n"), editor.write("point", "")];
    execFileSync("mount", ["--bind", real, point], { stdio: "ignore" });
    onTestFinished(() => void execFileSync("umount", [point]));
    await editor.run({ ...edit, path: "point" });
    expect(editor.read("real").toString()).toBe("ONE\n");
    expect(editor.names()).toEqual(["point", "real"]);
  });
});

test("a kill while writing leaves a whole file, and the next write clears up", async () => {
  const editor = editorHere();
  const path = editor.write("f", "");
  const module = join(import.meta.dirname, "../../../src/tools/editor/replace-file.ts");
  const script = `
    import { replaceFile } from ${JSON.stringify(module)};
    process.stdout.write("go");
    for (let n = 0; ; n++) await replaceFile(${JSON.stringify(path)}, Buffer.alloc(300_000, 65 + (n % 26)));`;
  for (let round = 0; round < 12; round++) {
    const child = spawn(process.execPath, ["--input-type=module", "-e", script]);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    await new Promise((resolve) => setTimeout(resolve, 5 + 7 * round));
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("exit", resolve));
    const bytes = editor.read("f");
    expect([0, 300_000]).toContain(bytes.length);
    expect(bytes.every((byte) => byte === bytes[0])).toBe(true);
  }
  await replaceFile(path, Buffer.from("last"));
  expect(editor.names()).toEqual(["f"]);
});

test("a file that another machine is writing stays, whatever process here has its pid", async () => {
  const editor = editorHere();
  const name = (machine: string) => `.sawtooth-${machine}.999999999.1-${"0".repeat(16)}.tmp`;
  editor.write(name(machineName()), "left");
  editor.write(name(farMachine), "theirs");
  await replaceFile(editor.write("f", ""), Buffer.from("last"));
  expect(editor.names()).toEqual([name(farMachine), "f"]);
});

test("what is no file, and a path that cannot be, is refused in words", async () => {
  const editor = editorHere();
  execFileSync("mkfifo", [join(editor.folder, "pipe")]);
  mkdirSync(join(editor.folder, "sub"));
  editor.write("f", "one\n");
  expect(await editor.say({ command: "view", path: "pipe" })).toContain("not a regular file");
  expect(await editor.say({ command: "view", path: "/dev/zero" })).toContain("not a regular file");
  expect(await editor.say({ ...edit, path: "sub" })).toContain("not a regular file");
  expect(await editor.say({ command: "create", path: "sub", file_text: "" })).toContain("not a regular file");
  expect(await editor.say({ ...edit, path: "missing" })).toContain("no such file");
  expect(await editor.say({ command: "create", path: "f/g", file_text: "" })).toContain("not a folder");
  expect(await editor.say({ ...edit, path: "a\0b" })).toContain("NUL");
  expect(await editor.say({ ...edit, path: "n".repeat(300) })).toContain("too long");
});

describe("what a call touches", () => {
  const tool = editorTool({ description: "", workspace: "/tmp" });

  test("is told with links resolved, the nearest folder that exists deciding", () => {
    const editor = editorHere();
    mkdirSync(join(editor.folder, "real"));
    symlinkSync("real", join(editor.folder, "link"));
    const path = join(editor.folder, "link/new/file");
    expect(tool.access({ command: "create", path })).toEqual({
      kind: "write",
      paths: [join(editor.folder, "real/new/file")],
    });
    expect(tool.access({ command: "view", path })).toMatchObject({ kind: "read" });
  });

  test.each([{}, { path: 5 }, { command: "view", path: "a\0b" }, { command: 1, path: "x".repeat(9999) }])(
    "never throws (case %#)",
    (input) => {
      expect(tool.access(input)).toHaveProperty("paths");
    },
  );
});

test("the person gets a unified diff, the log the path, the lines and the bytes", async () => {
  const editor = editorHere();
  editor.write("f", "one\ntwo\nthree\n");
  const output = await editor.run({ ...edit, path: "f" });
  expect(output.display).toBe("--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n-one\n+ONE\n two\n three");
  const hash = expect.stringMatching(/^[0-9a-f]{16}$/);
  expect(output.stats).toEqual({ wrote: [join(editor.folder, "f")], lines: 3, bytes: 14, hash });
  const created = await editor.run({ command: "create", path: "g", file_text: "a\nb\n" });
  expect(created.display).toBe("--- /dev/null\n+++ b/g\n@@ -0,0 +1,2 @@\n+a\n+b");
});

test("the model gets the changed regions with their lines as they are now", async () => {
  const editor = editorHere();
  editor.write("f", Array.from({ length: 900 }, (_, index) => `line ${index + 1}\n`).join(""));
  const edits = [
    { old_str: "line 500\n", new_str: "changed\nadded\n" },
    { old_str: "line 900\n", new_str: "" },
  ];
  const regions = [
    "   497\tline 497\n   498\tline 498\n   499\tline 499\n   500\tchanged\n   501\tadded\n   502\tline 501",
    "   503\tline 502\n   504\tline 503\n   ...\n   898\tline 897\n   899\tline 898\n   900\tline 899",
  ];
  const said = await editor.say({ command: "str_replace", path: "f", edits });
  expect(said).toBe(`Edited f: 2 replacements.\n${regions.join("\n")}`);
});

test("the diffs of edits anywhere in a file can be applied by patch", async () => {
  const editor = editorHere();
  const lines = Array.from({ length: 60 }, (_, index) => `line ${index}`);
  for (const [round, at] of [0, 1, 3, 7, 30, 55, 58, 59].entries()) {
    const before = `${lines.join("\n")}\n`;
    editor.write(`f${round}`, before);
    const new_str = round % 2 === 0 ? "changed\nand more" : "line";
    const { display } = await editor.run({
      command: "str_replace",
      path: `f${round}`,
      old_str: `line ${at}\n`,
      new_str: `${new_str}\n`,
    });
    const after = editor.read(`f${round}`).toString();
    editor.write(`f${round}`, before);
    execFileSync("git", ["apply", "--unidiff-zero", "-"], { cwd: editor.folder, input: `${display}\n` });
    expect(editor.read(`f${round}`).toString()).toBe(after);
  }
});
