/** Writes files atomically: after a crash a reader finds either the old content or the new. */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { insideFolder, openEntry, type PinnedFolder } from "./pinned-folder.ts";
import { ownName } from "./process-name.ts";
import { errorCode, realTarget } from "./real-path.ts";

/**
 * Writes one of Sawtooth's own files, 0600, and syncs it to disk. A link at `path` is replaced, not followed.
 * Throws the system's error; the old file is then unchanged.
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  replaceWith(path, (temporary) => writeNew(temporary, content, 0o600));
}

type OutputOptions = { mode?: number; make?: boolean };

/** Writes to a path that the user named, as `outputFile` does, at once. Throws the system's error. */
export function saveFile(path: string, content: string | Uint8Array, options?: OutputOptions): void {
  outputFile(path, options)(content);
}

/**
 * Returns a way to write to a path that the user named, where it leads now: its links are followed, but none that takes
 * its place later. An existing file keeps its mode and its hard links, and anything but a regular file, such as
 * /dev/stdout, is written to. `mode`: of a new file, less the umask. `make`: missing folders are made. Both throw the
 * system's error, and writing throws `PathMoved`.
 */
export function outputFile(
  path: string,
  { mode = 0o666, make = true }: OutputOptions = {},
): (content: string | Uint8Array) => void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) return (content) => writeFileSync(path, content);
  const real = realTarget(path);
  return (content) => insideFolder(real, (folder, name) => save({ folder, name }, content, mode), { make });
}

type Entry = { folder: PinnedFolder; name: string };

function save(entry: Entry, content: string | Uint8Array, mode: number): void {
  const path = entry.folder.at(entry.name);
  const old = lstatSync(path, { throwIfNoEntry: false });
  try {
    // A link created since the path was resolved is replaced.
    if (old && !old.isSymbolicLink() && (!old.isFile() || old.nlink > 1)) writeInPlace(entry, content);
    else
      replaceWith(path, (temporary) => {
        writeNew(temporary, content, mode);
        if (old?.isFile()) chmodSync(temporary, old.mode & 0o7777);
      });
  } catch (error) {
    // A file may be writable in a folder that is not, or be a mount point.
    if (!old || !["EACCES", "EPERM", "EBUSY", "EXDEV"].includes(errorCode(error) ?? "")) throw error;
    writeInPlace(entry, content);
  }
}

function writeInPlace({ folder, name }: Entry, content: string | Uint8Array): void {
  const fd = openEntry(folder, name, constants.O_WRONLY | constants.O_TRUNC);
  try {
    writeFileSync(fd, content);
  } finally {
    closeSync(fd);
  }
}

/**
 * Replaces `path` with what `make` creates at the temporary path it gets. Throws what `make` throws, or the system's
 * error, with `path` unchanged and nothing left beside it.
 */
export function replaceWith<T extends void | Promise<void>>(path: string, make: (temporary: string) => T): T {
  const temporary = join(dirname(path), temporaryName());
  const giveUp = (error: unknown): never => {
    rmSync(temporary, { force: true });
    throw error;
  };
  try {
    const made = make(temporary);
    if (made instanceof Promise) return made.then(() => renameSync(temporary, path)).catch(giveUp) as T;
    renameSync(temporary, path);
    return made;
  } catch (error) {
    return giveUp(error);
  }
}

/**
 * Appends a line to a file, 0600, after ending a last line that a crash cut off, and syncs it to disk. Throws the
 * system's error, with the file as it was.
 */
export function appendLine(file: string, line: string): void {
  const fd = openSync(file, "a+", 0o600);
  const { size } = fstatSync(fd);
  try {
    writeFileSync(fd, `${endsInLine(fd) ? "" : "\n"}${line}\n`);
    fsyncSync(fd);
  } catch (error) {
    // Part of it may have fitted the disk.
    if (fstatSync(fd).isFile()) ftruncateSync(fd, size);
    throw error;
  } finally {
    closeSync(fd);
  }
}

function endsInLine(fd: number): boolean {
  const { size } = fstatSync(fd);
  const last = Buffer.alloc(1);
  return size === 0 || (readSync(fd, last, 0, 1, size - 1) === 1 && last[0] === 10);
}

function writeNew(path: string, content: string | Uint8Array, mode: number): void {
  const fd = openSync(path, "wx", mode);
  try {
    writeFileSync(fd, content);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Returns a name for a file that exists only while another is written. */
export function temporaryName(): string {
  return `.sawtooth-${ownName()}-${randomBytes(8).toString("hex")}.tmp`;
}

/** Returns the `ownName` of the process that made a file with such a name; undefined for other names. */
export function makerOf(name: string): string | undefined {
  return /^\.sawtooth-([0-9a-f]{12}\.\d+\.\d+)-[0-9a-f]{16}\.tmp$/.exec(name)?.[1];
}
