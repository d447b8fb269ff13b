/** The words of a command line: quotes, variables and substitutions, read from left to right. Pure. */

import { masked, plain } from "../paths.ts";
import {
  ansiText,
  expandBraces,
  expandTilde,
  isUnknown,
  parameterValue,
  quoteEnd,
  unknownValue,
} from "./words.ts";

export type SimpleCommand = {
  /** Words without their quotes; quoted specials are masked (`paths.ts`). */
  words: string[];
  redirects: { operator: string; target: string }[];
  /** `NAME=value` in front of it. */
  assignments?: string[];
  /** The body of a heredoc or here-string. */
  input?: string;
  /** The operator after it: `&&`, `|`, …; empty at the end. */
  after: string;
  /** Folders in which it may run, as far as the `cd`s of the line show. */
  folders: string[];
};

export type CommandLine = {
  commands: SimpleCommand[];
  /** Parts that could not be read for certain; empty for a plain line. */
  problems: string[];
};

/** The state of the scan. */
export type Scan = {
  text: string;
  at: number;
  home: string;
  variables: Map<string, string>;
  /** The word being read; undefined between words. */
  word: string | undefined;
  /** A redirection that still needs its target. */
  redirect: string | undefined;
  command: SimpleCommand;
  heredocs: { delimiter: string; literal: boolean; command: SimpleCommand }[];
  /** Folders where the chain of `&&` began: when a `cd` in it fails, the line continues there. */
  chainFolders: string[];
  line: CommandLine;
  /** Reads a nested command line. */
  nested(text: string): CommandLine;
};

/** The problem after which the rest of the reading cannot be relied on. */
export const unbalanced = "an unbalanced quote or bracket";

export function noteProblem({ line }: Scan, what: string): void {
  if (!line.problems.includes(what)) line.problems.push(what);
}

export function addText(scan: Scan, text: string): void {
  scan.word = (scan.word ?? "") + text;
}

export function readSingle(scan: Scan): void {
  const end = endOf(scan, scan.text.indexOf("'", scan.at + 1));
  addText(scan, masked(scan.text.slice(scan.at + 1, end)));
  scan.at = end + 1;
}

