/** Takes snapshots: compares the folders with the journal, and writes down the difference. */

import { gitPosition } from "../git/refs.ts";
import { capture } from "./capture.ts";
import { type Entry, type FileSnapshot, isSame, type State, stateAt, wasLookedAt } from "./history.ts";
import { type Journal, openJournal } from "./journal.ts";
import { createScanner, type Seen, statusOf } from "./scan.ts";

/** Maximum bytes of contents that a session keeps. */
const mostBytes = 512 * 1024 * 1024;

type Options = {
  folder: string;
  roots: readonly string[];
  except: readonly string[];
  warn(text: string): void;
};

type About = Pick<FileSnapshot, "at" | "kind" | "turn" | "label" | "to">;

export type Recorder = {
  journal: Journal;
  /** The content of the folders at the last snapshot. */
  recorded: State;
  /** Returns the snapshot that would be taken now. `room`: bytes that may be read, unlimited by default. */
  draft(about: About, named?: readonly string[], room?: number): Promise<FileSnapshot>;
  append(snapshot: FileSnapshot): void;
  /** Returns true when the last snapshot could undo a change of this path. */
  covers(path: string): boolean;
};

/** Opens the snapshots in `folder` to add to them. Throws when the disk refuses. */
export function openRecorder({ folder, roots: given, except, warn }: Options): Recorder {
  const journal = openJournal(folder);
  const roots = [...new Set([...(journal.snapshots.at(-1)?.roots ?? []), ...given])];
  const scanner = createScanner({ roots, except });
  const recorded = stateAt(journal.snapshots, journal.snapshots.length);
  const watched = new Set(journal.snapshots.flatMap(({ named }) => named));
  let known: State = recorded;
  let whole = true;

  /** Limits the snapshots to known files and those that edits name, when there is too much to read. */
  const narrow = (why: string): void => {
    whole = false;
    warn(`${roots.join(", ")}: ${why}: undo covers the files that edits name, not what commands change`);
  };

  const scanNow = async (room: number): Promise<ReadonlyMap<string, Entry>> => {
    const seen = whole ? await scanner.scan() : undefined;
    if (whole && !seen) narrow("too many files to keep snapshots of");
    const from = { seen: seen ?? seenAgain(recorded), known, named: [...watched], journal };
    const entries = await capture(from, Math.min(room, mostBytes - journal.size()));
    if (entries) return entries;
    if (Number.isFinite(room)) return recorded;
    narrow("too large to keep snapshots of");
    return scanNow(room);
  };

  return {
    journal,
    recorded,
    async draft(about, named = [], room = Number.POSITIVE_INFINITY) {
      for (const path of named) watched.add(path);
      known = await scanNow(room);
      const n = journal.snapshots.length;
      const git = gitPosition(roots[0] ?? "/");
      return { n, ...about, roots, git, named: [...named], changes: differences(recorded, known) };
    },
    append(snapshot) {
      journal.append(snapshot);
      for (const [path, entry] of Object.entries(snapshot.changes)) {
        if (entry) recorded.set(path, entry);
        else recorded.delete(path);
      }
    },
    covers(path) {
      const entry = recorded.get(path);
      return entry ? entry.type !== "unkept" : wasLookedAt(recorded, path);
    },
  };
}

function seenAgain(recorded: State): Seen {
  const seen: Seen = new Map();
  for (const [path, entry] of recorded) {
    const status = statusOf(path);
    if (entry.type === "unkept" && entry.size === undefined) seen.set(path, undefined);
    else if (status) seen.set(path, status);
  }
  return seen;
}

/**
 * Includes contents that are stored again, so that a later process finds their bytes, and paths first known to be
 * absent.
 */
function differences(before: State, now: State): FileSnapshot["changes"] {
  const changes: FileSnapshot["changes"] = {};
  let met = 0;
  for (const [path, entry] of now) {
    const old = before.get(path);
    if (old) met += 1;
    if (old === entry) continue;
    const newlyStored = entry.type === "file" && (old?.type !== "file" || old.at === undefined);
    if (!old || newlyStored || !isSame(old, entry)) changes[path] = entry;
  }
  if (met === before.size) return changes;
  for (const path of before.keys()) if (!now.has(path)) changes[path] = null;
  return changes;
}
