/** Loads the grammar of bash, a WebAssembly module, when it is first needed; from then on parsing is synchronous. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Parser, Tree, TreeCursor } from "web-tree-sitter";
import type { ParseShell, ShellNode } from "../../core/shell-tree.ts";

/** Longer texts, and those of more nodes, are not parsed: nobody reads them before saying yes either. */
const mostChars = 256 * 1024;
const mostNodes = 100_000;
const deepest = 200;
/** Parsing is abandoned after this many steps of the parser; 20,000 words take about 1,000. */
const mostSteps = 5_000;

const loading = new Map<string, Promise<ParseShell>>();

/**
 * Reads the two modules in `folder`, which the build puts there. Throws when they are missing or do not run here. Runs
 * once for the whole process, however many sessions it opens: the library has one memory for all its parsers, and a
 * second start would pull it away from under the first.
 */
export function loadShellParser(folder: string): Promise<ParseShell> {
  const earlier = loading.get(folder) ?? load(folder);
  loading.set(folder, earlier);
  return earlier;
}

async function load(folder: string): Promise<ParseShell> {
  // The optimizing compiler takes seconds for the grammar's largest function, gains nothing on texts of this size, and
  // delays the exit of the process.
  for (const flag of ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"])
    setFlagsFromString(flag);
  const wasmBinary = readFileSync(join(folder, "web-tree-sitter.wasm"));
  const grammar = readFileSync(join(folder, "tree-sitter-bash.wasm"));
  const { Language, Parser } = await import("web-tree-sitter");
  await Parser.init({ wasmBinary });
  const language = await Language.load(grammar);
  const parser = new Parser();
  parser.setLanguage(language);
  let broken = false;
  return (text) => {
    if (broken || text.length > mostChars) return undefined;
    try {
      return parse(parser, text);
    } catch {
      // After a fault in its memory no result can be trusted: everything counts as unread.
      broken = true;
      return undefined;
    }
  };
}

function parse(parser: Parser, text: string): ShellNode | undefined {
  let steps = 0;
  // The declared type lacks the parser's use of the result: true ends the parsing.
  const progressCallback = (): boolean => ++steps > mostSteps;
  parser.reset();
  const tree = parser.parse(text, null, { progressCallback });
  if (!tree) return undefined;
  try {
    return nodesOf(tree);
  } finally {
    tree.delete();
  }
}

function nodesOf(tree: Tree): ShellNode | undefined {
  if (tree.rootNode.descendantCount > mostNodes) return undefined;
  const cursor = tree.walk();
  try {
    return nodeAt(cursor, 0);
  } finally {
    cursor.delete();
  }
}

function nodeAt(cursor: TreeCursor, depth: number): ShellNode | undefined {
  if (depth > deepest) return undefined;
  const { nodeType: type, startIndex: start, endIndex: end, nodeIsMissing: missing } = cursor;
  const children: ShellNode[] = [];
  if (cursor.gotoFirstChild()) {
    do {
      const child = nodeAt(cursor, depth + 1);
      if (!child) return undefined;
      children.push(child);
    } while (cursor.gotoNextSibling());
    cursor.gotoParent();
  }
  return { type, start, end, missing, children };
}
