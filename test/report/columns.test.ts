/** Text in columns: wide characters take two, combining ones none. */

import { expect, test } from "vitest";
import { columnsOf, cut, filled, wrap } from "../../src/report/text/columns.ts";

test("texts fill the same columns whatever they are written in", () => {
  for (const text of ["plain text", "修正失败的测试", "テスト", "e\u0301te\u0301", "한국어 제목"]) {
    expect(columnsOf(filled(text, 12))).toBe(12);
    expect(columnsOf(cut(text, 5))).toBeLessThanOrEqual(5);
  }
  expect([columnsOf("字"), columnsOf("e\u0301"), columnsOf("a字")]).toEqual([2, 1, 3]);
});

test("a wide character that would cross the edge is left out", () => {
  expect([cut("修正失败", 8), cut("修正失败", 6), cut("a正失败", 5)]).toEqual(["修正失败", "修正…", "a正…"]);
  expect(wrap("修正 失败 的", 5)).toEqual(["修正", "失败", "的"]);
});
