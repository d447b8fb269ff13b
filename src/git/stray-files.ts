/** Files that nobody meant to write: core dumps, and the empty files with garbage for a name that a crash may leave. */

import { closeSync, lstatSync, openSync, readSync } from "node:fs";

/** ELF's e_type of a core dump (elf(5)). */
const coreType = 4;

/**
 * Names what a new or changed file is when it is such a one. `path`: below `root`, as bytes, one character each.
 * `since`: milliseconds; an older file was there before and is left alone.
 */
export function strayKind(root: string, path: string, since: number): string | undefined {
  const bytes = Buffer.from(path, "latin1");
  const place = Buffer.concat([Buffer.from(`${root}/`), bytes]);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  // File systems may round times down to a second.
  if (!stats?.isFile() || stats.mtimeMs < since - 1000) return undefined;
  if (stats.size === 0) return isGarbage(bytes) ? "an empty file with a garbled name" : undefined;
  return isCoreDump(place) ? "a core dump" : undefined;
}

/** Control characters, or no UTF-8 at all. */
function isGarbage(name: Buffer): boolean {
  const text = name.toString("utf8");
  return /\p{Cc}|\ufffd/u.test(text);
}

function isCoreDump(place: Buffer): boolean {
  const head = Buffer.alloc(18);
  try {
    const fd = openSync(place, "r");
    try {
      if (readSync(fd, head, 0, head.length, 0) < head.length) return false;
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
  if (head.toString("latin1", 0, 4) !== "\x7fELF") return false;
  // Byte 5 tells the order of bytes: 1 is little-endian.
  return (head[5] === 1 ? head.readUInt16LE(16) : head.readUInt16BE(16)) === coreType;
}
