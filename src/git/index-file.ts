/** Reads paths from git's index: all, and those that are repositories of their own. Format: gitformat-index(5). Pure. */

const header = 12;
const gitlink = 0o160000;

/** Returns the paths of the submodules. Throws when the index has an unknown format that may hold one. */
export function gitlinks(index: Buffer): string[] {
  if (!index.includes(Buffer.from([0, 0, gitlink >> 8, 0]))) return [];
  return entriesOf(index).flatMap(({ mode, path }) => (mode === gitlink ? [path] : []));
}

/** Returns the paths of all entries. Throws when the index has an unknown format. */
export function indexedPaths(index: Buffer): string[] {
  return entriesOf(index).map(({ path }) => path);
}

function entriesOf(index: Buffer): { mode: number; path: string }[] {
  const version = index.readUInt32BE(4);
  if (index.toString("latin1", 0, 4) !== "DIRC" || version < 2 || version > 4)
    throw new Error("the index has an unknown form");
  if (index.readUInt32BE(8) === 0) return [];
  const entries: { mode: number; path: string }[] = [];
  let path = "";
  let at = header;
  const idBytes = idLength(index, version);
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const mode = index.readUInt32BE(at + 24);
    const flags = index.readUInt16BE(at + 40 + idBytes);
    const start = at + 42 + idBytes + (version > 2 && flags & 0x4000 ? 2 : 0);
    const entry = version === 4 ? unpacked(index, start, path) : named(index, at, start);
    path = entry.path;
    at = entry.next;
    entries.push({ mode, path });
  }
  return entries;
}

/** Returns the length of object ids: 20 bytes, or 32 when the first entry makes no sense with 20. */
function idLength(index: Buffer, version: number): number {
  for (const length of [20, 32]) {
    const flags = index.readUInt16BE(header + 40 + length);
    const start = header + 42 + length + (version > 2 && flags & 0x4000 ? 2 : 0) + (version === 4 ? 1 : 0);
    const end = index.indexOf(0, start);
    if (end - start === Math.min(flags & 0xfff, 0xfff) || (flags & 0xfff) === 0xfff) return length;
  }
  throw new Error("the index has an unknown form");
}

type Entry = { path: string; next: number };

function named(index: Buffer, at: number, start: number): Entry {
  const end = index.indexOf(0, start);
  // Padded with NULs to a multiple of eight bytes.
  return { path: index.toString("utf8", start, end), next: at + Math.ceil((end - at + 1) / 8) * 8 };
}

/** Unpacks a path of version 4, which says how many bytes of the previous one to drop. */
function unpacked(index: Buffer, start: number, before: string): Entry {
  let at = start;
  let lacking = index.readUInt8(at) & 0x7f;
  while (index.readUInt8(at) & 0x80) {
    at += 1;
    lacking = ((lacking + 1) << 7) | (index.readUInt8(at) & 0x7f);
  }
  const end = index.indexOf(0, at + 1);
  const fixed = Buffer.from(before);
  const path = Buffer.concat([fixed.subarray(0, fixed.length - lacking), index.subarray(at + 1, end)]);
  return { path: path.toString("utf8"), next: end + 1 };
}
