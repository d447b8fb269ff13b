/** The second reader with trees that are not what the text says: a fault of the grammar must not hide a command. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { expect, test } from "vitest";
import type { ShellNode } from "../../../src/core/shell-tree.ts";
import { readTree } from "../../../src/permissions/bash/syntax-tree.ts";
import { parse } from "./parser.ts";

const lines = [
  "a b 'c' | d && e >f 2>&1 || g & h # i\nj",
  "! time a; (b; c) >d; { e; } | f",
  "if a; then b; elif c; then d; else e; fi",
  "for i in a b; do c $i; done; for ((i = 0; i < $(a); i++)); do b; done",
  "while a; do b; done <c; until d; do e; done; select i in a; do b; done",
  "case $(a) in (b|c) d;; *) e;& esac; f() { g; }; function h { i; }; coproc j k",
  "[[ -n $(a) && b == c* ]] || ((x = $(d) + 1))",
  'a $(b) `c` "$(d; e)" "`f`" <(g) >(h) ${i:-$(j)} $((1 + $(k)))',
  "x=$(a) y[$(b)]=1 z=(c $(d)) e",
  'a <<< "$(b)"; c <<E | d\n$(e) `f`\nE\ng',
  "a `b \\`c d\\``",
];
const read = (text: string, root: ShellNode) => readTree(text, root, { home: "/h", folder: "/h/w" });
const parsed = (text: string): ShellNode => {
  const tree = parse(text);
  if (!tree) throw new Error("it is not parsed");
  return tree;
};

/** Each tree with one node changed, or left out. */
function* changed(node: ShellNode, change: (node: ShellNode) => ShellNode[]): Generator<ShellNode> {
  for (const [at, child] of node.children.entries()) {
    const without = (put: ShellNode[]): ShellNode => ({
      ...node,
      children: node.children.toSpliced(at, 1, ...put),
    });
    const put = change(child);
    if (put[0] !== child) yield without(put);
    for (const inner of changed(child, change)) yield without([inner]);
  }
}

test.each(lines)("every command is found, and the tree covers the text: %j", (text) => {
  const { commands, broken } = read(text, parsed(text));
  expect(broken).toBeUndefined();
  expect(commands.length).toBeGreaterThan(1);
});

test.each(lines)("a tree that lacks a command is not trusted: %j", (text) => {
  const runs = /^(?:command|statement|chain|compound|for|substitution)$/;
  const trees = [...changed(parsed(text), (node) => (runs.test(node.type) ? [] : [node]))];
  expect(trees.length).toBeGreaterThan(3);
  for (const tree of trees) expect(read(text, tree).broken).toBe("text that the grammar passes over");
});

test("a tree with other operators, with parts that overlap, or of another length is not trusted", () => {
  const text = "a | b && c >d & e";
  const other = (node: ShellNode): ShellNode[] =>
    node.operators.length > 0 ? [{ ...node, operators: ["||"] }] : [node];
  const longer = (node: ShellNode): ShellNode[] =>
    node.type === "command" ? [{ ...node, end: node.end + 4 }] : [node];
  const trees = [...changed(parsed(text), other), ...changed(parsed(text), longer), parsed("a | b")];
  expect(trees.length).toBeGreaterThan(6);
  for (const tree of trees) expect(read(text, tree).broken).toBeDefined();
});

test.each(["a[`rm`]", "a\\\nb", "a <<A <<B\n1\nA\n2\nB", 'a $"b"', "a @(b|c)", "a ${b!$(c)}"])(
  "a form with more than one reading is not trusted: %j",
  (text) => {
    const { plain, broken } = read(text, parsed(text));
    expect(plain && broken === undefined).toBe(false);
  },
);
