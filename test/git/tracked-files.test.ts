/** The files that git tracks, read from the index of a real repository in each of its forms. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { trackedFiles } from "../../src/git/configured-programs.ts";
import { putIn } from "../support/tree.ts";

function folder(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tracked-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  return root;
}

test.each([["2"], ["4"]])("of an index of version %s are listed from any folder below", (version) => {
  const root = folder();
  const git = (...words: string[]) => execFileSync("git", words, { cwd: root });
  git("init", "-q");
  const names = [
    "a",
    "deep/er/b c.txt",
    "deep/ü.ts",
    ...Array.from({ length: 70 }, (_, at) => `src/${at}.ts`),
  ];
  for (const name of names) putIn(root, name);
  git("add", "-A");
  git("update-index", "--index-version", version);
  putIn(root, "new.ts");
  const paths = names.map((name) => join(root, name)).sort();
  expect(trackedFiles(root).sort()).toEqual(paths);
  expect(trackedFiles(join(root, "deep", "er")).sort()).toEqual(paths);
});

test("are none without a repository, in an empty one and with a broken index", () => {
  const root = folder();
  expect(trackedFiles(root)).toEqual([]);
  mkdirSync(join(root, "sub"));
  execFileSync("git", ["init", "-q"], { cwd: root });
  expect(trackedFiles(root)).toEqual([]);
  writeFileSync(join(root, ".git", "index"), "DIRC nonsense");
  expect(trackedFiles(root)).toEqual([]);
});
