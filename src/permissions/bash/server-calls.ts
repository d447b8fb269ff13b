/**
 * Finds the tools of servers that a command line names as words of the command `mcp`: `mcp github list_issues`. Only what
 * is written out counts, never a value. Pure.
 */

import type { ParseShell, ShellNode } from "../../core/shell-tree.ts";
import { nameOf } from "../paths.ts";
import { isPlainWords } from "./cross-check.ts";
import { shells, wrappers } from "./programs.ts";

export type NamedTool = { server: string; tool: string };

/** `unclear`: calls whose server or tool is not written out, as they are written. */
export type ServerCalls = { named: NamedTool[]; unclear: string[] };

type Walk = ServerCalls & { servers: readonly string[]; parse: ParseShell; depth: number };

/** A word; `value`: undefined where only bash knows it. */
type Word = { value: string | undefined; written: string };

const deepest = 4;
/** Longest part of an unclear call that is shown, in characters. */
const longestShown = 80;

/** Lists the calls of `servers` in a command line. Text that the grammar does not fit names nothing. */
export function serverCalls(
  text: string,
  servers: readonly string[],
  parse: ParseShell | undefined,
): ServerCalls {
  const found: ServerCalls = { named: [], unclear: [] };
  if (!text.includes("mcp")) return found;
  const walk = { ...found, servers, parse: parse ?? (() => undefined), depth: 0 };
  if (isPlainWords(text)) {
    const words = text.trim().split(/ +/);
    readCommand(walk, words.map(literal));
  } else readText(walk, text);
  return found;
}

const literal = (value: string): Word => ({ value, written: value });

function readText(walk: Walk, text: string): void {
  const root = walk.depth <= deepest ? walk.parse(text) : undefined;
  if (root) visit(walk, root, text);
}

function visit(walk: Walk, node: ShellNode, outer: string): void {
  const text = node.source ?? outer;
  if (node.type === "error" || node.type === "unknown") return;
  if (node.type === "command") {
    const words = node.children.filter(({ type }) => type === "word").map((word) => wordOf(word, text));
    readCommand(walk, words);
    if (isShell(words[0]))
      for (const body of heredocs(node)) readNested(walk, text.slice(body.start, body.end));
  }
  for (const child of node.children) visit(walk, child, text);
}

/** Returns the bodies that a command reads as they are written. */
function heredocs({ children }: ShellNode): ShellNode[] {
  const inputs = children.filter(({ type }) => type === "heredoc");
  return inputs.flatMap((input) => input.children.filter(({ type }) => type === "heredoc-text"));
}

/** Reads a command, seen through programs that run the rest of their words. */
function readCommand(walk: Walk, words: readonly Word[]): void {
  const [first] = words;
  if (isOurs(first)) readCall(walk, words);
  const name = nameOf(first?.value ?? "");
  if (!wrappers.has(name) && !shells.has(name) && name !== "find") return;
  const behind = shells.has(name) ? -1 : words.findIndex((word, index) => index > 0 && isOurs(word));
  if (behind > 0) readCall(walk, words.slice(behind));
  const isCode = (index: number) => /^-\w*c$/.test(words[index - 1]?.value ?? "") && words.some(isShell);
  for (const [index, { value }] of words.entries())
    if (value !== undefined && index > 0 && (isCode(index) || name === "eval")) readNested(walk, value);
}

function readNested(walk: Walk, text: string): void {
  if (text.includes("mcp")) readText({ ...walk, depth: walk.depth + 1 }, text);
}

function isOurs(word: Word | undefined): boolean {
  return nameOf(word?.value ?? "") === "mcp";
}

function isShell(word: Word | undefined): boolean {
  return shells.has(nameOf(word?.value ?? ""));
}

/** Notes one call. Without a tool it only lists, and another server is another program of this name. */
function readCall({ servers, named, unclear }: Walk, words: readonly Word[]): void {
  const [, server, tool, option] = words;
  if (!server || isHelp(server.value)) return;
  if (server.value !== undefined && !servers.includes(server.value)) return;
  if (server.value !== undefined && (!tool || isHelp(tool.value) || isHelp(option?.value))) return;
  if (server.value !== undefined && tool?.value !== undefined)
    named.push({ server: server.value, tool: tool.value });
  else {
    const written = words.slice(0, 3).map((word) => word.written);
    unclear.push(written.join(" ").slice(0, longestShown));
  }
}

function isHelp(value: string | undefined): boolean {
  return value === "--help" || value === "-h";
}

function wordOf(node: ShellNode, text: string): Word {
  return { value: textOf(node, text), written: text.slice(node.start, node.end) };
}

/** Returns the text of a word that holds nothing but literals. */
function textOf(node: ShellNode, text: string): string | undefined {
  const written = text.slice(node.start, node.end);
  switch (node.type) {
    case "word":
    case "literal":
      if (node.children.length === 0) return written.replace(/\\([\s\S])/g, (_, char) => lineless(char));
      return joined(node.children.map((child) => textOf(child, text)));
    case "single-quoted":
      return written.slice(1, -1);
    case "double-quoted":
      return joined(node.children.map((child) => quotedValue(child, text)));
    default:
      return undefined;
  }
}

function quotedValue(node: ShellNode, text: string): string | undefined {
  if (node.type !== "literal") return undefined;
  return text.slice(node.start, node.end).replace(/\\(["\\$`\n])/g, (_, char) => lineless(char));
}

/** An escaped line break is nothing. */
function lineless(char: string): string {
  return char === "\n" ? "" : char;
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.includes(undefined) ? undefined : parts.join("");
}
