/** Folders that are looked at again only when a name in them, or in the one above a missing one, may be another. */

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { pathsInChanged } from "../../src/sandbox/present-names.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sawtooth-names-"));
  // A change counts as settled only after a while.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(root, { recursive: true, force: true });
});

/** Lets the clock of the file system, which has coarse steps, go on before a change. */
async function make(path: string): Promise<void> {
  await sleep(20);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, "");
}

test("a file in a folder that was missing is told when it is made, at any depth, and when its folder goes", async () => {
  const [deep, other] = [join(root, "a/b/c/key"), join(root, "a/x/key")];
  const look = pathsInChanged([deep, other]);
  expect([look(), look()]).toEqual([[deep, other], []]);
  await make(join(root, "a/unrelated"));
  expect([look(), look()]).toEqual([[], []]);
  await make(deep);
  expect([look(), look()]).toEqual([[deep], []]);
  await make(other);
  expect([look(), look()]).toEqual([[other], []]);
  await sleep(20);
  rmSync(join(root, "a/b"), { recursive: true });
  expect([look(), look()]).toEqual([[deep], []]);
});

test("a file behind a link is told when the folder that the link names is made elsewhere", async () => {
  symlinkSync(join(root, "elsewhere/deep"), join(root, "link"));
  mkdirSync(join(root, "elsewhere"));
  const key = join(root, "link/key");
  const look = pathsInChanged([key]);
  expect([look(), look()]).toEqual([[key], []]);
  await make(join(root, "elsewhere/deep/key"));
  expect([look(), look()]).toEqual([[key], []]);
});
