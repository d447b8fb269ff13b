/**
 * Reads a command line from the syntax tree of the bash grammar: the second opinion beside `command-line.ts`. Anything
 * that the tree does not cover, or a form not listed here, is a reason not to trust it. Pure.
 */

import type { ShellNode } from "../../core/shell-tree.ts";
import { masked } from "../paths.ts";
import type { SimpleCommand } from "./scanner.ts";
import { ansiText, expandTilde, someValue, unknownValue } from "./words.ts";

export type TreeReading = {
  /** Every command of the text, including those in substitutions. `folders` is left empty. */
  commands: SimpleCommand[];
  /** True for nothing but simple commands of known words, with redirections, in lists and pipelines. */
  plain: boolean;
  /** The reason not to trust the tree. */
  broken?: string;
};

type Walk = { text: string; variables: ReadonlyMap<string, string>; home: string; reading: TreeReading };

const names = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Node types that may occur in a plain line. */
const plainTypes = names(
  "program list pipeline command command_name redirected_statement file_redirect file_descriptor word number string " +
    "string_content raw_string concatenation simple_expansion expansion variable_name special_variable_name comment " +
    "test_command test_operator unary_expression binary_expression && || | |& & ; < > >> >| &> &>> >& <& >&- <&- " +
    `[ ] " $ \${ } ! = == != =~ -a -o ( )`,
);
/** Node types that are understood as well: the commands in them are found. */
const knownTypes = names(
  "compound_statement subshell if_statement elif_clause else_clause for_statement c_style_for_statement while_statement " +
    "case_statement case_item last_case_item do_group function_definition negated_command variable_assignment " +
    "variable_assignments subscript array command_substitution process_substitution arithmetic_expansion " +
    "ternary_expression postfix_expression parenthesized_expression extglob_pattern regex heredoc_redirect " +
    "heredoc_start heredoc_body heredoc_content heredoc_end herestring_redirect ansi_c_string translated_string " +
    "brace_expression declaration_command unset_command",
);
/** Node types between whose parts stands literal text. */
const holdsText = names("string heredoc_body heredoc_redirect expansion arithmetic_expansion regex");
const statements = names("&& || | |& & ;");

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
  const walk: Walk = { text, variables, home, reading: { commands: [], plain: true } };
  checkGap(walk, 0, root.start);
  checkGap(walk, root.end, text.length);
  visit(walk, root);
  return walk.reading;
}

function visit(walk: Walk, node: ShellNode): void {
  check(walk, node);
  switch (node.type) {
    case "command":
    case "declaration_command":
    case "unset_command":
      addCommand(walk, node);
      break;
    case "test_command":
      addTest(walk, node);
      break;
    case "file_redirect":
      addRedirect(walk, node);
      break;
    case "herestring_redirect":
    case "heredoc_body":
      noteInput(walk, node);
      break;
    default:
      if (statements.has(node.type)) noteOperator(walk, node.type);
  }
  for (const child of node.children) visit(walk, child);
}

/** Checks that the node is whole and known, with nothing but blanks between its parts. */
function check(walk: Walk, { type, start, end, missing, children }: ShellNode): void {
  const { text, reading } = walk;
  const isSign = children.length === 0 && text.slice(start, end).trim() === type;
  if (type === "ERROR" || missing) reading.broken ??= "the grammar of bash does not fit";
  else if (!plainTypes.has(type)) {
    reading.plain = false;
    if (!knownTypes.has(type) && !isSign) reading.broken ??= `a form that is not known here: ${type}`;
  }
  if (children.length === 0 || holdsText.has(type)) return;
  const edges = [start, ...children.flatMap((child) => [child.start, child.end]), end];
  for (let at = 0; at < edges.length; at += 2) checkGap(walk, edges[at] ?? 0, edges[at + 1] ?? 0);
}

function checkGap({ text, reading }: Walk, from: number, to: number): void {
  const gap = text.slice(from, to);
  if (gap === "") return;
  if (from > to || /[^ \t\n]/.test(gap.replaceAll("\\\n", "")))
    reading.broken ??= "text that the grammar passes over";
}

