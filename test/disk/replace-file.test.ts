/** Atomic writes on a real disk: old content or new, links and modes as promised, nothing left behind. */

import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { rememberTrust, trusted } from "../../src/config/trust.ts";
import { whyUnwritable } from "../../src/disk/error-words.ts";
import { makeFolders } from "../../src/disk/make-folders.ts";
import { ownName } from "../../src/disk/process-name.ts";
import { makerOf, replaceFile, replaceWith, saveFile, temporaryName } from "../../src/disk/replace-file.ts";

let folder = "";
let file = "";
const modeOf = (path: string): number => statSync(path).mode & 0o777;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-disk-"));
  file = join(folder, "file");
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
});

test("a file of our own is replaced for its owner only, and nothing is left beside it", () => {
  replaceFile(file, "one");
  chmodSync(file, 0o644);
  replaceFile(file, "two");
  expect([readFileSync(file, "utf8"), modeOf(file), readdirSync(folder)]).toEqual(["two", 0o600, ["file"]]);
});

test("a link in the place of a file of our own is replaced, and what it leads to stays", () => {
  const other = join(folder, "other");
  writeFileSync(other, "theirs");
  symlinkSync(other, file);
  replaceFile(file, "ours");
  expect([readFileSync(other, "utf8"), lstatSync(file).isFile()]).toEqual(["theirs", true]);
});

test("a write that fails, at once or later, leaves the old file and no other", async () => {
  writeFileSync(file, "old");
  const fail = (temporary: string): void => {
    writeFileSync(temporary, "ha");
    throw new Error("full");
  };
  expect(() => replaceWith(file, fail)).toThrow("full");
  await expect(replaceWith(file, async (temporary) => fail(temporary))).rejects.toThrow("full");
  expect([readFileSync(file, "utf8"), readdirSync(folder)]).toEqual(["old", ["file"]]);
});

test("a file that the user named keeps its mode, its links and its other names", () => {
  const target = join(folder, "target");
  writeFileSync(target, "old");
  chmodSync(target, 0o640);
  symlinkSync("target", file);
  saveFile(file, "new");
  expect([lstatSync(file).isSymbolicLink(), readFileSync(target, "utf8")]).toEqual([true, "new"]);
  expect(modeOf(target)).toBe(0o640);
  const name = join(folder, "name");
  linkSync(target, name);
  saveFile(target, "newer");
  expect(readFileSync(name, "utf8")).toBe("newer");
  expect(readdirSync(folder).sort()).toEqual(["file", "name", "target"]);
});

test("folders are made only where the caller says so, and a missing one says what to do", () => {
  const page = join(folder, "no", "such.html");
  const reasonOf = (path: string): string => {
    try {
      saveFile(path, "text", { make: false });
      return "written";
    } catch (error) {
      return whyUnwritable(path, error);
    }
  };
  expect(reasonOf(page)).toBe(
    `cannot write ${page}: its folder does not exist: create it, or name another file`,
  );
  expect(readdirSync(folder)).toEqual([]);
  writeFileSync(file, "");
  expect(reasonOf(join(file, "x"))).toContain("a part of the path is not a folder");
  expect(() => whyUnwritable(file, new TypeError("a bug"))).toThrow("a bug");
  saveFile(page, "text");
  expect(readFileSync(page, "utf8")).toBe("text");
});

test("what is no regular file is written to, not replaced", () => {
  const before = lstatSync("/dev/null");
  saveFile("/dev/null", "text");
  expect(lstatSync("/dev/null").ino).toBe(before.ino);
  symlinkSync("missing", file);
  saveFile(file, "made");
  expect(readFileSync(join(folder, "missing"), "utf8")).toBe("made");
});

test("a line that a crash cut costs no later one", () => {
  writeFileSync(file, '{"hash":"a","folder":"/w"}\n{"hash":"b","fol');
  rememberTrust(file, { hash: "c", folder: "/w" });
  expect(["a", "b", "c"].map((hash) => trusted(file, { hash, folder: "/w" }).now)).toEqual([
    true,
    false,
    true,
  ]);
});

test("folders are made with their mode; where none can be made the system's error comes back", () => {
  const deep = join(folder, "a", "b");
  makeFolders(deep, 0o700);
  makeFolders(deep, 0o755);
  expect([modeOf(deep), modeOf(join(folder, "a"))]).toEqual([0o700, 0o700]);
  writeFileSync(file, "");
  expect(() => makeFolders(join(file, "x"))).toThrow("ENOTDIR");
  expect(() => makeFolders("/proc/none/x")).toThrow(/ENOENT|EACCES|EPERM/);
});

test("temporary files say which process made them", () => {
  expect(makerOf(temporaryName())).toBe(ownName());
  expect(makerOf(".sawtooth-settings.tmp")).toBeUndefined();
});
