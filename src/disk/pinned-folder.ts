/**
 * Folders held open by descriptor: operations land in the folder even if another program swaps it for a link.
 * With /proc nothing can come between. On macOS the folder's number on its disk takes the place of the descriptor;
 * without either, the path is checked again before each use, which leaves a moment.
 */

import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { errorCode } from "./real-path.ts";

/** Thrown when a path leads elsewhere than when it was approved. */
export class PathMoved extends Error {
  override readonly name = "PathMoved";
  readonly exitCode = 1;

  constructor(path: string) {
    super(`${path} leads elsewhere than when this was approved: something was swapped for a link meanwhile`);
  }
}

export type PinnedFolder = {
  /** The real path that it was pinned at. */
  path: string;
  /** Returns a path to the entry `name` of the folder. The entry may be a link: open it with `O_NOFOLLOW`. */
  at(name: string): string;
  /** Returns a path to the folder itself. */
  self(): string;
  close(): void;
};

/** `O_PATH` opens a folder even without permission to list it. Only Linux has it, and Node has no constant for it. */
const placeOnly = process.platform === "linux" ? 0o10000000 : 0;
const asFolder = placeOnly | constants.O_RDONLY | constants.O_DIRECTORY;

/**
 * Pins the folder at `path`, absolute and with its links resolved. `make`: missing folders are made, each inside the
 * pinned one above it. Throws `PathMoved`, or the system's error.
 */
export function pinFolder(path: string, { make = false } = {}): PinnedFolder {
  try {
    return pinned(path, openFolder(path, path));
  } catch (error) {
    if (!make || errorCode(error) !== "ENOENT" || dirname(path) === path) throw error;
  }
  const above = pinFolder(dirname(path), { make });
  try {
    makeFolder(above.at(basename(path)));
    return pinned(path, openFolder(above.at(basename(path)), path));
  } finally {
    above.close();
  }
}

/** Pins the folder around `path`, calls `work` with it and the path's last part, and closes it. As `pinFolder`. */
export function insideFolder<T>(
  path: string,
  work: (folder: PinnedFolder, name: string) => T,
  { make = false } = {},
): T {
  const folder = pinFolder(dirname(path), { make });
  let waits = false;
  try {
    const done = work(folder, basename(path));
    if (!(done instanceof Promise)) return done;
    waits = true;
    return done.finally(() => folder.close()) as T;
  } finally {
    if (!waits) folder.close();
  }
}

/**
 * Opens a file in place, never through a link and without waiting for a pipe's other end. `path`: absolute, with
 * its links resolved. Throws `PathMoved`, or the system's error. Close the descriptor.
 */
export function openInPlace(path: string): number {
  return inPlace(withoutLink(path, path, constants.O_RDONLY | constants.O_NONBLOCK), path);
}

/**
 * Opens `name` in a pinned folder, never a link. `flags`: as in `open(2)`. Throws `PathMoved` or the system's error.
 */
export function openEntry(folder: PinnedFolder, name: string, flags: number): number {
  return withoutLink(folder.at(name), join(folder.path, name), flags);
}

/** Checks that an open file or folder lies where `path` said, after every link was followed. Throws `PathMoved`. */
function checkPlace(fd: number, path: string): void {
  if (!isSamePlace(fd, path)) throw new PathMoved(path);
}

function openFolder(way: string, path: string): number {
  return inPlace(withoutLink(way, path, asFolder), path);
}

/** Returns the descriptor when it lies where `path` said; closes it and throws `PathMoved` when it does not. */
function inPlace(fd: number, path: string): number {
  try {
    checkPlace(fd, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

/** Opens a path and reports a link as `PathMoved`: there was none when `path` was resolved. */
function withoutLink(way: string, path: string, flags: number): number {
  try {
    return openSync(way, flags | constants.O_NOFOLLOW);
  } catch (error) {
    // With `O_DIRECTORY` a link fails with ENOTDIR.
    if (["ELOOP", "ENOTDIR"].includes(errorCode(error) ?? "") && isLink(way)) throw new PathMoved(path);
    throw error;
  }
}

function isLink(path: string): boolean {
  try {
    readlinkSync(path);
    return true;
  } catch {
    return false;
  }
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  }
}

function pinned(path: string, fd: number): PinnedFolder {
  const self = (): string => wayThrough(fd) ?? checked(fd, path);
  return { path, self, at: (name) => `${self()}/${name}`, close: () => closeSync(fd) };
}

/** Returns a path by which the kernel reaches the open folder itself; undefined where there is none. */
function wayThrough(fd: number): string | undefined {
  if (process.platform === "linux") return placeOf(fd) === undefined ? undefined : `/proc/self/fd/${fd}`;
  if (process.platform !== "darwin") return undefined;
  const { dev, ino } = fstatSync(fd);
  const numbered = `/.vol/${dev}/${ino}`;
  return isSameFile(fd, numbered) ? numbered : undefined;
}

function checked(fd: number, path: string): string {
  checkPlace(fd, path);
  return path;
}

function isSamePlace(fd: number, path: string): boolean {
  const place = placeOf(fd);
  // A case-insensitive disk reports a name in the case in which it was first written.
  if (place !== undefined) return place === path || place.toLowerCase() === path.toLowerCase();
  try {
    return realpathSync.native(path) === path && isSameFile(fd, path);
  } catch {
    return false;
  }
}

/** Returns the current path of an open file, according to the kernel; undefined without /proc. */
function placeOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function isSameFile(fd: number, path: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  const here = fstatSync(fd);
  return there?.dev === here.dev && there.ino === here.ino;
}
