/** Hashes everything that a folder holds, so that one changed byte makes another hash. */

import { createHash, type Hash } from "node:crypto";
import { lstatSync, opendirSync, readlinkSync, realpathSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { cleanLine } from "../../core/text/clean-text.ts";
import { beginningOf } from "../../disk/beginning.ts";
import type { Skill } from "./skill.ts";

/** `files`: their paths in the folder, sorted. */
export type Contents = { hash: string; files: string[] };

const megabyte = 1024 * 1024;

type Limits = { files: number; bytes: number };
/** `refused`: a link out of the folder is an error; otherwise it counts by where it leads. */
type OutwardLinks = "outward links refused" | "outward links as such";
type Walk = { root: string; hash: Hash; files: string[]; left: Limits; limits: Limits; links: OutwardLinks };

/** Thrown with the rest of a sentence about the folder. */
class ContentError extends Error {}

/**
 * Returns the SHA-256 over the names, kinds and bytes of all files of a folder (a real path), or why it has none, as
 * the rest of a sentence. A link may lead to another file of the folder, not out of it, unless `links` says so.
 */
export function contentsOf(
  root: string,
  limits: Limits = { files: 1000, bytes: 8 * megabyte },
  links: OutwardLinks = "outward links refused",
): Contents | string {
  const walk = { root, hash: createHash("sha256"), files: [], left: { ...limits }, limits, links };
  try {
    add(root, walk);
    return { hash: walk.hash.digest("hex"), files: walk.files };
  } catch (error) {
    if (error instanceof ContentError) return error.message;
    return `a file of it cannot be read (${(error as NodeJS.ErrnoException).code ?? error})`;
  }
}

function add(folder: string, walk: Walk): void {
  for (const name of namesIn(folder, walk)) {
    const path = join(folder, name);
    const called = relative(walk.root, path);
    const stats = lstatSync(path);
    const mark = (kind: string, size: number) => walk.hash.update(`${kind}\0${called}\0${size}\0`);
    if (stats.isDirectory()) {
      mark("folder", 0);
      add(path, walk);
    } else if (stats.isSymbolicLink()) {
      if (walk.links === "outward links refused" && !`${realpathSync(path)}/`.startsWith(`${walk.root}/`))
        throw new ContentError(`it holds a link out of its folder, ${cleanLine(called)}`);
      const target = readlinkSync(path);
      mark("link", target.length).update(target);
      walk.files.push(called);
    } else if (stats.isFile()) {
      const bytes = beginningOf(path, Math.min(stats.size, walk.left.bytes) + 1);
      walk.left.bytes -= bytes.length;
      if (walk.left.bytes < 0)
        throw new ContentError(`its files are larger than ${walk.limits.bytes / megabyte} MB together`);
      mark(stats.mode & 0o111 ? "program" : "file", bytes.length).update(bytes);
      walk.files.push(called);
    } else throw new ContentError(`it holds something that is no file, ${cleanLine(called)}`);
  }
}

function namesIn(path: string, walk: Walk): string[] {
  const folder = opendirSync(path);
  try {
    const names: string[] = [];
    for (let entry = folder.readSync(); entry; entry = folder.readSync()) {
      names.push(entry.name);
      walk.left.files -= 1;
      if (walk.left.files < 0)
        throw new ContentError(`it has more than ${walk.limits.files.toLocaleString("en")} files`);
    }
    return names.sort();
  } finally {
    folder.closeSync();
  }
}

/** Returns the SHA-256 over the name and bytes of a file that stands alone. */
export function hashOfFile(path: string, bytes: Buffer): string {
  return createHash("sha256")
    .update(`${basename(path)}\0${bytes.length}\0`)
    .update(bytes)
    .digest("hex");
}

/** Returns true while a skill or command has the bytes that it had when it was read. */
export function isUnchanged({ path, folder, hash }: Skill): boolean {
  if (hash === undefined) return true;
  try {
    if (folder === undefined) return hashOfFile(path, beginningOf(path, lstatSync(path).size + 1)) === hash;
    const contents = contentsOf(folder);
    return typeof contents === "object" && contents.hash === hash;
  } catch {
    return false;
  }
}
