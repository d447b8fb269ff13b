/** Program output becomes text that a model can read, within its budget and with exact counts. */

import { describe, expect, test } from "vitest";
import { cleanLine, headOf, tailOf, utf8Length } from "../../src/core/text/clean-text.ts";
import { truncateOutput } from "../../src/core/text/truncate-output.ts";

const lines = (count: number, text = (index: number) => `line ${index}`) =>
  Array.from({ length: count }, (_, index) => text(index)).join("\n");

describe("what is meant for a terminal goes", () => {
  test.each([
    ["plain", "plain"],
    ["\x1b[1;31mred\x1b[0m and \x1b[38;2;1;2;3mtrue\x1b[m", "red and true"],
    ["\x1b]0;title\x07text", "text"],
    ["\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1b]52;c;Y2xpcGJvYXJk\x07a", "a"],
    ["a\x1b]0;never ends", "a"],
    ["\x1bP1$r0m\x1b\\a", "a"],
    ["\x1b[2J\x1b[3J\x1b[?1049hscreen", "screen"],
    ["a\x9b31mb\x9d0;t\x9cc\x90d\x9ce", "abce"],
    ["\x1b(Ba\x1b=b\x1b7c", "abc"],
    ["a\x00b\x01c\x7fd\x85e", "abcde"],
    ["a\tb", "a\tb"],
    ["N\bNA\bAM\bM", "NAM"],
    ["cut \x1b[31", "cut "],
    ["crlf\r", "crlf"],
    ["\rstart", "start"],
    ["lone \ud83d surrogate", "lone \ufffd surrogate"],
    ["👨‍👩‍👧 é 漢字", "👨‍👩‍👧 é 漢字"],
  ])("%j reads %j", (raw, expected) => {
    expect(cleanLine(raw)).toBe(expected);
  });

  test("of overwritten text the last state stays, with the number of the others", () => {
    const bar = lines(10_000, (index) => `\r${index} %`).replaceAll("\n", "");
    expect(truncateOutput(`${bar}\r\x1b[Kdone\n`, { maxBytes: 500 }).text).toBe(
      "done [10,000 earlier states of this line]",
    );
  });
});

test("output that fits is given whole", () => {
  const view = truncateOutput("a\n\nb\n", { maxBytes: 100 });
  expect(view).toEqual({ text: "a\n\nb", total: { lines: 3, bytes: 5 }, omitted: { lines: 0, bytes: 0 } });
  expect(truncateOutput("", { maxBytes: 100 }).text).toBe("");
  expect(truncateOutput("no end", { maxBytes: 100 }).total).toEqual({ lines: 1, bytes: 6 });
});

test("equal lines in a row become one with their number, pairs stay", () => {
  const text = truncateOutput(`a\na\nb\n${"y\n".repeat(5000)}c\n`, { maxBytes: 500 }).text;
  expect(text).toBe("a\na\nb\ny\n[the line above 5,000 times]\nc");
});

