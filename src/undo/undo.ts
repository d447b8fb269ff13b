/** Undo: chooses the snapshot, restores the files, and copies away changes that others made meanwhile. */

import { basename, join } from "node:path";
import type { FileChange, UndoChoice, Undone } from "../core/undo-port.ts";
import { movedSince } from "../git/refs.ts";
import {
  type Change,
  changedSince,
  changesOf,
  type Entry,
  type FileSnapshot,
  knownAt,
  lastTurn,
  lastUndo,
} from "./history.ts";
import type { Recorder } from "./recorder.ts";
import { planRestore, restore, writeCopy } from "./restore.ts";

/**
 * Restores files that the session changed since the chosen snapshot; files that only others changed stay. `folder`:
 * where copies go. Undefined when there is nothing to undo. Throws when the disk refuses a snapshot of the current
 * state.
 */
export async function undo(
  recorder: Recorder,
  choice: UndoChoice,
  { at, folder }: { at: number; folder: string },
): Promise<Undone | undefined> {
  const { snapshots, bytesOf } = recorder.journal;
  const turn = snapshots.at(-1)?.turn ?? 0;
  const now = await recorder.draft({ at, kind: "undo", turn, label: "" });
  const to = chosen([...snapshots, now], choice);
  if (to === undefined) return undefined;
  recorder.append({ ...now, to, label: `undo to ${to}` });
  const storedBytes = (entry: Entry) => (entry.type === "file" ? bytesOf(entry.hash, entry.size) : undefined);
  const { paths, byOthers } = changedSince(snapshots, to);
  const plan = planRestore(paths, recorder.recorded, knownAt(snapshots, to));
  const copies = writeCopies(
    plan.changes.filter(({ path }) => byOthers.has(path)),
    join(folder, String(now.n)),
    storedBytes,
  );
  const lost = [...plan.lost, ...restore(plan.changes, storedBytes)];
  recorder.append(await recorder.draft({ at, kind: "end", turn, label: "" }));
  const failed = new Set(lost.map(({ path }) => path));
  const files = plan.changes.filter(({ path }) => !failed.has(path)).flatMap(fileChange);
  return { before: now.n, to, files, copies, lost, notes: movedSince(snapshots[to]?.git, now.git) };
}

function chosen(snapshots: readonly FileSnapshot[], { to, redo }: UndoChoice): number | undefined {
  const begun = snapshots.at(-2);
  if (redo) return lastUndo(snapshots.slice(0, -1));
  if (to !== undefined) return snapshots[to] && to < snapshots.length - 1 ? to : undefined;
  // An interrupted undo is completed first.
  if (begun?.kind === "undo") return begun.to;
  return lastTurn(snapshots, changesOf(snapshots));
}

function writeCopies(
  changes: readonly Change[],
  folder: string,
  storedBytes: (entry: Entry) => Buffer | undefined,
): { path: string; copy: string }[] {
  return changes.flatMap(({ path, before }, index) => {
    const copy = join(folder, `${index + 1}-${basename(path)}`);
    return before && writeCopy(copy, before, storedBytes) ? [{ path, copy }] : [];
  });
}

/** Converts a change for display. Folders are restored along with their files and not reported. */
export function fileChange({ path, before, after }: Change): FileChange[] {
  const [was, is] = [isFile(before), isFile(after)];
  if (!was && !is) return [];
  return [{ path, status: was ? (is ? "changed" : "removed") : "added" }];
}

function isFile(entry: Entry | undefined): boolean {
  return entry !== undefined && entry.type !== "folder" && entry.type !== "absent";
}
