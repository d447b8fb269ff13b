/** Pastes that terminals make of files which are dragged into them. */

import { expect, test } from "vitest";
import { draggedPictures } from "../../../src/tui/input/dragged.ts";

test.each([
  ["/a/shot.png", "@/a/shot.png "],
  ["/a/shot.PNG \n", "@/a/shot.PNG "],
  ["'/a/my shot.png' ", '@"/a/my shot.png" '],
  ['"/a/my shot.jpeg"', '@"/a/my shot.jpeg" '],
  ["/a/my\\ shot\\(1\\).png", '@"/a/my shot(1).png" '],
  ["file:///a/my%20shot.png", '@"/a/my shot.png" '],
  ["~/shot.gif /b.webp", "@~/shot.gif @/b.webp "],
])("%j becomes %j", (text, expected) => {
  expect(draggedPictures(text)).toBe(expected);
});

test.each([
  "",
  "shot.png",
  "/a/notes.txt",
  "/a/shot.png and words",
  "see /a/shot.png",
  "'/a/shot.png",
  "https://example.org/shot.png",
  "file:///%zz.png",
  "'/a.png''/b.png'",
  "/a.png ".repeat(21),
])("%j stays as it is", (text) => {
  expect(draggedPictures(text)).toBeUndefined();
});

test("a paste of a million quotes takes time in line with its length", () => {
  expect(draggedPictures("'".repeat(1_000_000))).toBeUndefined();
  expect(draggedPictures("\\".repeat(1_000_001))).toBeUndefined();
});
