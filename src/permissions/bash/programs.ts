/**
 * Lists the programs that a command line may run, seen through wrappers, shells and substitutions. Errs towards too
 * many. Pure.
 */

import { nameOf, plain } from "../paths.ts";
import { readCommandLine } from "./command-line.ts";
import { isReader } from "./readers/table.ts";
import type { CommandLine, SimpleCommand } from "./scanner.ts";
import { isUnknown, unknownValue } from "./words.ts";

export type Candidate = {
  /** The program's name without its folder, then its arguments, still masked. */
  words: string[];
  /** Folders in which it may run. */
  folders: string[];
  /** False when only an unknown program may run it. */
  certain: boolean;
  /** The command as it is written in the line, as opposed to arguments that a wrapper may run. */
  written?: SimpleCommand;
};

export const shells = new Set("sh bash dash zsh ksh mksh ash fish rbash".split(" "));
/** Programs and keywords that run the rest of their words. */
export const wrappers = new Set([
  ..."env xargs timeout nohup command builtin exec sudo doas busybox toybox nice ionice chrt setsid stdbuf".split(
    " ",
  ),
  ..."time strace ltrace watch unbuffer script chroot su runuser setpriv flock parallel ssh eval trap caffeinate".split(
    " ",
  ),
  ..."if then elif else while until do ! { coproc function systemd-run entr".split(" "),
]);
const depthLimit = 8;
const mostRests = 64;

/** Options for reading a text that is passed to a shell. `isDoubtful`: the grammar of bash reads it differently. */
export type NestedReading = { home: string; depth?: number; isDoubtful?(text: string): boolean };

/** Lists every program that the line may run, each with its arguments. */
export function programsOf(line: CommandLine, reading: NestedReading): Candidate[] {
  return line.commands.flatMap((command, index) => {
    const fed = (): string[] => fedTo(line.commands.slice(0, index));
    return [...seenThrough(command, fed), ...nestedIn(command, fed, reading)];
  });
}

/** Returns the text that earlier commands of the line print into a pipe, where the line shows it. */
function fedTo(before: SimpleCommand[]): string[] {
  const piped = before.filter(({ after }) => /^\|&?$/.test(after));
  return piped.flatMap(({ words: [name, ...args], input }) => {
    if (name === "echo" || name === "printf") return [args.map(plain).join(" ")];
    const passesOn = (name === "cat" || name === "tee") && args.length === 0;
    return [...(input === undefined ? [] : [input]), ...(passesOn ? [] : [unknownValue])];
  });
}

function programName(word: string): string {
  return nameOf(plain(word));
}

function seenThrough(command: SimpleCommand, fed: () => string[]): Candidate[] {
  const { words, folders } = command;
  const [first, ...args] = words;
  if (first === undefined) return [{ words, folders, certain: true, written: command }];
  const name = programName(first);
  const candidate = (own: string[], certain: boolean): Candidate => {
    const [program] = own;
    return { words: program === undefined ? [""] : own.with(0, programName(program)), folders, certain };
  };
  const own = { ...candidate(words, true), written: command };
  if (name === "command" && /^-[vV]$/.test(args[0] ?? "")) return [own];
  if (name === "find") {
    const starts = args.flatMap((arg, index) => (/^-(?:exec|ok)(?:dir)?$/.test(arg) ? [index + 1] : []));
    return [own, ...starts.map((start) => candidate(args.slice(start), true))];
  }
  if (shells.has(name) || name === "git" || (isReader(name) && !wrappers.has(name))) return [own];
  const certain = wrappers.has(name);
  const more = name === "xargs" ? fed().flatMap((text) => text.split(/\s+/)) : [];
  // An option's value may stand before the program, so every suffix of the words may be the command.
  const rests = args
    .slice(0, mostRests)
    .map((_, index) => candidate(args.slice(index).concat(more), certain))
    .filter(({ words: [program = ""] }) => !program.startsWith("-"));
  return args.length > mostRests ? [own, ...rests, candidate([unknownValue], certain)] : [own, ...rests];
}

/** Lists programs in arguments and input that a shell or wrapper reads as commands. */
function nestedIn(
  { words, folders, input }: SimpleCommand,
  fed: () => string[],
  reading: NestedReading,
): Candidate[] {
  const { home, depth = 0, isDoubtful } = reading;
  const [first = "", ...args] = words;
  const name = programName(first);
  const deeper = { ...reading, depth: depth + 1 };
  const texts = (inner: string[]): Candidate[] =>
    inner.flatMap((text) => programsOf(readCommandLine(text, { home, folders }, depth + 1), deeper));
  /** Texts that are certainly commands: anything unreadable in them may be any command. */
  const code = (inner: string[]): Candidate[] => [
    ...texts(inner),
    ...inner.flatMap((text) =>
      isDoubtful?.(text) ? [{ words: [unknownValue], folders, certain: true }] : [],
    ),
  ];
  if (depth >= depthLimit) return [];
  if (name === "git") return texts(gitPrograms(args));
  if (name === "alias") return texts(args.map((arg) => plain(arg).replace(/^[^=]*=/, "")));
  const shell =
    wrappers.has(name) || shells.has(name) ? words.findIndex((word) => shells.has(programName(word))) : -1;
  if (shell < 0 && !wrappers.has(name) && name !== "find") return [];
  const read =
    shell < 0 ? [] : standardInput(words.slice(shell + 1), input, input === undefined ? fed() : []);
  const given = args.filter((_, index) => shell >= 0 && /^-\w*c$/.test(args[index - 1] ?? "")).map(plain);
  const spaced = args.filter((arg) => /[\s;&|]/.test(arg) || isUnknown(arg)).map(plain);
  const joined = name === "eval" || name === "ssh" ? [args.map(plain).join(" ")] : [];
  return [...texts(spaced), ...code([...given, ...joined, ...read])];
}

/** Returns the input that a shell without a script or `-c` reads: a text that the line shows, or something unknown. */
function standardInput(args: string[], input: string | undefined, fed: string[]): string[] {
  if (input !== undefined) return [input];
  if (fed.length > 0) return [fed.join("\n")];
  return args.some((arg) => arg === "-c" || !arg.startsWith("-")) ? [] : [unknownValue];
}

/** Lists the programs in `-c core.pager='rm x'` and similar settings. */
function gitPrograms(args: string[]): string[] {
  return args.flatMap((arg, index) => {
    const value = args[index - 1] === "-c" ? /=!?([\s\S]*)/.exec(plain(arg))?.[1] : undefined;
    return value === undefined ? [] : [value];
  });
}
