/** The grammar of bash as a module: what it hands over, and what it gives up on. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import type { ShellNode } from "../../../src/core/shell-tree.ts";
import { loadShellParser } from "../../../src/tools/bash/grammar.ts";
import { parse } from "../../permissions/bash/parser.ts";

const shape = ({ type, children }: ShellNode): unknown =>
  children.length === 0 ? type : [type, ...children.map(shape)];

test("a line becomes a tree of plain objects that covers it, in units of JavaScript's strings", () => {
  const text = "echo 'é 🙂' | cat";
  const tree = parse(text);
  expect(tree && shape(tree)).toEqual([
    "program",
    [
      "pipeline",
      ["command", ["command_name", "word"], "raw_string"],
      "|",
      ["command", ["command_name", "word"]],
    ],
  ]);
  const quoted = tree?.children[0]?.children[0]?.children[1];
  expect(text.slice(quoted?.start, quoted?.end)).toBe("'é 🙂'");
});

test("what was parsed before does not show in what is parsed next", () => {
  const first = parse("a 'b");
  parse("x; ".repeat(2000));
  expect(parse("a 'b")).toEqual(first);
});

test.each([
  ["too long", "a ".repeat(200_000)],
  ["of too many pieces", "a;".repeat(60_000)],
  ["nested too deeply", `${"$(".repeat(300)}a${")".repeat(300)}`],
])("a text that is %s is given up on, and the next one is parsed", (_, text) => {
  expect(parse(text)).toBeUndefined();
  expect(parse("ls")?.children).toHaveLength(1);
});

test("a folder without the modules is told of", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-none-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  await expect(loadShellParser(folder)).rejects.toThrow(/web-tree-sitter\.wasm/);
});

test("it is loaded once, whatever the number of sessions: a second start would break the first", async () => {
  const dist = fileURLToPath(new URL("../../../dist", import.meta.url));
  expect(await loadShellParser(dist)).toBe(parse);
});
