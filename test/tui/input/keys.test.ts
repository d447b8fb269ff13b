import { describe, expect, test } from "vitest";
import { createKeyReader, type Key } from "../../../src/tui/input/keys.ts";
import { growthOver4 } from "../../support/growth.ts";

/** Returns the keys of these reads when nothing more follows. */
function read(...chunks: string[]): Key[] {
  const reader = createKeyReader();
  const keys = chunks.flatMap((chunk) => reader.push(chunk));
  while (reader.isWaiting()) keys.push(...reader.flush());
  return keys;
}

const key = (name: string): Key => ({ type: "key", key: name });
const text = (what: string): Key => ({ type: "text", text: what });
const paste = (what: string): Key => ({ type: "paste", text: what });

test.each([
  ["\r", "enter"],
  ["\n", "ctrl-j"],
  ["\t", "tab"],
  ["\x03", "ctrl-c"],
  ["\x7f", "backspace"],
  ["\x1b", "escape"],
  ["\x1b[A", "up"],
  ["\x1bOA", "up"],
  ["\x1b[1;5D", "ctrl-left"],
  ["\x1b[1;3C", "alt-right"],
  ["\x1b[3~", "delete"],
  ["\x1b[Z", "shift-tab"],
  ["\x1b\r", "alt-enter"],
  ["\x1b[13;2u", "shift-enter"],
  ["\x1b[27;5;13~", "ctrl-enter"],
  ["\x1bb", "alt-b"],
])("%j is %s", (bytes, name) => {
  expect(read(bytes)).toEqual([key(name)]);
});

test("text, keys and sequences in one read come apart", () => {
  expect(read("héllo\x1b[D\x7f🟢\r")).toEqual([
    text("héllo"),
    key("left"),
    key("backspace"),
    text("🟢"),
    key("enter"),
  ]);
});

test("a sequence that is cut between two reads is one key", () => {
  expect(read("\x1b", "[1;", "5A")).toEqual([key("ctrl-up")]);
});

test("answers of the terminal and the mouse are no keys", () => {
  expect(read("\x1b[?62;22c\x1b[<0;1;1M\x1b[I")).toEqual([]);
});

test("two Escapes are two keys", () => {
  expect(read("\x1b\x1b")).toEqual([key("escape"), key("escape")]);
});

describe("a paste", () => {
  test("comes whole, however it is cut", () => {
    const bytes = "\x1b[200~one\r\ntwo\x1b[A\x1b[201~\r";
    for (let at = 1; at < bytes.length; at++) {
      if (bytes.slice(0, at).endsWith("\x1b")) continue;
      expect(read(bytes.slice(0, at), bytes.slice(at))).toEqual([paste("one\ntwo\x1b[A"), key("enter")]);
    }
  });

  test("with its end mark inside is one paste to the last mark", () => {
    expect(read("\x1b[200~a\x1b[201~\rrm -rf\r", "\x1b[201~x")).toEqual([paste("a\nrm -rf\n"), text("x")]);
  });

  test("and another right behind it are two", () => {
    expect(read("\x1b[200~a\x1b[201~\x1b[200~b\x1b[201~")).toEqual([paste("a"), paste("b")]);
  });

  test("without marks is known by the text behind its line ends", () => {
    expect(read("a\rb\r")).toEqual([paste("a\nb\n")]);
    expect(read("a\rb\r", "c\r")).toEqual([paste("a\nb\n"), paste("c\n")]);
    expect(read("typed\r")).toEqual([text("typed"), key("enter")]);
  });

  test("costs in proportion to its length, up to a megabyte in pieces", () => {
    const line = `${"x".repeat(99)}\r\n`;
    const pasted = (lines: number) =>
      read("\x1b[200~", ...Array.from({ length: lines }, () => line), "\x1b[201~");
    expect(pasted(10_000)).toMatchObject([{ type: "paste" }]);
    expect(growthOver4(pasted, 2_500, 9)).toBeLessThan(9);
  });
});

test("words and Enter in one read are one burst with what comes at once behind them, else they are Enter", () => {
  const reader = createKeyReader();
  expect(reader.push("first line\r")).toEqual([{ type: "text", text: "first line" }]);
  expect(reader.push("second line\r")).toEqual([{ type: "paste", text: "\nsecond line\n" }]);
  expect(reader.flush()).toEqual([]);
  expect(reader.push("typed\r")).toEqual([{ type: "text", text: "typed" }]);
  expect(reader.flush()).toEqual([{ type: "key", key: "enter" }]);
});

test("a report of the focus is no key, whole or in pieces, in a paste it is text", () => {
  const reports: boolean[] = [];
  const reader = createKeyReader({ focused: (isHere) => reports.push(isHere) });
  expect(reader.push("a\x1b[Ob\x1b[")).toEqual([{ type: "text", text: "ab" }]);
  expect(reader.push("Ic")).toEqual([{ type: "text", text: "c" }]);
  expect(reports).toEqual([false, true]);
  reader.push("\x1b[200~x\x1b[Oy\x1b[201~");
  expect(reader.flush()).toEqual([{ type: "paste", text: "x\x1b[Oy" }]);
  expect(reports).toHaveLength(2);
});

test("where the cursor is, as the terminal tells it, is no key", () => {
  const rows: number[] = [];
  const reader = createKeyReader({ located: (row) => rows.push(row) });
  expect(reader.push("\x1b[24;1Ra\rb")).toEqual([{ type: "paste", text: "a\nb" }]);
  expect(rows).toEqual([23]);
});
