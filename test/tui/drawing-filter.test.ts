/** The filter of full-screen programs: only their drawing reaches the terminal. */

import { expect, test } from "vitest";
import { drawingFilter } from "../../src/tui/drawing-filter.ts";
import { seededRandom } from "../support/random.ts";

const filtered = (text: string) => drawingFilter()(Buffer.from(text));

test.each([
  ["a clipboard write", "\x1b]52;c;cm0=\x07"],
  ["a title", "\x1b]0;owned\x1b\\"],
  ["a title of screen's", "\x1bkowned\x1b\\"],
  [
    "a directory, a file of iTerm's and a notification",
    "\x1b]7;file:///\x07\x1b]1337;File=name=YQ==:AAAA\x07\x1b]9;hi\x07",
  ],
  ["a file of kitty's, by its own protocol and as a picture", "\x1b]5113;ac=send\x1b\\\x1b_Gf=24;AAAA\x1b\\"],
  ["a question for a setting, whose answer repeats it", "\x1bP$qm\x1b\\"],
  ["a question for a termcap string", "\x1bP+q544e\x1b\\"],
  ["what tmux passes on", "\x1bPtmux;\x1b\x1b]52;c;eA==\x07\x1b\\"],
  ["the report of the title and other acts on the window", "\x1b[21t\x1b[3;0;0t\x1b[22;0t"],
  ["the answerback", "\x05"],
  ["the report of focus, alone or beside another mode", "\x1b[?1004h\x1b[?25;1004h"],
  ["a reset, printing, a checksum of the screen", "\x1bc\x1b[5i\x1b[1;1;1;1;1;1*y"],
  ["the version and the identification", "\x1b[>q\x1bZ"],
])("S51 take-over-escapes: %s is taken out", (_what, text) => {
  expect(filtered(`a${text}b`)).toBe("ab");
});

test("a sequence that is broken by controls or by another one leaves no escape", () => {
  for (const text of [
    "\x1b[2\r1t",
    "\x1b\x18]52;c;eA==\x07",
    "\x1b\x1b]x\x07]52;c;eA==\x07",
    "\x1b]\x1b]52;c;eA==\x07",
  ])
    expect(filtered(text)).not.toContain("\x1b");
});

test.each([
  "\x1b[?1049h\x1b[22;3H\x1b[1;31mred\x1b[0m\x1b[K\x1b[2J\x1b7\x1b8\x1b(B\x1b)0\x0e\x0fq",
  "\x1b[?2004h\x1b[?1h\x1b=\x1b[?12;25h\x1b[1;24r\x1b[4 q\x1b[>4;2m\x1b[?1002h\x1b[?1006h\x1b[6n\x1b[c\x1b[>c\x1b[?2026$p",
  "日本 😀 \x1b[38;2;1;2;3mé\x1b[48:5:1m\x07",
])("what draws stays, byte by byte (%#)", (text) => {
  expect(filtered(text)).toBe(text);
  const filter = drawingFilter();
  expect(Array.from(Buffer.from(text), (byte) => filter(Buffer.from([byte]))).join("")).toBe(text);
});

test("however output is cut into pieces, the same is shown", () => {
  const text = "x\x1b]52;c;cm0=\x07y\x1b[31mz\x1bP$qm\x1b\\日\x1b[?1004h\x1b[?25h\u009b\x1b[21tw";
  const bytes = Buffer.from(text);
  const random = seededRandom(7);
  for (let round = 0; round < 300; round++) {
    const filter = drawingFilter();
    let shown = "";
    for (let at = 0; at < bytes.length; ) {
      const next = at + 1 + Math.floor(random() * 6);
      shown += filter(bytes.subarray(at, next));
      at = next;
    }
    expect(shown).toBe("xy\x1b[31mz日\x1b[?25hw");
  }
});

test("a string that never ends is given up, and costs no more with each piece", () => {
  const filter = drawingFilter();
  expect(filter(Buffer.from("\x1b]52;c;"))).toBe("");
  for (let piece = 0; piece < 20; piece++) filter(Buffer.alloc(100_000, 65));
  expect(filter(Buffer.from("\x1b[1mshown"))).toContain("\x1b[1mshown");
});
