/** Reads the present content of the folders; only files that changed since the last time are read again. */

import { closeSync, fstatSync, readFileSync, type Stats } from "node:fs";
import { openInPlace } from "../disk/pinned-folder.ts";
import type { Entry, State } from "./history.ts";
import type { Journal } from "./journal.ts";
import { targetOf } from "./restore.ts";
import { racyMs, type Seen, slices, statusOf } from "./scan.ts";

/** Files above this many bytes are not kept, unless an edit names them. */
const largestFile = 10 * 1024 * 1024;
const largestNamed = 100 * 1024 * 1024;

type Capture = {
  /** Existing paths; one without a status exists, but is not looked into. */
  seen: Seen;
  /** The state known from the last time. */
  known: State;
  /** Paths to keep wherever they lie, recorded as absent when they do not exist. */
  named: readonly string[];
  journal: Journal;
};

/**
 * Returns all entries, with the contents of files stored in the journal. Undefined when that would take more than
 * `room` bytes.
 */
export async function capture(from: Capture, room: number): Promise<Map<string, Entry> | undefined> {
  const { seen, known, named, journal } = from;
  const entries = new Map<string, Entry>();
  const unread: [string, Stats][] = [];
  const look = (path: string, status: Stats | undefined, most: number): void => {
    const entry = status ? knownEntry(path, status, known.get(path), most) : { type: "unkept" as const };
    if (entry) entries.set(path, entry);
    else if (status) unread.push([path, status]);
  };
  for (const [path, status] of seen) look(path, status, largestFile);
  for (const path of named) {
    const status = statusOf(path);
    if (status) look(path, status, largestNamed);
    else if (known.has(path) || !seen.has(path)) entries.set(path, { type: "absent" });
  }
  if (unread.reduce((sum, [, { size }]) => sum + size, 0) > room) return undefined;
  const pause = slices();
  for (const [path] of unread) {
    await pause();
    entries.set(path, read(path, journal));
  }
  return entries;
}

/** Returns the entry where no byte must be read for it. */
function knownEntry(path: string, status: Stats, known: Entry | undefined, most: number): Entry | undefined {
  const mode = status.mode & 0o7777;
  if (status.isDirectory()) return { type: "folder", mode };
  if (status.isSymbolicLink()) return linkEntry(path);
  if (status.size > most) return { type: "unkept", size: status.size, changed: status.ctimeMs };
  const { ctimeMs: changed, ino: inode, size } = status;
  const same =
    known?.type === "file" &&
    known.at !== undefined &&
    !known.fresh &&
    known.changed === changed &&
    known.inode === inode &&
    known.size === size;
  return same ? known : undefined;
}

function linkEntry(path: string): Entry {
  const target = targetOf(path);
  return target === undefined ? { type: "unkept" } : { type: "link", target };
}

function read(path: string, journal: Journal): Entry {
  let fd: number;
  try {
    fd = openInPlace(path);
  } catch {
    return { type: "unkept" };
  }
  try {
    const status = fstatSync(fd);
    // Others may have put something else in its place since it was seen.
    if (!status.isFile() || status.size > largestNamed) return { type: "unkept" };
    const { mode, ctimeMs: changed, ino: inode } = status;
    const fresh = changed >= Date.now() - racyMs;
    const bytes = readFileSync(fd);
    return {
      type: "file",
      mode: mode & 0o7777,
      size: bytes.length,
      ...journal.store(bytes),
      changed,
      inode,
      ...(fresh ? { fresh } : {}),
    };
  } finally {
    closeSync(fd);
  }
}
