/** Writes that a crash cannot cut in half: a reader finds the old content or the new. */

import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { errorCode, realTarget } from "./real-path.ts";

/**
 * Writes a file of our own, for its owner only, and forces it to the disk. A link at `path` is replaced, not followed.
 * Throws the system's error; the old file is then unchanged.
 */
export function replaceFile(path: string, content: string | Uint8Array): void {
  replaceWith(path, (temporary) => writeNew(temporary, content, 0o600));
}

/**
 * Writes to a path that the user named: links are followed, and an existing file keeps its mode and its other names.
 * What is not a regular file, such as /dev/stdout, is written to. `mode`: of a new file, less the umask. Throws the
 * system's error.
 */
export function saveFile(path: string, content: string | Uint8Array, mode = 0o666): void {
  const old = statSync(path, { throwIfNoEntry: false });
  if (old && (!old.isFile() || old.nlink > 1)) {
    writeFileSync(path, content);
    return;
  }
  try {
    replaceWith(realTarget(path), (temporary) => {
      writeNew(temporary, content, mode);
      if (old) chmodSync(temporary, old.mode & 0o7777);
    });
  } catch (error) {
    // A file may be writable in a folder that is not, or be a mount point.
    if (!old || !["EACCES", "EPERM", "EBUSY", "EXDEV"].includes(errorCode(error) ?? "")) throw error;
    writeFileSync(path, content);
  }
}

/**
 * Puts what `make` creates at the path it is given in the place of `path`. Throws what `make` throws, or the system's
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

/** Appends a line, for the file's owner only. A last line that a crash cut is ended first. Throws the system's error. */
export function appendLine(file: string, line: string): void {
  const fd = openSync(file, "a+", 0o600);
  try {
    writeFileSync(fd, `${endsInLine(fd) ? "" : "\n"}${line}\n`);
    fsyncSync(fd);
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
  return `.sawtooth-${process.pid}-${randomBytes(8).toString("hex")}.tmp`;
}

/** Returns the process that made a file with such a name; undefined for other names. */
export function makerOf(name: string): number | undefined {
  const [, pid] = /^\.sawtooth-(\d+)-[0-9a-f]{16}\.tmp$/.exec(name) ?? [];
  return pid === undefined ? undefined : Number(pid);
}
