/** Which commands only read, and which do more than a rule for them can have meant. Pure. */

import { gitExceedsRule } from "./readers/git.ts";
import { readingOf } from "./readers/table.ts";

/** Whether the command with these words reads and does nothing else. */
export function onlyReads(words: readonly string[]): boolean {
  return readingOf(words) !== undefined;
}

/** The words that a reading command takes as paths; some of them may be something else (a branch, a pattern). */
export function pathsRead(words: readonly string[]): readonly string[] {
  const reading = readingOf(words);
  return reading ? [...reading.contents, ...reading.names] : [];
}

/** Whether a command that a rule allows does more than such a rule can have meant: it runs or writes something else. */
export function exceedsRule([name = "", ...args]: readonly string[]): boolean {
  if (name === "find")
    return args.some((arg) => /^-(?:delete|exec|execdir|ok|okdir|fprint|fprint0|fprintf|fls)$/.test(arg));
  return name === "git" && gitExceedsRule(args);
}
