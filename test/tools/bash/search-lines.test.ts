/** The search of long output finds the very lines that its pattern finds, however the bytes lie. */

import { describe, expect, test } from "vitest";
import { wordsOf } from "../../../src/core/text/truncate-output.ts";
import { searchByPattern, searchByStarts } from "../../../src/tools/bash/search-lines.ts";
import { seededRandom } from "../../support/random.ts";

const chunkBytes = 4096;
const words = (want?: string) => wordsOf(want, (word) => Buffer.from(word).toString("latin1"));

/** Line by line with the pattern: what both searches must agree with. */
function oracle(bytes: Buffer, pattern: RegExp, most: number) {
  const lines = bytes.toString("latin1").split("\n");
  let start = 0;
  const matches: { newlines: number; start: number }[] = [];
  lines.forEach((line, newlines) => {
    if (line.search(pattern) >= 0 && matches.length < most) matches.push({ newlines, start });
    start += line.length + 1;
  });
  return { newlines: lines.length - 1, matches };
}

describe.each([
  ["errors", undefined],
  ["words that were asked for", "what port is ab1 on, x.y_z or Straße ÄRGER ÿÿÿ µµµ?"],
  ["forty words", Array.from({ length: 40 }, (_, n) => `word${n * 7}-${n}`).join(" ")],
])("a search for %s", (_, want) => {
  const { pattern, texts } = words(want);
  const pieces = [
    ...texts,
    ...texts.map((text) => text.toUpperCase()),
    ...texts.map((text) => text.slice(0, 4)),
    ..."\n|\n| |x|\0|ü|\xff|\xe4\xc4|unfail|_fail|assets|".split("|"),
  ];
  const byPattern = searchByPattern(words(want), chunkBytes);
  const byStarts = searchByStarts(words(want), chunkBytes);

  test("runs 16 bytes at a time on this machine", () => {
    expect(byStarts).toBeDefined();
  });

  test.each([0.02, 0.3, 1])("finds the lines that the pattern finds where it is dense by %d", (density) => {
    const next = seededRandom(density * 100 + 7);
    const pick = (): string => pieces[Math.floor(next() * pieces.length)] ?? "";
    for (let round = 0; round < 300; round++) {
      let text = "";
      const size = Math.floor(next() * chunkBytes);
      while (text.length < size) text += next() < density ? pick() : next() < 0.1 ? "\n" : "a line, ";
      const bytes = Buffer.from(text.slice(0, size), "latin1");
      const most = 1 + Math.floor(next() * 12);
      const expected = oracle(bytes, pattern, most);
      for (const search of [byPattern, byStarts]) {
        // What an earlier, longer chunk left behind its end is no part of the next.
        search?.buffer.set(bytes);
        expect(search?.search(bytes.length, most)).toEqual(expected);
      }
    }
  });

  test("finds a match at each place of a chunk, and counts each of its line feeds", () => {
    for (let at = 0; at < 70; at++) {
      const bytes = Buffer.from(`${"\n".repeat(at)}${texts[0]}\n`, "latin1");
      byStarts?.buffer.set(bytes);
      expect(byStarts?.search(bytes.length, 8)).toEqual(oracle(bytes, pattern, 8));
    }
  });
});