export function readDouble(scan: Scan): void {
  addText(scan, "");
  scan.at += 1;
  while (scan.at < scan.text.length) {
    const char = scan.text.charAt(scan.at);
    if (char === '"') {
      scan.at += 1;
      return;
    }
    if (char === "$") readDollar(scan, true);
    else if (char === "`") readBackquote(scan, true);
    else if (char === "\\" && /["\\$`\n]/.test(scan.text.charAt(scan.at + 1))) readEscape(scan);
    else {
      addText(scan, masked(char));
      scan.at += 1;
    }
  }
  noteProblem(scan, unbalanced);
}

export function readEscape(scan: Scan): void {
  const char = scan.text.charAt(scan.at + 1);
  if (char === "") noteProblem(scan, unbalanced);
  if (char !== "\n") addText(scan, masked(char));
  scan.at += 2;
}

export function readDollar(scan: Scan, quoted: boolean): void {
  const { text, at } = scan;
  const next = text.charAt(at + 1);
  if (next === "(") {
    scan.at += 2;
    readNested(scan, "a substitution $(…)", quoted);
  } else if (next === "{") {
    const end = endOf(scan, quoteEnd(text, at + 2, "}", !quoted));
    scan.at = end + 1;
    addParameter(scan, text.slice(at + 2, end), quoted);
  } else if (!quoted && next === '"') {
    scan.at += 1;
    readDouble(scan);
  } else if (!quoted && next === "'") {
    const end = endOf(scan, quoteEnd(text, at + 2, "'", false));
    noteProblem(scan, "a quote of the form $'…'");
    scan.at = end + 1;
    addText(scan, masked(ansiText(text.slice(at + 2, end))));
  } else {
    // Bash removes an escaped line break first: `$HO\` and `ME` on the next line are `$HOME`.
    const written = /^(?:[A-Za-z_](?:\w|\\\n)*|[\d@*#?$!-])/.exec(text.slice(at + 1, at + 200))?.[0];
    scan.at += 1 + (written?.length ?? 0);
    if (text.startsWith("\\\n", at + 1)) noteProblem(scan, "a line break after $");
    if (written === undefined) addText(scan, "$");
    else addParameter(scan, written.replaceAll("\\\n", ""), quoted);
  }
}

function addParameter(scan: Scan, body: string, quoted: boolean): void {
  const { value, problem, nested } = parameterValue(body, scan.variables);
  if (problem) noteProblem(scan, problem);
  if (body === "IFS") noteProblem(scan, "the variable $IFS");
  if (nested) readNestedIn(scan, nested);
  addValue(scan, value, quoted);
}

/** Adds a variable's value; an unquoted one is split at its spaces. */
function addValue(scan: Scan, value: string, quoted: boolean): void {
  if (quoted) {
    // Values of a loop stay in braces: one of several words.
    addText(scan, /^\{.*\}$/s.test(value) ? value : masked(value));
    return;
  }
  for (const [index, piece] of value.split(/\s+/).entries()) {
    if (index > 0) endWord(scan);
    if (piece) addText(scan, piece);
  }
}

/** Reads up to the closing parenthesis and lists the commands inside like any others. */
export function readNested(scan: Scan, what: string, quoted: boolean): void {
  const end = endOf(scan, quoteEnd(scan.text, scan.at, ")", true));
  const inner = scan.text.slice(scan.at, end);
  scan.at = end + 1;
  noteProblem(scan, what);
  addValue(scan, nestedValue(scan, inner), quoted);
}

export function readBackquote(scan: Scan, quoted: boolean): void {
  const end = endOf(scan, quoteEnd(scan.text, scan.at + 1, "`", false));
  const inner = scan.text.slice(scan.at + 1, end).replace(/\\([\\`$])/g, "$1");
  scan.at = end + 1;
  noteProblem(scan, "a substitution `…`");
  addValue(scan, nestedValue(scan, inner), quoted);
}

function endOf(scan: Scan, end: number): number {
  if (end >= 0 && end < scan.text.length) return end;
  noteProblem(scan, unbalanced);
  return scan.text.length;
}

/** Lists the commands of `inner`; returns what it prints, where that is plain. */
function nestedValue(scan: Scan, inner: string): string {
  const { commands, problems } = scan.nested(inner);
  for (const command of commands) scan.line.commands.push(command);
  for (const problem of problems) noteProblem(scan, problem);
  const [name, ...words] = commands.length === 1 ? (commands[0]?.words ?? []) : [];
  if (name === "pwd") return masked(scan.command.folders[0] ?? "/");
  return name === "echo" && !words.some(isUnknown) ? words.join(" ") : unknownValue;
}

/** Finds the substitutions in text that is not itself a command, such as a heredoc. */
export function readNestedIn(scan: Scan, text: string): void {
  for (const { 0: start, index } of text.matchAll(/\$\(|`/g)) {
    const from = index + start.length;
    nestedValue(scan, text.slice(from, quoteEnd(text, from, start === "`" ? "`" : ")", true)));
  }
}

export function endWord(scan: Scan): void {
  const { word, redirect, command, home } = scan;
  if (word === undefined) return;
  scan.word = undefined;
  scan.redirect = undefined;
  if (redirect?.startsWith("<<")) {
    readInput(scan, redirect, word);
    return;
  }
  if (command.words.length === 0 && redirect === undefined && isAssignment(word)) {
    noteProblem(scan, "an assignment");
    command.assignments = [...(command.assignments ?? []), word];
    assign(scan, word);
    return;
  }
  const words = expandBraces(word).map((expanded) => expandTilde(expanded, home));
  if (words.length > 1) noteProblem(scan, "braces");
  if (redirect === undefined) command.words.push(...words);
  // `2>&1` and `>&-` name a stream, not a file.
  else if (!/[<>]&$/.test(redirect) || !/^(?:\d+-?|-)$/.test(word))
    command.redirects.push(...words.map((target) => ({ operator: redirect, target })));
}

function readInput(scan: Scan, redirect: string, word: string): void {
  const { command, heredocs } = scan;
  noteProblem(scan, "a heredoc");
  if (redirect === "<<<") command.input = plain(word);
  else heredocs.push({ delimiter: plain(word), literal: redirect.endsWith("'"), command });
}

export function isAssignment(word: string): boolean {
  return /^[A-Za-z_]\w*\+?=/.test(word);
}

/** Records the value that a word like `X=1` assigns. */
export function assign({ variables, home }: Scan, word: string): void {
  const equals = word.indexOf("=");
  variables.set(word.slice(0, equals).replace("+", ""), expandTilde(word.slice(equals + 1), home));
}
