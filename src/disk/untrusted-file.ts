/** Reads and creates files in folders where hostile programs may write: safe against links, pipes and huge files. */

import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  rmSync,
  unlinkSync,
} from "node:fs";

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
const mostBytes = 4 * 1024 * 1024;

/** Returns the text of a regular file with one name, of at most 4 MB; undefined for anything else. */
export function readUntrusted(path: string): string | undefined {
  return textOf(path, { isPart: false });
}

/** Returns the first 4 MB of a regular file with one name; undefined for anything else. */
export function readUntrustedStart(path: string): string | undefined {
  return textOf(path, { isPart: true });
}

function textOf(path: string, { isPart }: { isPart: boolean }): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size, nlink } = fstatSync(file);
    if (!fstatSync(file).isFile() || nlink !== 1) return undefined;
    if (size > mostBytes && !isPart) return undefined;
    const bytes = Buffer.alloc(Math.min(size, mostBytes));
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Attempts to put a file where a program puts something else again and again. */
const attempts = 10;

/** Creates an empty file, 0600, unless one exists. Anything else of that name is removed first. */
export function prepareUntrusted(path: string): void {
  for (let attempt = 1; attempt < attempts; attempt++) {
    try {
      makeFile(path);
      return;
    } catch {
      rmSync(path, { recursive: true, force: true });
    }
  }
  makeFile(path);
}

function makeFile(path: string): void {
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is no file`);
  } finally {
    closeSync(file);
  }
}

/** Empties a regular file with one name; anything else is left as it is. */
export function emptyUntrusted(path: string): void {
  let file: number | undefined;
  try {
    file = openSync(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fstatSync(file);
    if (stats.isFile() && stats.nlink === 1 && stats.size > 0) ftruncateSync(file);
  } catch {
    // No file that could be emptied.
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Removes a name, whatever it stands for; nothing when it is gone. */
export function removeUntrusted(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // A folder, or nothing: slower, since it looks first.
    rmSync(path, { recursive: true, force: true });
  }
}
