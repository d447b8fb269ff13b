/** A file as the editor reads it: bytes, text, encoding, line endings, and a hash that reveals changes. */

import { hash } from "node:crypto";
import { closeSync, fstatSync, readFile } from "node:fs";
import { promisify } from "node:util";
import { openInPlace } from "../../../disk/pinned-folder.ts";
import { Refusal } from "../refusal.ts";
import { type Decoded, decode } from "./encoding.ts";
import { type Endings, endingsOf } from "./line-endings.ts";

/** Larger files are not read whole. */
const maxFileBytes = 64 * 1024 * 1024;

/** A file's bytes. `path` is absolute with links resolved. */
export type RawFile = { path: string; bytes: Buffer; hash: string };
export type TextFile = RawFile & Decoded & { endings: Endings };

/** Reads a file. Throws a Refusal when it is not a regular file or too large, and the system's error otherwise. */
export async function readRaw(path: string): Promise<RawFile> {
  const fd = openInPlace(path);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile()) throw new Refusal(`${path} is not a regular file.`);
    if (stats.size > maxFileBytes) {
      const size = Math.round(stats.size / 1024 / 1024);
      throw new Refusal(
        `${path} is ${size} MB, too large for the editor. Use bash: grep -n, sed -n, head, tail.`,
      );
    }
    const bytes = await bytesOf(fd);
    return { path, bytes, hash: hash("sha256", bytes) };
  } finally {
    closeSync(fd);
  }
}

/** Reads an open file in the background. */
const bytesOf: (fd: number) => Promise<Buffer> = promisify(readFile);

export async function asText(raw: RawFile): Promise<TextFile> {
  const decoded = await decode(raw.bytes);
  return { ...raw, ...decoded, endings: endingsOf(decoded.text) };
}
