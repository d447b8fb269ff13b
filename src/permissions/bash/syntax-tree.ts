/**
 * Reads a command line from the syntax tree of the bash grammar: the second opinion beside `command-line.ts`. Text that
 * the tree does not cover, or a form that is not known, is a reason not to trust it. Pure.
 */

import type { ShellNode, ShellNodeType } from "../../core/shell-tree.ts";
import { masked } from "../paths.ts";
import type { SimpleCommand } from "./scanner.ts";
import { type CoveredText, coveredText, isCovered } from "./tree-gaps.ts";
import { ansiText, expandTilde, someValue, unknownValue } from "./words.ts";

export type TreeReading = {
  /** Every command of the text, including those in substitutions. `folders` is left empty. */
  commands: SimpleCommand[];
  /** True for nothing but simple commands of known words, with redirections, in lists and pipelines. */
  plain: boolean;
  /** The reason not to trust the tree. */
  broken?: string;
};

type Walk = CoveredText & { variables: ReadonlyMap<string, string>; home: string; reading: TreeReading };

const plainTypes: ReadonlySet<ShellNodeType> = new Set<ShellNodeType>([
  ...(["list", "statement", "chain", "command", "redirect", "stream"] as const),
  ...(["word", "literal", "single-quoted", "double-quoted", "parameter"] as const),
]);
/** Commands of bash that change its variables or what they mean. */
const declarations = /^(?:declare|typeset|export|readonly|local|unset)$/;

/** Reads a syntax tree. `~`, `$HOME` and `$PWD` stand for `home` and `folder`. */
export function readTree(
  text: string,
  root: ShellNode,
  { home, folder }: { home: string; folder: string },
): TreeReading {
  const variables = new Map([
    ["HOME", masked(home)],
    ["PWD", masked(folder)],
  ]);
  const walk: Walk = {
    ...coveredText(text, root),
    ...{ variables, home, reading: { commands: [], plain: true } },
  };
  if (root.start !== 0 || root.end !== text.length) walk.reading.broken = "text that the grammar passes over";
  visit(walk, root);
  return walk.reading;
}

function visit(outer: Walk, node: ShellNode): void {
  const walk = node.source === undefined ? outer : { ...outer, ...coveredText(node.source, node) };
  const { reading } = walk;
  const { type, children, operators } = node;
  if (type === "error") reading.broken ??= "the grammar of bash does not fit";
  else if (type === "unknown") reading.broken ??= "a form that is not known here";
  else if (!isCovered(walk, node)) reading.broken ??= "text that the grammar passes over";
  if (!plainTypes.has(type)) reading.plain = false;
  if (type === "command") addCommand(walk, node);
  const prefixes = children.filter((child) => child.type === "prefix").length;
  for (const [at, child] of children.entries()) {
    visit(walk, child);
    if (type === "compound") addToLast(walk, child);
    if (type === "chain") noteOperator(walk, operators[at - prefixes]);
  }
  if (type === "statement") noteOperator(walk, operators[0]);
}

function addCommand(walk: Walk, node: ShellNode): void {
  const command: SimpleCommand = { words: [], redirects: [], after: "", folders: [] };
  for (const child of node.children) {
    if (child.type === "word") command.words.push(wordOf(walk, child));
    // An assignment behind the name is a word of the command as well, as in `export X=1`.
    else if (child.type !== "assignment") addStream(walk, child, command);
    else if (command.words.length > 0) command.words.push(walk.text.slice(child.start, child.end));
  }
  // Nobody writes two; the bodies of both would have to be told apart.
  if (node.children.filter(({ type }) => type === "heredoc").length > 1)
    walk.reading.broken ??= "two heredocs for one command";
  if (declarations.test(command.words[0] ?? "")) walk.reading.plain = false;
  walk.reading.commands.push(command);
}

/** Adds the redirection of a compound command to the last command in it. */
function addToLast(walk: Walk, node: ShellNode): void {
  const last = walk.reading.commands.at(-1);
  if (last) addStream(walk, node, last);
}

function addStream(walk: Walk, node: ShellNode, command: SimpleCommand): void {
  const [inner] = node.children.slice(-1);
  const [operator = ""] = node.operators;
  if (!inner) return;
  if (node.type === "heredoc" || node.type === "here-string")
    command.input = walk.text.slice(inner.start, inner.end);
  if (node.type !== "redirect") return;
  const target = wordOf(walk, inner);
  // `2>&1` and `>&-` name a stream, not a file.
  if (!/[<>]&$/.test(operator) || !/^(?:\d+-?|-)$/.test(target)) command.redirects.push({ operator, target });
}

function noteOperator({ reading }: Walk, operator: string | undefined): void {
  const last = reading.commands.at(-1);
  if (operator !== undefined && last?.after === "") last.after = operator;
}

/** Returns the text that a program gets, with quoted specials masked. */
function wordOf(walk: Walk, node: ShellNode): string {
  return expandTilde(partOf(walk, node), walk.home);
}

function partOf(walk: Walk, node: ShellNode): string {
  const text = walk.text.slice(node.start, node.end);
  switch (node.type) {
    case "word":
    case "literal":
      if (node.children.length > 0) return node.children.map((child) => partOf(walk, child)).join("");
      // It hides what is written: a name, a keyword, or the end of a variable's name.
      if (text.includes("\\\n")) walk.reading.broken ??= "a line break inside a word";
      return text.replace(/\\([\s\S])/g, (_, char) => (char === "\n" ? "" : masked(char)));
    case "single-quoted":
      return masked(text.slice(1, -1));
    case "double-quoted":
      return node.children.map((child) => quotedPart(walk, child)).join("");
    case "ansi-quoted":
      return masked(ansiText(text.slice(2, -1)));
    case "parameter":
      return parameterOf(walk, text);
    default:
      return unknownValue;
  }
}

function quotedPart(walk: Walk, node: ShellNode): string {
  if (node.type !== "literal") return partOf(walk, node);
  const text = walk.text.slice(node.start, node.end);
  return masked(text.replace(/\\(["\\$`\n])/g, (_, char) => (char === "\n" ? "" : char)));
}

function parameterOf({ variables, reading }: Walk, text: string): string {
  const name = /^\$(?:\{(\w+)\}|(\w+)|([?#$]))$/.exec(text);
  if (name?.[3] !== undefined) return someValue;
  const known = variables.get(name?.[1] ?? name?.[2] ?? "");
  if (known === undefined) reading.plain = false;
  return known ?? unknownValue;
}
