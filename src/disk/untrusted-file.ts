/** Reads and creates files in folders where hostile programs may write: safe against links, pipes and huge files. */

import { closeSync, constants, fstatSync, openSync, readSync, rmSync, unlinkSync } from "node:fs";

const { O_RDONLY, O_WRONLY, O_CREAT, O_APPEND, O_NOFOLLOW, O_NONBLOCK } = constants;
const mostBytes = 4 * 1024 * 1024;

/** Returns the text of a regular file with one name, of at most 4 MB; undefined for anything else. */
export function readUntrusted(path: string): string | undefined {
  let file: number | undefined;
  try {
    file = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const { size, nlink } = fstatSync(file);
    if (!fstatSync(file).isFile() || nlink !== 1 || size > mostBytes) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, size, 0));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** Creates an empty file, 0600, unless one exists. Anything else of that name is removed first. */
export function prepareUntrusted(path: string): void {
  try {
    makeFile(path);
  } catch {
    rmSync(path, { recursive: true, force: true });
    makeFile(path);
  }
}

function makeFile(path: string): void {
  const file = openSync(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    if (!fstatSync(file).isFile()) throw new Error(`${path} is no file`);
  } finally {
    closeSync(file);
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
