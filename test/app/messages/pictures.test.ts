/** Pictures that a message names are attached: real files, each checked, and scaled where it is too large. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mentionedPictures, withPictures } from "../../../src/app/messages/pictures.ts";
import { pngOfRows } from "../../support/image-fuzz.ts";

let cwd: string;
const small = pngOfRows(40, 30, 0);

beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "sawtooth-pictures-"));
  mkdirSync(join(cwd, "pasted"));
  mkdirSync(join(cwd, "folder.png"));
  for (const name of ["a.png", "my shot.png", "pasted/clipboard-1.png"])
    writeFileSync(join(cwd, name), small);
  writeFileSync(join(cwd, "large.png"), pngOfRows(2400, 1200, 0));
  writeFileSync(join(cwd, "cut.png"), small.subarray(0, 50));
  writeFileSync(join(cwd, "words.png"), "no picture");
  execFileSync("mkfifo", [join(cwd, "pipe.png")]);
  symlinkSync("/dev/zero", join(cwd, "zero.png"));
});
afterAll(() => rmSync(cwd, { recursive: true }));

test.each([
  ["see @a.png, then (@b/c.JPG) and @d.webp.", ["a.png", "b/c.JPG", "d.webp"]],
  ['@"my shot.png" @a.png @a.png', ["my shot.png", "a.png"]],
  ["me@a.png @a.png.bak @a.pngx @.png/ @notes.md", []],
  ["@a.png\n@~/b.gif", ["a.png", "~/b.gif"]],
])("%j names %j", (text, names) => {
  expect(mentionedPictures(text)).toEqual(names);
});

/** Additions to the text, pictures by their form only. */
async function added(text: string): Promise<string[]> {
  const content = await withPictures([{ type: "text", text }], { cwd, pasted: join(cwd, "pasted") });
  expect(content[0]).toEqual({ type: "text", text });
  return content.slice(1).map((block) => (block.type === "text" ? block.text : block.source.media_type));
}

test("each picture follows a line with its size; a large one is scaled", async () => {
  expect(await added('@a.png @"my shot.png" @clipboard-1.png')).toEqual([
    ...[`a.png: png image, 40x30, ${small.length} bytes`, "image/png"],
    ...[`my shot.png: png image, 40x30, ${small.length} bytes`, "image/png"],
    ...[`clipboard-1.png: png image, 40x30, ${small.length} bytes`, "image/png"],
  ]);
  expect((await added("@large.png"))[0]).toMatch(/^large.png: png image, 2400x1200, .* shown at 2000x1000$/);
});

test("what is no file stays text, and what cannot be shown says why", async () => {
  expect(await added("@none.png @folder.png @pipe.png @zero.png @a.txt")).toEqual([]);
  expect(await added("@cut.png")).toEqual([
    "[cut.png is a damaged or incomplete image (png). It was not shown.]",
  ]);
  expect(await added("@words.png")).toEqual([
    "[words.png was not attached: it is no PNG, JPEG, GIF or WebP image]",
  ]);
});

test("more than 20 are left out, each with a line", async () => {
  const names = Array.from({ length: 22 }, (_, index) => `${"./".repeat(index + 1)}a.png`);
  const lines = await added(names.map((name) => `@${name}`).join(" "));
  expect(lines.filter((line) => line === "image/png")).toHaveLength(20);
  expect(lines.slice(-2)).toEqual(
    names.slice(-2).map((name) => `[${name} was not attached: a message takes 20]`),
  );
});

test("a text of 2 MB of @ takes time in line with its length", () => {
  expect(mentionedPictures(`${"@".repeat(1_000_000)} ${'@"'.repeat(500_000)}`)).toEqual([]);
});
