/**
 * Recognises files that nobody meant to write: core dumps, and empty files with garbled names that a crash may leave.
 */

import { closeSync, lstatSync, openSync, readSync } from "node:fs";

/** ELF's e_type of a core dump (elf(5)). */
const coreType = 4;

/**
 * Describes a new or changed file when it is one of these. `path`: below `root`, as bytes, one character each. `since`:
 * milliseconds; older files are ignored.
 */
export function strayKind(root: string, path: string, since: number): string | undefined {
  const bytes = Buffer.from(path, "latin1");
  const file = Buffer.concat([Buffer.from(`${root}/`), bytes]);
  const stats = lstatSync(file, { throwIfNoEntry: false });
  // File systems may round times down to a second.
  if (!stats?.isFile() || stats.mtimeMs < since - 1000) return undefined;
  if (stats.size === 0) return isGarbage(bytes) ? "an empty file with a garbled name" : undefined;
  return isCoreDump(file) ? "a core dump" : undefined;
}

/** Returns true for a name with control characters or invalid UTF-8. */
function isGarbage(name: Buffer): boolean {
  const text = name.toString("utf8");
  return /\p{Cc}|\ufffd/u.test(text);
}

function isCoreDump(file: Buffer): boolean {
  const head = Buffer.alloc(18);
  try {
    const fd = openSync(file, "r");
    try {
      if (readSync(fd, head, 0, head.length, 0) < head.length) return false;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
  if (head.toString("latin1", 0, 4) !== "\x7fELF") return false;
  // Byte 5 is the byte order: 1 is little-endian.
  return (head[5] === 1 ? head.readUInt16LE(16) : head.readUInt16BE(16)) === coreType;
}
