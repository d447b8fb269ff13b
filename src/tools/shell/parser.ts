/** Loads the grammar of bash, a WebAssembly module, once it is needed; from then on parsing is synchronous. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import type { Tree, TreeCursor } from "web-tree-sitter";
import type { ParseShell, ShellNode } from "../../core/shell-tree.ts";

/** Longer texts, and those of more nodes, are not parsed: nobody reads them before saying yes either. */
const mostChars = 256 * 1024;
const mostNodes = 100_000;
const deepest = 200;
/** Parsing is given up after so many steps of the parser; 20,000 words take about 1,000. */
const mostSteps = 5_000;

/** Reads the two modules in `folder`, which the build puts there. Throws when they are missing or do not run here. */
export async function loadShellParser(folder: string): Promise<ParseShell> {
  // The optimizing compiler takes seconds for the grammar's largest function, gains nothing on texts of this size, and
  // a process that ends waits for it.
  for (const flag of ["--liftoff-only", "--no-wasm-tier-up", "--no-wasm-dynamic-tiering"])
    setFlagsFromString(flag);
  const { Language, Parser } = await import("web-tree-sitter");
  await Parser.init({ wasmBinary: readFileSync(join(folder, "web-tree-sitter.wasm")) });
  const language = await Language.load(readFileSync(join(folder, "tree-sitter-bash.wasm")));
  const parser = new Parser();
  parser.setLanguage(language);
  return (text) => {
    if (text.length > mostChars) return undefined;
    let steps = 0;
    // The declared type lacks what the parser does with it: true ends the parsing.
    const progressCallback = (): boolean => ++steps > mostSteps;
    parser.reset();
    const tree = parser.parse(text, null, { progressCallback });
    if (!tree) return undefined;
    try {
      return nodesOf(tree);
    } finally {
      tree.delete();
    }
  };
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
