/** Reads a repository's HEAD and newest stash: undo leaves them alone, but tells how to go back. Does not run git. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Commit hashes; undefined where there is none, or where it cannot be read. */
export type GitPosition = { head?: string; stash?: string };

/** Reads the repository at `root`; nothing for a linked working tree. */
export function gitPosition(root: string): GitPosition {
  const folder = join(root, ".git");
  const head = textOf(join(folder, "HEAD"));
  const commit = head.startsWith("ref: ") ? commitOf(folder, head.slice(5).trim()) : head.trim();
  const stash = commitOf(folder, "refs/stash");
  return { ...(commit ? { head: commit } : {}), ...(stash ? { stash } : {}) };
}

/** Returns one sentence for each that moved since, with the command that moves it back. Pure. */
export function movedSince(then: GitPosition | undefined, now: GitPosition): string[] {
  const notes: string[] = [];
  if (then?.head && then.head !== now.head)
    notes.push(
      `git's HEAD was ${then.head.slice(0, 10)}: git reset ${then.head.slice(0, 10)} goes back, and keeps the files`,
    );
  if (then?.stash && then.stash !== now.stash)
    notes.push(`git's newest stash was ${then.stash}: git stash store ${then.stash} brings it back`);
  return notes;
}

function commitOf(folder: string, ref: string): string {
  const loose = /^refs\/[\w./-]+$/.test(ref) && !ref.includes("..") ? textOf(join(folder, ref)).trim() : "";
  if (loose) return loose;
  const packed = textOf(join(folder, "packed-refs")).split("\n");
  return packed.find((line) => line.endsWith(` ${ref}`))?.split(" ", 1)[0] ?? "";
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
