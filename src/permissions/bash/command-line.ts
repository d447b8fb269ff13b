/**
 * Parses a shell command line far enough to judge it: its simple commands with their words and redirects, and every
 * reason why the reading may be incomplete. Commands nested in substitutions are listed like the others. Pure.
 */

import { masked, resolvePath } from "../paths.ts";
import {
  addText,
  assign,
  type CommandLine,
  endWord,
  isAssignment,
  noteProblem,
  readBackquote,
  readDollar,
  readDouble,
  readEscape,
  readNested,
  readNestedIn,
  readSingle,
  type Scan,
  type SimpleCommand,
  unbalanced,
} from "./scanner.ts";
import { withoutUnknown } from "./words.ts";

/** The home folder, and the folders in which the line may start. */
export type LineContext = { home: string; folders: string[] };

const deepest = 8;
const mostFolders = 16;
const operators =
  /[<>]&(?:[ \t]|\\\n)*-|&>>?|<<<|<<-?|<>|<&|<\(|>>|>\||>&|>\(|<|>|&&|\|\||\|&|;;&|;;|;&|[;|&()\n\r]/y;
const redirect = /^(?:&>>?|<<<|<<-?|<>|<&|>>|>\||>&|<|>)$/;
const compound =
  /^(?:if|then|elif|else|fi|for|while|until|do|done|case|esac|select|function|time|coproc|!|\{|\}|\[\[)$/;

export function readCommandLine(text: string, context: LineContext, depth = 0): CommandLine {
  if (depth > deepest) return { commands: [], problems: ["commands nested too deeply"] };
  const { home, folders } = context;
  const scan: Scan = {
    text,
    at: 0,
    home,
    variables: new Map([
      ["HOME", masked(home)],
      ["PWD", masked(folders[0] ?? "/")],
      ["IFS", " "],
    ]),
    word: undefined,
    redirect: undefined,
    command: newCommand(folders),
    heredocs: [],
    chainFolders: folders,
    line: { commands: [], problems: [] },
    nested: (inner) => readCommandLine(inner, { home, folders: scan.command.folders }, depth + 1),
  };
  if (/[\ue000-\ue0ff]/.test(text)) noteProblem(scan, "characters for private use");
  while (scan.at < text.length) step(scan);
  endCommand(scan, "");
  if (scan.heredocs.length > 0) noteProblem(scan, unbalanced);
  // One by one: as arguments of one call they would fill the stack.
  if (scan.line.problems.includes(unbalanced))
    for (const piece of crudeReading(text, folders)) scan.line.commands.push(piece);
  return scan.line;
}

function newCommand(folders: string[]): SimpleCommand {
  return { words: [], redirects: [], after: "", folders };
}

/** Treats every piece that could be a command as one: with unbalanced quotes nobody knows what is quoted. */
function crudeReading(text: string, folders: string[]): SimpleCommand[] {
  const pieces = text.split(/[\n\r;&|()`'"{}<>]+|\$(?=[({])/);
  const words = pieces.map((piece) => piece.split(/\s+/).filter(Boolean));
  return words.filter((found) => found.length > 0).map((found) => ({ ...newCommand(folders), words: found }));
}

function step(scan: Scan): void {
  const char = scan.text.charAt(scan.at);
  operators.lastIndex = scan.at;
  const operator = operators.exec(scan.text)?.[0];
  if (operator !== undefined) readOperator(scan, operator);
  else if (char === "'") readSingle(scan);
  else if (char === '"') readDouble(scan);
  else if (char === "\\") readEscape(scan);
  else if (char === "$") readDollar(scan, false);
  else if (char === "`") readBackquote(scan, false);
  else if (char === "#" && scan.word === undefined) {
    const end = scan.text.indexOf("\n", scan.at);
    scan.at = end < 0 ? scan.text.length : end;
  } else {
    if (char === " " || char === "\t") endWord(scan);
    else addText(scan, char);
    if (/[\0-\x08\x0b-\x1f\x7f]/.test(char)) noteProblem(scan, "a control character");
    scan.at += 1;
  }
}

function readOperator(scan: Scan, operator: string): void {
  scan.at += operator.length;
  // `>&-` closes a stream and has no target: what follows is a word of the command.
  if (/[<>]&.*-$/s.test(operator)) {
    endStream(scan);
    endWord(scan);
    return;
  }
  if (operator === "<(" || operator === ">(") {
    readNested(scan, "a process substitution", false);
    return;
  }
  if (redirect.test(operator)) {
    endStream(scan);
    endWord(scan);
    const quoted =
      /^<<-?$/.test(operator) && /^\s*[^\s;&|<>()]*["'\\]/.test(scan.text.slice(scan.at, scan.at + 200));
    scan.redirect = quoted ? `${operator}'` : operator;
    return;
  }
  if (/[()\r]|;[;&]/.test(operator)) noteProblem(scan, "a compound command");
  endCommand(scan, operator);
  if (operator === "\n") readHeredocs(scan);
}

/** Drops a stream number (`2>`) or a variable (`{fd}>`) directly before a redirection from the words. */
function endStream(scan: Scan): void {
  // Behind `2>&` a number is the target, whatever follows it.
  if (scan.redirect !== undefined) return;
  if (scan.word === undefined || !/^(?:\d+|\{\w+\})$/.test(scan.word)) return;
  if (scan.word.startsWith("{")) noteProblem(scan, "a redirection that sets a variable");
  scan.word = undefined;
}

function readHeredocs(scan: Scan): void {
  for (const { delimiter, literal, command } of scan.heredocs.splice(0)) {
    const lines = scan.text.slice(scan.at).split("\n");
    const end = lines.findIndex((line) => line.replace(/^\t+/, "") === delimiter);
    if (end < 0) noteProblem(scan, unbalanced);
    const body = end < 0 ? lines : lines.slice(0, end);
    command.input = body.join("\n");
    scan.at += command.input.length + (body.length > 0 ? 1 : 0) + delimiter.length;
    // The rest of the delimiter's line (its tabs) ends with the newline that follows.
    const newline = scan.text.indexOf("\n", scan.at);
    scan.at = newline < 0 ? scan.text.length : newline;
    if (!literal) readNestedIn(scan, command.input);
  }
}

function endCommand(scan: Scan, operator: string): void {
  endWord(scan);
  const { command } = scan;
  if (scan.redirect !== undefined) noteProblem(scan, "a redirection without its target");
  scan.redirect = undefined;
  command.after = operator;
  if (command.words.length > 0 || command.redirects.length > 0 || command.assignments)
    scan.line.commands.push(command);
  if (compound.test(command.words[0] ?? "")) noteProblem(scan, "a compound command");
  remember(scan, command.words);
  let folders = foldersAfter(scan, command);
  if (operator !== "&&" && operator !== "|") {
    folders = [...new Set([...scan.chainFolders, ...folders])].slice(0, mostFolders);
    scan.chainFolders = folders;
  }
  scan.command = newCommand(folders);
}

/** Records the values that `export`, `for` and similar commands give to variables. */
function remember(scan: Scan, words: string[]): void {
  const [name = "", variable = "", , ...list] = words;
  // Recorded as braces, so that the line is read once with each of the values.
  if (name === "for")
    assign(scan, `${variable}=${list.length > 1 ? `{${list.join(",")}}` : (list[0] ?? "")}`);
  if (!/^(?:export|declare|local|readonly|typeset)$/.test(name)) return;
  for (const word of words) if (isAssignment(word)) assign(scan, word);
}

/**
 * Returns the folders in which the line continues after a `cd`. An unknown folder counts as empty, which means the
 * home.
 */
function foldersAfter({ home }: Scan, { words, folders }: SimpleCommand): string[] {
  const [name = "", ...rest] = words;
  if (name !== "cd" && name !== "pushd") return folders;
  const target = rest.find((word) => !word.startsWith("-"));
  if (target === undefined) return rest.includes("-") ? folders : [home];
  const path = withoutUnknown(target);
  return path === "" ? [home] : folders.map((folder) => resolvePath(folder, path));
}
