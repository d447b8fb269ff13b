/** The lines by which texts are compared: trimmed, without line numbers, long enough to be no coincidence. Pure. */

import { type AssistantBlock, type Block, resultText } from "../../core/blocks.ts";

/** Characters of the shortest line that counts as quoted. */
const shortestQuote = 20;

/** A number for each distinct line; the same line has the same number wherever it stands. */
export type LineTable = {
  /** Numbers of the lines of a text that can be quoted, in order; one that follows itself counts once. */
  linesOf(text: string): readonly number[];
  /** The line with this number. */
  lineAt(id: number): string;
};

/** Makes an empty table. It remembers the texts that it was asked for: one serves one recording under many stacks. */
export function lineTable(): LineTable {
  const ids = new Map<string, number>();
  const lines: string[] = [];
  const known = new Map<string, readonly number[]>();
  const idOf = (line: string): number => {
    const earlier = ids.get(line);
    if (earlier !== undefined) return earlier;
    ids.set(line, lines.length);
    return lines.push(line) - 1;
  };
  return {
    linesOf(text) {
      const earlier = known.get(text);
      if (earlier) return earlier;
      const found = quotable(text).map(idOf);
      known.set(text, found);
      return found;
    },
    lineAt: (id) => lines[id] ?? "",
  };
}

/** `12\t`, `12→`, `12:`, `12|` as editors and `cat -n` number lines, and `path:12:` of a search. */
const numbered = /^(?:[^\s:]+[:-]\d+[:-]|\d+\s*[\t→│|:-])/;

function quotable(text: string): string[] {
  if (text.length < shortestQuote) return [];
  const found: string[] = [];
  let before = "";
  for (const line of text.split("\n")) {
    if (line.length < shortestQuote || line === before) continue;
    before = line;
    const bare = line.trim().replace(numbered, "").trim();
    if (bare.length >= shortestQuote && /[\p{L}\d]/u.test(bare)) found.push(bare);
  }
  return found;
}

/** The texts of a reply: its words, its thoughts, and every text in the input of its calls. */
export function writtenIn(content: readonly AssistantBlock[]): string[] {
  return content.flatMap(textsOf);
}

/** The texts of a block by which it can hold a line; none of an image. */
export function textsOf(block: Block): string[] {
  switch (block.type) {
    case "text":
      return [block.text];
    case "thinking":
      return [block.thinking];
    case "tool_use":
      return textsIn(block.input);
    case "tool_result":
      return [resultText(block.content)];
    case "server_tool_use":
      return textsIn(block.input);
    case "web_search_tool_result":
    case "redacted_thinking":
    case "image":
    case "tool_removal":
    case "tool_addition":
      return [];
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
