/**
 * Reads a command line twice, with the hand-written reader and with the grammar of bash. Where the two differ, nobody
 * knows for certain what would run, so the user is asked each time. Neither reader alone is enough: the grammar
 * passes over a carriage return, and the hand-written reader knows only what its author thought of. Pure.
 */

import type { ParseShell } from "../../core/shell-tree.ts";
import { nameOf, plain } from "../paths.ts";
import { type LineContext, readCommandLine } from "./command-line.ts";
import { programsOf } from "./programs.ts";
import { type CommandLine, type SimpleCommand, unbalanced } from "./scanner.ts";
import { readTree, type TreeReading } from "./syntax-tree.ts";

/** `unreadable`: the reason why only a rule for the whole tool may allow the line. */
export type AgreedReading = CommandLine & { unreadable?: string };

/**
 * Parses with both readers. `parse` is undefined where the grammar was not loaded; then only plain words are accepted.
 */
export function parseTwice(text: string, context: LineContext, parse: ParseShell | undefined): AgreedReading {
  const line = readCommandLine(text, context);
  const root = parse?.(text);
  const [folder = "/"] = context.folders;
  const tree = root && readTree(text, root, { home: context.home, folder });
  const folders = [...new Set(line.commands.flatMap((command) => command.folders))];
  const missed = tree ? missedCommands(line, tree, context.home) : [];
  const why =
    oddCharacters(text) ??
    line.problems.find((problem) => problem === unbalanced || problem === "commands nested too deeply") ??
    (tree ? tree.broken : withoutTree(text, parse)) ??
    (missed.length > 0 || differ(line, tree) ? "two ways of reading it differ" : undefined);
  const commands = [
    ...line.commands,
    ...missed.map((command) => ({
      ...command,
      folders: folders.length > 0 ? folders : context.folders,
    })),
  ];
  if (why !== undefined) return { commands, problems: [why, ...line.problems], unreadable: why };
  const problems =
    line.problems.length === 0 && tree?.plain === false ? ["more than plain words"] : line.problems;
  return { commands, problems };
}

/** Returns true when the two readers differ over a text that is to be run, or one of them cannot read it. */
export function isDoubtful(text: string, context: LineContext, parse: ParseShell | undefined): boolean {
  return parseTwice(text, context, parse).unreadable !== undefined;
}

/** Returns the problem with characters that bash takes for a part of a word, and people for a blank or for nothing. */
function oddCharacters(text: string): string | undefined {
  if (!text.isWellFormed()) return "characters that are not Unicode";
  if (/(?![\n\t])\p{Cc}/u.test(text)) return "a control character";
  return /(?![ \n\t])[\p{Z}\p{Cf}\u115f\u1160\u2800\u3164\uffa0]|\p{Co}/u.test(text)
    ? "characters that cannot be seen"
    : undefined;
}

function withoutTree(text: string, parse: ParseShell | undefined): string | undefined {
  if (parse) return "it is too long";
  return isPlainWords(text) ? undefined : "only one of the two readers has read it";
}

/** Returns true for a program's name followed by words that stand for themselves: one reader is enough for these. */
export function isPlainWords(text: string): boolean {
  return /^ *[\w./][\w./:@,+-]*(?: +[\w./:@,+=-]+)* *$/.test(text);
}

/** Compares the readings: where both find only plain words, the words must be the same. */
function differ(line: CommandLine, tree: TreeReading | undefined): boolean {
  if (!tree || line.problems.length > 0 || !tree.plain) return false;
  return JSON.stringify(line.commands.map(comparable)) !== JSON.stringify(tree.commands.map(comparable));
}

function comparable({ words, redirects, after }: SimpleCommand, index: number, all: SimpleCommand[]) {
  // A line break ends a command like a semicolon, and the last one needs neither.
  const end = /^[;\n]?$/.test(after) ? "" : after;
  return { words, redirects, end: index === all.length - 1 && end === "" ? "" : end };
}

/** Returns the commands that only the grammar finds. */
function missedCommands(line: CommandLine, tree: TreeReading, home: string): SimpleCommand[] {
  const nameOfFirst = ([first = ""]: string[]): string => nameOf(plain(first));
  const without = (found: Set<string>, commands: SimpleCommand[]): SimpleCommand[] =>
    commands.filter(({ words }) => words.length > 0 && !found.has(nameOfFirst(words)));
  const rest = without(new Set(line.commands.map(({ words }) => nameOfFirst(words))), tree.commands);
  if (rest.length === 0) return [];
  return without(new Set(programsOf(line, { home }).map(({ words }) => nameOfFirst(words))), rest);
}
