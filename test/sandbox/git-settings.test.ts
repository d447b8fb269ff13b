/** The git settings of a session: whether a command has written them is told once. */

import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { gitSettingsLook, sessionGitSettings } from "../../src/sandbox/git-settings.ts";

function folderOfTest(): string {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-git-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
const person = { env: {}, home: "/nonexistent", isHidden: () => false };

test("each write of a command is noticed once, and the file of an earlier shell stays", () => {
  const folder = folderOfTest();
  const isWritten = gitSettingsLook(folder);
  expect(isWritten()).toBe(false);
  const path = sessionGitSettings(folder, person);
  expect(isWritten()).toBe(false);
  writeFileSync(path, "[user]\n\tname = n\n");
  expect([isWritten(), isWritten()]).toEqual([true, false]);
  sessionGitSettings(folder, person);
  expect(isWritten()).toBe(false);
});

test("a link in its place is not written through", () => {
  const folder = folderOfTest();
  const target = join(folder, "target");
  writeFileSync(target, "");
  symlinkSync(target, join(folder, "gitconfig"));
  sessionGitSettings(folder, person);
  expect(statSync(target).size).toBe(0);
});
