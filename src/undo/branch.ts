/** The snapshots of a branch: it can undo what the session did to files that it was branched from. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "../session/errors.ts";
import type { Fork } from "../session/store.ts";
import { copyJournal } from "./journal.ts";

type Branch = Fork & { warn(text: string): void };

/**
 * Turns that the branch does not have were worked on between its last event and what comes next: they count as a turn
 * of that event, so that they are never taken for those that get their numbers in the branch.
 */
export function branchSnapshots({ from, to, lastTurn, warn }: Branch): void {
  const folder = join(to, "snapshots");
  try {
    copyJournal(join(from, "snapshots"), folder, (snapshot) => ({
      ...snapshot,
      turn: Math.min(snapshot.turn, lastTurn),
    }));
  } catch (error) {
    if (!isErrno(error)) throw error;
    rmSync(folder, { recursive: true, force: true });
    warn(`this branch cannot undo what was done before it: ${error.message}`);
  }
}