describe("output above the budget", () => {
  const raw = `${lines(4000)}\nsrc/x.ts: error TS1: bad\n${lines(4000)}\nlast words\n`;

  test("keeps head, tail, and lines about errors with their neighbours", () => {
    const { text } = truncateOutput(raw, { maxBytes: 3000, path: "/artifacts/7.txt" });
    expect(text).toMatch(/^line 0\nline 1\n/);
    expect(text).toContain("line 3998\nline 3999\nsrc/x.ts: error TS1: bad\nline 0\nline 1\n");
    expect(text).toContain("last words\n[omitted ");
    expect(text).toMatch(/whole output: \/artifacts\/7\.txt\]$/);
    expect(utf8Length(text)).toBeLessThanOrEqual(3000);
  });

  test("keeps the wanted lines instead when it is said what is wanted", () => {
    const source = `${lines(2000)}\nerror: x\n${lines(2000)}\nlistening on port 8123\n${lines(2000)}`;
    const { text } = truncateOutput(source, { maxBytes: 1500, want: "which port does it listen on" });
    expect(text).toContain("listening on port 8123");
    expect(text).not.toContain("error: x");
  });

  test("counts exactly what is left out", () => {
    const { text, omitted, total } = truncateOutput(raw, { maxBytes: 3000 });
    const gaps = [...text.matchAll(/^\[… (?:([\d,]+) lines, )?([\d,]+) bytes …\]$/gm)];
    const sum = (group: number) =>
      gaps.reduce((all, gap) => all + Number((gap[group] ?? "0").replaceAll(",", "")), 0);
    const shown = text.split("\n").filter((line) => !/^\[(…|omitted)/.test(line));
    expect(omitted).toEqual({ lines: sum(1), bytes: sum(2) });
    expect(total.lines - shown.length).toBe(omitted.lines);
    expect(total.bytes - shown.reduce((all, line) => all + utf8Length(line) + 1, 0)).toBe(omitted.bytes);
  });

  test("shows both ends of one endless line", () => {
    const { text, omitted } = truncateOutput(`BEGIN${"x".repeat(5_000_000)}END`, { maxBytes: 2000 });
    expect(text).toMatch(/^BEGINx/);
    expect(text).toMatch(/xEND\n\[omitted/);
    expect(omitted.bytes).toBeGreaterThan(4_990_000);
    expect(utf8Length(text)).toBeLessThanOrEqual(2000);
  });

  test("counts binary data and shows the text around it", () => {
    const garbage = `${"\ufffd\x00\x01\ufffd".repeat(50)}\n`.repeat(300);
    const { text } = truncateOutput(`before\n${garbage}after\n`, { maxBytes: 1000 });
    expect(text).toMatch(/^before\n\[… 300 lines, [\d,]+ bytes …\]\nafter\n/);
  });
});

test.each([-3, -2, -1, 0, 1, 2, 3])(
  "a character at the edge of the budget is never cut (offset %d)",
  (offset) => {
    for (const character of ["🟢", "👨‍👩‍👧", "é", "\ud83d"]) {
      for (const around of [1000, 700, 333]) {
        const raw = `${"a".repeat(around + offset)}${character}${"b".repeat(3000)}${character}${"c".repeat(around - offset)}`;
        for (const maxBytes of [1500, 1000, 700]) {
          const { text } = truncateOutput(raw, { maxBytes });
          expect(text.isWellFormed()).toBe(true);
          expect(utf8Length(text)).toBeLessThanOrEqual(maxBytes);
        }
      }
    }
  },
);

test("lengths are those of UTF-8, and cutting respects them", () => {
  for (const text of ["a", "é", "漢", "🟢", "a🟢b", "\ud83d", "\udfe2x"]) {
    expect(utf8Length(text)).toBe(new TextEncoder().encode(text).length);
  }
  expect(headOf("ab🟢c", 5)).toBe("ab");
  expect(headOf("ab🟢c", 6)).toBe("ab🟢");
  expect(tailOf("ab🟢c", 4)).toBe("c");
  expect(tailOf("ab🟢c", 5)).toBe("🟢c");
});

test("no input makes a view larger than its budget", () => {
  const alphabet = ["a", "\n", "\r", "\x1b[31m", "🟢", "\u0000", "error ", "\ufffd", "word ", "\t", "é"];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  for (let round = 0; round < 200; round++) {
    const raw = Array.from({ length: random(4000) }, () => alphabet[random(alphabet.length)]).join("");
    const maxBytes = 600 + random(3000);
    const { text, total } = truncateOutput(raw, {
      maxBytes,
      want: round % 2 ? "word" : undefined,
      path: "/a/b.txt",
    });
    expect(utf8Length(text)).toBeLessThanOrEqual(maxBytes);
    expect(total.bytes).toBe(utf8Length(raw));
    expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  }
});
