/** Columns of a terminal: wide characters take two, what is drawn over another takes none. */

import stringWidth from "string-width";
import { expect, test } from "vitest";
import { cut, filled, wrap } from "../../../src/report/text/columns.ts";

const family = "👨‍👩‍👧";

test.each([
  ["plain", "plain"],
  ["too long for it", "too lon…"],
  ["設定を読む", "設定を…"],
  ["a設定を読む", "a設定を…"],
  [family.repeat(5), `${family.repeat(3)}…`],
  ["e\u0301".repeat(9), `${"e\u0301".repeat(7)}…`],
])("%s is cut between the characters that a reader sees, and fills exactly eight columns", (text, short) => {
  expect(cut(text, 8)).toBe(short);
  expect(filled(text, 8)).toBe(short + " ".repeat(8 - stringWidth(short)));
});

test("lines are broken between words by the columns that they take", () => {
  expect(wrap("設定 設定 ab 設定 a", 10)).toEqual(["設定 設定", "ab 設定 a"]);
  expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
  expect(wrap("a-word-without-end b", 5)).toEqual(["a-word-without-end", "b"]);
  expect(wrap("", 5)).toEqual([""]);
});
