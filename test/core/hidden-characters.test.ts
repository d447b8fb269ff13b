/** Characters that hide from people are spelled out; those that a script or an emoji needs stay (S52). */

import { describe, expect, test } from "vitest";
import { hasHidden, readHidden, showHidden } from "../../src/core/text/hidden-characters.ts";

const tags = (text: string) =>
  Array.from(text, (char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("");
const smuggled = (bytes: number[]) =>
  bytes.map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe00f0 + byte)).join("");

test.each([
  ["a text in tags", `ok${tags("rm")}`, "ok\\u{e0072}\\u{e006d}"],
  ["a text in tags behind a flag", `\u{1f3f4}${tags("gbx")}`, "\u{1f3f4}\\u{e0067}\\u{e0062}\\u{e0078}"],
  ["an override", "a\u202eb\u202c", "a\\u{202e}b\\u{202c}"],
  ["an isolate around Hebrew", "\u2067שלום\u2069", "\\u{2067}שלום\\u{2069}"],
  ["a mark of direction in English", "a\u200fb", "a\\u{200f}b"],
  [
    "zero-width characters",
    "a\u200bb\u2060c\ufeffd\u200de\u200cf",
    "a\\u{200b}b\\u{2060}c\\u{feff}d\\u{200d}e\\u{200c}f",
  ],
  ["bytes in variation selectors", `😀${smuggled([1, 200])}`, "😀\\u{fe01}\\u{e01b8}"],
  ["two selectors behind one letter", "a\ufe0f\ufe0f", "a\\u{fe0f}\\u{fe0f}"],
  ["fillers that look like nothing", "x\u3164=\u115f1\u00ad", "x\\u{3164}=\\u{115f}1\\u{ad}"],
  ["line separators", "a\u2028b\u2029", "a\\u{2028}b\\u{2029}"],
  ["C1 controls", "a\u009b31mb\u0085", "a\\u{9b}31mb\\u{85}"],
  ["invisible operators and annotations", "f\u2061x\ufff9y", "f\\u{2061}x\\u{fff9}y"],
])("%s is spelled out", (_what, text, shown) => {
  expect(showHidden(text)).toBe(shown);
  expect(hasHidden(text)).toBe(true);
  expect(readHidden(shown)).toBe(text);
});

test.each([
  "plain text\twith tabs\nand lines",
  "👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️‍🔥 ☎︎ ☎️ 1️⃣ 🇨🇭 🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
  "می‌خواهم שלום\u200f! مرحبا\u061c, क्‍ष क्‌ष",
  "ไทย\u200bภาษา 葛\u{e0100}城 ≩\ufe00",
  "naïve café e\u0301 日本語 한글 — “quotes” 10\u00a0km",
])("what scripts and emoji need stays: %s", (text) => {
  expect(showHidden(text)).toBe(text);
  expect(hasHidden(text)).toBe(false);
});

describe("reading back", () => {
  test("leaves escapes of visible characters and of no characters as they are", () => {
    for (const text of ["\\u{41}", "\\u{110000}", "\\u{1f600}", "\\u202e", "\\u{}", "\\u{fffff}"])
      expect(readHidden(text)).toBe(text);
  });
});
