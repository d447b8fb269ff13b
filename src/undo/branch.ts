/** Copies snapshots to a branch, which can then undo file changes of the session it was branched from. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { isErrno } from "../session/errors.ts";
import type { Fork } from "../session/store.ts";
import { copyJournal } from "./journal.ts";

type Branch = Fork & { warn(text: string): void };

/**
 * Copies the snapshots. Turns that the branch lacks count as a turn of its last shared event, so that they are never
 * mistaken for turns that get their numbers in the branch.
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
    warn(`this branch cannot undo changes made before it: ${error.message}`);
  }
}