function addCommand(walk: Walk, node: ShellNode): void {
  const command: SimpleCommand = { words: [], redirects: [], after: "", folders: [] };
  for (const child of node.children) {
    if (/^variable_assignment/.test(child.type) && node.type === "command") continue;
    if (child.type.endsWith("_redirect")) continue;
    command.words.push(wordOf(walk, child));
  }
  walk.reading.commands.push(command);
}

/** Adds `[ … ]` as a command named `[`; the grammar separates its operators from its operands. */
function addTest(walk: Walk, node: ShellNode): void {
  if (node.children[0]?.type !== "[") walk.reading.plain = false;
  const words = (node: ShellNode): string[] =>
    /^(?:test_command|\w+_expression)$/.test(node.type) && node.type !== "brace_expression"
      ? node.children.flatMap(words)
      : [wordOf(walk, node)];
  walk.reading.commands.push({ words: words(node), redirects: [], after: "", folders: [] });
}

/** Adds a redirection, which the grammar attaches to the preceding command or to the whole list. */
function addRedirect(walk: Walk, node: ShellNode): void {
  const { reading } = walk;
  const operator = node.children.findIndex(({ type }) => /^[<>&|]+-?$/.test(type));
  const targets = node.children.slice(operator + 1);
  const [target] = targets;
  const sign = node.children[operator]?.type ?? "";
  if (/-$/.test(sign) && targets.length === 0) return;
  // More than one target: the grammar mistakes a word of the following command for another target.
  if (operator < 0 || !target || targets.length > 1) {
    reading.plain = false;
    return;
  }
  const word = wordOf(walk, target);
  if (/[<>]&$/.test(sign) && /^(?:\d+-?|-)$/.test(word)) return;
  const last = reading.commands.at(-1);
  if (last) last.redirects.push({ operator: sign, target: word });
  else reading.plain = false;
}

function noteInput({ text, reading }: Walk, node: ShellNode): void {
  const last = reading.commands.at(-1);
  if (last) last.input = text.slice(node.start, node.end);
}

function noteOperator({ reading }: Walk, operator: string): void {
  const last = reading.commands.at(-1);
  if (last && last.after === "") last.after = operator;
}

/** Returns the text that a program gets, with quoted specials masked. */
function wordOf(walk: Walk, node: ShellNode): string {
  return expandTilde(partOf(walk, node), walk.home);
}

function partOf(walk: Walk, node: ShellNode): string {
  const text = walk.text.slice(node.start, node.end);
  switch (node.type) {
    case "command_name":
    case "concatenation":
      return node.children.map((child) => partOf(walk, child)).join("");
    case "raw_string":
      return masked(text.slice(1, -1));
    case "string":
      return quoted(walk, node);
    case "simple_expansion":
    case "expansion":
      return parameterOf(walk, node);
    case "ansi_c_string":
      return masked(ansiText(text.slice(2, -1)));
    case "command_substitution":
    case "process_substitution":
    case "arithmetic_expansion":
    case "translated_string":
      return unknownValue;
    default:
      return text.replace(/\\([\s\S])/g, (_, char) => (char === "\n" ? "" : masked(char)));
  }
}

function quoted(walk: Walk, node: ShellNode): string {
  const literal = (from: number, to: number): string =>
    masked(walk.text.slice(from, to).replace(/\\(["\\$`\n])/g, (_, char) => (char === "\n" ? "" : char)));
  const inner = node.children.filter(({ type }) => /expansion|substitution/.test(type));
  let from = node.start + 1;
  let word = "";
  for (const child of inner) {
    // The node of a substitution includes the blanks before it.
    const begin = child.start + walk.text.slice(child.start, child.end).search(/[$`]/);
    word += literal(from, begin) + partOf(walk, child);
    from = child.end;
  }
  return word + literal(from, node.end - 1);
}

function parameterOf({ text, variables, reading }: Walk, { start, end }: ShellNode): string {
  const name = /^\s*\$(?:\{(\w+)\}|(\w+)|([?#$!-]))$/.exec(text.slice(start, end));
  if (name?.[3] !== undefined) return someValue;
  const known = variables.get(name?.[1] ?? name?.[2] ?? "");
  if (known === undefined) reading.plain = false;
  return known ?? unknownValue;
}
