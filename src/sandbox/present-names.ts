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

/**
 * Returns a function that lists those of `paths` in whose folder a name may have been added or taken away since its last
 * call.
 */
export function pathsInChanged(paths: readonly string[]): () => string[] {
  const places = Map.groupBy(new Set(paths), dirname);
  const stamps = new Map<string, string | undefined>();
  const isExact = exactnessByDevice();
  return () =>
    [...places].flatMap(([folder, names]) => {
      const stamp = stampOf(folder, isExact);
      const isSame = stamp !== undefined && stamp === stamps.get(folder);
      stamps.set(folder, stamp);
      return isSame ? [] : names;
    });
}

/** Returns what changes with each name that is added or removed; undefined where nothing does for certain. */
function stampOf(folder: string, isExact: Exactness): string | undefined {
  const now = Date.now();
  try {
    const stats = statSync(folder, { throwIfNoEntry: false });
    if (stats === undefined) return "gone";
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
