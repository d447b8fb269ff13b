/** What a row of snapshots says: what changed when and by whom, and what an undo goes back to. Pure. */

import type { GitPlace } from "../git/refs.ts";

/** One thing in a folder. `changed`: when its status changed, in milliseconds since 1970. */
export type Entry =
  | {
      type: "file";
      mode: number;
      size: number;
      hash: string;
      changed: number;
      inode: number;
      /** Read so soon after a change that another one may have the same time. */
      fresh?: true;
      /** Where its bytes begin in the contents; without it they are not held. */
      at?: number;
    }
  | { type: "link"; target: string }
  | { type: "folder"; mode: number }
  /** There, but not what is in it: too large, unreadable, or a cache. Of a file the size and time of change. */
  | { type: "unkept"; size?: number; changed?: number }
  /** Known not to be there, where the folder around it is not looked into. */
  | { type: "absent" };

/** What folders hold, by absolute path. */
export type State = ReadonlyMap<string, Entry>;

export type FileSnapshot = {
  n: number;
  /** Milliseconds since 1970. */
  at: number;
  /** `step`: before a step that writes. `end`: after what was under way. `undo`: before files were restored. */
  kind: "step" | "end" | "undo";
  /** Seq of the user message of the turn. */
  turn: number;
  /** What was about to run. */
  label: string;
  /** Of an undo: the snapshot that it goes back to. */
  to?: number;
  /** Folders that were looked through, and paths that were looked at wherever they lie. */
  roots: string[];
  named: string[];
  /** Of the first root. */
  git: GitPlace;
  /** What differs from the snapshot before; null: nothing of it is left. */
  changes: Record<string, Entry | null>;
};

export type Change = { path: string; before: Entry | undefined; after: Entry | undefined };

/** What the folders held as far as snapshot `n` tells. */
export function stateAt(snapshots: readonly FileSnapshot[], n: number): Map<string, Entry> {
  const state = new Map<string, Entry>();
  for (const snapshot of snapshots.slice(0, n + 1)) applyTo(state, snapshot);
  return state;
}

/** The same with what was seen only later, but had not changed between: it was like that at `n` as well. */
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

/** For each snapshot what became different since the one before it; nothing for the first, which only begins. */
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

/** Whether this does not come into being or change, it only comes into sight. */
function isNews(state: State, path: string, after: Entry): boolean {
  const before = state.get(path);
  return before === undefined ? !wasLookedAt(state, path) : before.type === "unkept" && isSame(before, after);
}

/** Whether `state` would have told of something at `path`: the folder around it was looked into. */
export function wasLookedAt(state: State, path: string): boolean {
  if (state.get(path)) return true;
  for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
    const around = state.get(path.slice(0, end));
    if (around) return around.type !== "unkept";
  }
  return false;
}

/** The same kind of thing with the same content and mode, as far as that is known. */
export function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  const [a, b] = [one ?? { type: "absent" as const }, other ?? { type: "absent" as const }];
  if (a.type === "file" && b.type === "file") return a.hash === b.hash && a.mode === b.mode;
  if (a.type === "link" && b.type === "link") return a.target === b.target;
  if (a.type === "folder" && b.type === "folder") return a.mode === b.mode;
  if (a.type === "unkept" && b.type !== "unkept") return isSame(b, a);
  if (b.type === "unkept" && (a.type === "unkept" || a.type === "file"))
    return a.size === b.size && a.changed === b.changed;
  return a.type === b.type;
}

/**
 * Paths that the session changed after snapshot `from`, in steps and in undos. `byOthers`: those of them that
 * somebody else changed as well, while no step was under way.
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
 * The first snapshot of the last turn that changed something and is not undone; undefined when there is none.
 * `changes`: as `changesOf` tells.
 */
export function lastTurn(
  snapshots: readonly FileSnapshot[],
  changes: readonly Change[][],
): number | undefined {
  return standing(snapshots, changes, snapshots.length).at(-1);
}

/** First snapshots of the turns whose changes stand before snapshot `end`; an undo of an undo brings turns back. */
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

/** The last undo, unless something was changed or undone since. */
export function lastUndo(snapshots: readonly FileSnapshot[]): number | undefined {
  const last = snapshots.findLast(({ kind }) => kind !== "end");
  return last?.kind === "undo" ? last.n : undefined;
}
