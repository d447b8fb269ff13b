/**
 * Tells commands that only read from others, and finds commands that do more than a rule for them can have meant. Pure.
 */

import { gitExceedsRule } from "./readers/git.ts";
import { readingOf } from "./readers/table.ts";

/** Returns true when the command with these words only reads. */
export function onlyReads(words: readonly string[]): boolean {
  return readingOf(words) !== undefined;
}

/**
 * Returns the words that a reading command takes as paths; some of them may be something else (a branch, a pattern).
 */
export function pathsRead(words: readonly string[]): readonly string[] {
  const reading = readingOf(words);
  return reading ? [...reading.contents, ...reading.names] : [];
}

/** Returns true when an allowed command does more than its rule can have meant: it runs or writes something else. */
export function exceedsRule([name = "", ...args]: readonly string[]): boolean {
  if (name === "find")
    return args.some((arg) => /^-(?:delete|exec|execdir|ok|okdir|fprint|fprint0|fprintf|fls)$/.test(arg));
  return name === "git" && gitExceedsRule(args);
}
