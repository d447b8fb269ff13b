/** Tells which of some names exist, and looks at a folder again only when something can have been added to it. */

import { lstatSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * File systems that give a folder a new change time with each name, which no program can set: ext2 to ext4, XFS, Btrfs,
 * tmpfs, overlay. By `f_type` of statfs(2).
 */
const exact = new Set([0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630]);
/** Milliseconds in which a folder can change twice under one change time: ext3 counts whole seconds. */
const settledMs = 2500;

type Seen = { stamp: string; present: readonly string[] };

/** Returns a function that lists those of `paths` (absolute) that exist. Between two calls it remembers folders. */
export function presentNames(paths: readonly string[]): () => string[] {
  const places = Map.groupBy(new Set(paths), dirname);
  const seen = new Map<string, Seen>();
  const isExact = exactnessByDevice();
  const look = (folder: string, names: readonly string[]): readonly string[] => {
    const stamp = stampOf(folder, isExact);
    const known = seen.get(folder);
    if (known && known.stamp === stamp) return known.present;
    const present = names.filter(isThere);
    if (stamp === undefined) seen.delete(folder);
    else seen.set(folder, { stamp, present });
    return present;
  };
  return () => [...places].flatMap(([folder, names]) => look(folder, names));
}

/** Remembers by whose stamp a folder was judged last: its own, or, while it is missing, that of `at` above it. */
type Told = { at: string; stamp: string | undefined; isMissing: boolean };

/**
 * Returns a function that lists those of `paths` in whose folder a name may have been added or taken away since its last
 * call.
 */
export function pathsInChanged(paths: readonly string[]): () => string[] {
  const places = Map.groupBy(new Set(paths), dirname);
  const told = new Map<string, Told>();
  const stampOf = folderStamp();
  return () => {
    const stampNow = memoized(stampOf);
    return [...places].flatMap(([folder, names]) => {
      const before = told.get(folder);
      const stamp = before && stampNow(before.at);
      if (stamp !== undefined && stamp === before?.stamp) return [];
      const now = toldOf(folder, stampNow);
      told.set(folder, now);
      return before?.isMissing && now.isMissing ? [] : names;
    });
  };
}

/** Looks for the lowest folder above a missing one, whose stamp changes before anything can appear in that one. */
function toldOf(folder: string, stampNow: (folder: string) => string | undefined): Told {
  const own = stampNow(folder);
  if (own !== gone) return { at: folder, stamp: own, isMissing: false };
  let [name, at] = [folder, dirname(folder)];
  while (stampNow(at) === gone) [name, at] = [at, dirname(at)];
  // A link that leads nowhere can lead somewhere at any time. The stamp is older than this look for the name.
  return isThere(name)
    ? { at: folder, stamp: undefined, isMissing: true }
    : { at, stamp: stampNow(at), isMissing: true };
}

function memoized(stampOf: (folder: string) => string | undefined): (folder: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (folder) => {
    if (!known.has(folder)) known.set(folder, stampOf(folder));
    return known.get(folder);
  };
}

/** Returns a function that gives what changes with each name in a folder; undefined where nothing does for certain. */
export function folderStamp(): (folder: string) => string | undefined {
  const isExact = exactnessByDevice();
  return (folder) => stampOf(folder, isExact);
}

/** The stamp of a folder that is missing. */
const gone = "gone";

/** Returns what changes with each name that is added or removed; undefined where nothing does for certain. */
function stampOf(folder: string, isExact: Exactness): string | undefined {
  const now = Date.now();
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return gone;
    const { dev, ino, ctimeMs } = stats;
    // Nor where the clock was set back.
    return now - ctimeMs > settledMs && isExact(folder, dev) ? `${dev} ${ino} ${ctimeMs}` : undefined;
  } catch {
    return undefined;
  }
}

type Exactness = (folder: string, device: number) => boolean;

function exactnessByDevice(): Exactness {
  const known = new Map<number, boolean>();
  return (folder, device) => {
    const isKnown = known.get(device) ?? exact.has(statfsSync(folder).type);
    known.set(device, isKnown);
    return isKnown;
  };
}

/** Returns true for anything of that name, also a link that leads nowhere. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
