/** Reads a sequence of snapshots: the changes, their time and author, and the target of an undo. Pure. */

import type { GitPosition } from "../git/refs.ts";

/** One entry of a folder. `changed`: when its status changed, in milliseconds since 1970. */
export type Entry =
  | {
      type: "file";
      mode: number;
      size: number;
      hash: string;
      changed: number;
      inode: number;
      /** True when read so soon after a change that another one may have the same time. */
      fresh?: true;
      /** Offset of its bytes in the contents; absent when they are not stored. */
      at?: number;
    }
  | { type: "link"; target: string }
  | { type: "folder"; mode: number }
  /**
   * Exists, but its content is not kept: too large, unreadable, or a cache. For a file, its size and time of change.
   */
  | { type: "unkept"; size?: number; changed?: number }
  /** Known not to exist, where the folder around it is not looked into. */
  | { type: "absent" };

/** The content of folders, by absolute path. */
export type State = ReadonlyMap<string, Entry>;

export type FileSnapshot = {
  n: number;
  /** Milliseconds since 1970. */
  at: number;
  /** `step`: before a step that writes. `end`: after the running work. `undo`: before files were restored. */
  kind: "step" | "end" | "undo";
  /** Seq of the user message of the turn. */
  turn: number;
  /** The call that was about to run. */
  label: string;
  /** For an undo: the snapshot that it restores. */
  to?: number;
  /** Folders that were scanned, and paths that were read wherever they lie. */
  roots: string[];
  named: string[];
  /** HEAD and stash of the first root. */
  git: GitPosition;
  /** Differences from the previous snapshot; null: the path is gone. */
  changes: Record<string, Entry | null>;
};

export type Change = { path: string; before: Entry | undefined; after: Entry | undefined };

/** Returns the content of the folders as far as snapshot `n` knows it. */
export function stateAt(snapshots: readonly FileSnapshot[], n: number): Map<string, Entry> {
  const state = new Map<string, Entry>();
  for (const snapshot of snapshots.slice(0, n + 1)) applyTo(state, snapshot);
  return state;
}

/**
 * Returns the same with entries that were first seen later but had not changed since: they were like that at `n` too.
 */
export function knownAt(snapshots: readonly FileSnapshot[], n: number): Map<string, Entry> {
  const known = stateAt(snapshots, n);
  const state = stateAt(snapshots, n);
  for (const snapshot of snapshots.slice(n + 1)) {
    for (const [path, entry] of Object.entries(snapshot.changes)) {
      const old = known.get(path);
      const unknown = old === undefined || old.type === "unkept";
      if (entry && unknown && isNews(state, path, entry)) known.set(path, entry);
    }
    applyTo(state, snapshot);
  }
  return known;
}

function applyTo(state: Map<string, Entry>, { changes }: FileSnapshot): void {
  for (const [path, entry] of Object.entries(changes)) {
    if (entry) state.set(path, entry);
    else state.delete(path);
  }
}

/** Returns for each snapshot the changes since the one before; none for the first. */
export function changesOf(snapshots: readonly FileSnapshot[]): Change[][] {
  const state = new Map<string, Entry>();
  return snapshots.map((snapshot, index) => {
    const found = Object.entries(snapshot.changes).flatMap(([path, entry]): Change[] => {
      const [before, after] = [state.get(path), entry ?? undefined];
      const changed = index > 0 && !isSame(before, after) && !(after && isNews(state, path, after));
      return changed ? [{ path, before, after }] : [];
    });
    applyTo(state, snapshot);
    return found;
  });
}

/** Returns false for an entry that did not appear or change, but only came into view. */
function isNews(state: State, path: string, after: Entry): boolean {
  const before = state.get(path);
  return before === undefined ? !wasLookedAt(state, path) : before.type === "unkept" && isSame(before, after);
}

/** Returns true when `state` would have shown something at `path`: the folder around it was looked into. */
export function wasLookedAt(state: State, path: string): boolean {
  if (state.get(path)) return true;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const ancestor = state.get(path.slice(0, end));
    if (ancestor) return ancestor.type !== "unkept";
  }
  return false;
}

/** Returns true for entries of the same kind with the same content and mode, as far as known. */
export function isSame(entry: Entry | undefined, other: Entry | undefined): boolean {
  const [a, b] = [entry ?? { type: "absent" as const }, other ?? { type: "absent" as const }];
  if (a.type === "file" && b.type === "file") return a.hash === b.hash && a.mode === b.mode;
  if (a.type === "link" && b.type === "link") return a.target === b.target;
  if (a.type === "folder" && b.type === "folder") return a.mode === b.mode;
  if (a.type === "unkept" && b.type !== "unkept") return isSame(b, a);
  if (b.type === "unkept" && (a.type === "unkept" || a.type === "file"))
    return a.size === b.size && a.changed === b.changed;
  return a.type === b.type;
}

/**
 * Returns paths that the session changed after snapshot `from`, in steps and in undos. `byOthers`: those that somebody
 * else changed as well, while no step was running.
 */
export function changedSince(
  snapshots: readonly FileSnapshot[],
  from: number,
): { paths: string[]; byOthers: Set<string> } {
  const ours = new Set<string>();
  const others = new Set<string>();
  for (const [index, changes] of changesOf(snapshots).entries()) {
    if (index <= from) continue;
    const during = snapshots[index - 1]?.kind === "end" ? others : ours;
    for (const { path } of changes) during.add(path);
  }
  return { paths: [...ours], byOthers: others };
}

/**
 * Returns the first snapshot of the last turn that changed something and is not undone; undefined when there is none.
 * `changes`: from `changesOf`.
 */
export function lastTurn(
  snapshots: readonly FileSnapshot[],
  changes: readonly Change[][],
): number | undefined {
  return standing(snapshots, changes, snapshots.length).at(-1);
}

/**
 * Returns the first snapshots of the turns whose changes are in effect before snapshot `end`; an undo of an undo
 * restores turns.
 */
function standing(snapshots: readonly FileSnapshot[], changes: readonly Change[][], end: number): number[] {
  let turns: number[] = [];
  for (const { n, kind, turn, to } of snapshots.slice(0, end)) {
    const changed = kind === "step" && (changes[n + 1]?.length ?? 0) > 0;
    if (changed) {
      const first = snapshots.findIndex((other) => other.kind === "step" && other.turn === turn);
      if (turns.at(-1) !== first) turns.push(first);
    }
    if (kind !== "undo" || to === undefined) continue;
    turns =
      snapshots[to]?.kind === "undo" ? standing(snapshots, changes, to) : turns.filter((first) => first < to);
  }
  return turns;
}

/** Returns the last undo, unless something was changed or undone since. */
export function lastUndo(snapshots: readonly FileSnapshot[]): number | undefined {
  const last = snapshots.findLast(({ kind }) => kind !== "end");
  return last?.kind === "undo" ? last.n : undefined;
}
