/** The grammar of bash as one function: what it hands over, and what it gives up on. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { describe, expect, test } from "vitest";
import type { ShellNode } from "../../../src/core/shell-tree.ts";
import { parseShell } from "../../../src/tools/bash/grammar.ts";

const shape = ({ type, children }: ShellNode): unknown =>
  children.length === 0 ? type : [type, ...children.map(shape)];
const typesIn = ({ type, children }: ShellNode): string[] => [type, ...children.flatMap(typesIn)];

test("a line becomes a tree of plain objects that covers it, in units of JavaScript's strings", () => {
  const text = "echo 'é 🙂' | cat";
  const tree = parseShell(text);
  expect(tree && shape(tree)).toEqual([
    "list",
    ["statement", ["chain", ["command", "word", ["word", "single-quoted"]], ["command", "word"]]],
  ]);
  const quoted = tree?.children[0]?.children[0]?.children[0]?.children[1];
  expect(text.slice(quoted?.start, quoted?.end)).toBe("'é 🙂'");
});

test("what was parsed before does not show in what is parsed next", () => {
  const first = parseShell("a 'b");
  parseShell("x; ".repeat(2000));
  expect(parseShell("a 'b")).toEqual(first);
});

test.each([
  "a 'b",
  'a "b',
  "a $(b",
  "a `b",
  "a <<E\nb",
  "a <<E",
  "a $(b; )c) d",
  "a )",
  "a |",
  "a ;; b",
  "a >",
  "if a",
  "a $(b; ;)",
  '"$(a; `b |`)"',
])("what the grammar does not fit, at any depth, is an error in the tree: %j", (text) => {
  const tree = parseShell(text);
  expect(tree && typesIn(tree)).toContain("error");
});

const sized = (piece: string, chars: number): string => piece.repeat(Math.ceil(chars / piece.length));

describe("a text that is too much for it is given up on, and the next one is parsed", () => {
  test.each([
    ["too long", sized("a ", 1_000_000)],
    ["of too many pieces", sized("a;", 120_000)],
    ["nested too deeply", `${"$(".repeat(300)}a${")".repeat(300)}`],
    ["full of opening signs", sized('"$(', 200_000)],
    ["full of arithmetic that does not end", sized('$(("', 100_000)],
    ["full of heredocs that do not end", sized("<<a ", 100_000)],
    ["full of functions in functions", sized("f() ", 100_000)],
    ["full of functions by their keyword", sized("function f ", 100_000)],
    ["full of coprocesses", sized("coproc ", 100_000)],
  ])("%s", (_, text) => {
    expect(parseShell(text)).toBeUndefined();
    expect(parseShell("ls")?.children).toHaveLength(1);
  });
});

test.each([
  ["parentheses", "(".repeat(10_000)],
  ["closed parentheses", `${"(".repeat(10_000)}a${")".repeat(10_000)}`],
  ["braces", "{ ".repeat(10_000)],
  ["conditions", "if ".repeat(10_000)],
  ["negations in a test", `[[ ${"! ".repeat(10_000)}`],
  ["groups in a test", `[[ ${"( ".repeat(10_000)}`],
  ["substitutions", "$(".repeat(10_000)],
  ["backquotes", "`".repeat(10_001)],
  ["escaped backquotes", "`".concat("\\`".repeat(5_000))],
  ["parameters", "${x:-".repeat(5_000)],
  ["arithmetic", "((".repeat(5_000)],
  ["quotes", '"$('.repeat(5_000)],
])("10,000 nested %s end in a tree with an error or in none, and never in a fault", (_, text) => {
  const tree = parseShell(text);
  if (tree) expect(typesIn(tree)).toContain("error");
});
