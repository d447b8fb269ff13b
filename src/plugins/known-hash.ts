/**
 * Remembers the hash of a plug-in whose files nobody touched since: a package of npm may have thousands, which every
 * start would read. A time of change is the kernel's own, so files that were written to do not look untouched.
 */

import { createHash, type Hash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { replaceFile } from "../disk/replace-file.ts";
import { mostFiles, pluginHash } from "./store.ts";

type Contents = ReturnType<typeof pluginHash>;
/** Hashes by folder, each with that of the facts about its files. */
type Known = Record<string, { facts: string; hash: string }>;

/** Fewer files are read as fast as this is looked up. */
const fewFiles = 50;
/** Nanoseconds: a file that was changed later than this before may be changed again with the same time. */
const settledNs = 2_000_000_000n;

/** Returns the same as `pluginHash`. `store`: the file that remembers. Throws `PluginError`. */
export function knownHash(folder: string, store: string): Contents {
  const looked = factsOf(folder);
  if (!looked || looked.files.length < fewFiles) return pluginHash(folder);
  const { facts, files, newest } = looked;
  const known = readKnown(store);
  const before = Object.hasOwn(known, folder) ? known[folder] : undefined;
  if (before?.facts === facts) return { hash: before.hash, files };
  const contents = pluginHash(folder);
  if (newest + settledNs < BigInt(Date.now()) * 1_000_000n)
    remember(store, { ...known, [folder]: { facts, hash: contents.hash } });
  return contents;
}

/** `newest`: the latest time of change, in nanoseconds since 1970. */
type Looked = { facts: string; files: string[]; newest: bigint };

/** Looks at each file without reading it; undefined where one cannot be looked at, or there are too many. */
function factsOf(folder: string): Looked | undefined {
  const walk = {
    root: folder,
    hash: createHash("sha256"),
    files: [] as string[],
    newest: 0n,
    left: mostFiles,
  };
  try {
    look(folder, walk);
    return { facts: walk.hash.digest("hex"), files: walk.files, newest: walk.newest };
  } catch {
    return undefined;
  }
}

type Walk = { root: string; hash: Hash; files: string[]; newest: bigint; left: number };

function look(folder: string, walk: Walk): void {
  for (const name of readdirSync(folder).sort()) {
    walk.left -= 1;
    if (walk.left < 0) throw new Error("too many");
    const path = join(folder, name);
    const { mode, size, ino, dev, mtimeNs, ctimeNs } = lstatSync(path, { bigint: true });
    const isFolder = (mode & 0o170000n) === 0o040000n;
    const called = relative(walk.root, path);
    walk.hash.update([called, mode, size, ino, dev, mtimeNs, ctimeNs, ""].join("\0"));
    if (ctimeNs > walk.newest) walk.newest = ctimeNs;
    if (isFolder) look(path, walk);
    else walk.files.push(called);
  }
}

function readKnown(store: string): Known {
  try {
    const value: unknown = JSON.parse(readFileSync(store, "utf8"));
    return typeof value === "object" && value !== null ? (value as Known) : {};
  } catch {
    return {};
  }
}

/** Never throws: without it the next start only takes longer. */
function remember(store: string, known: Known): void {
  try {
    mkdirSync(dirname(store), { recursive: true, mode: 0o700 });
    replaceFile(store, JSON.stringify(known));
  } catch {
    // A full disk ends no session.
  }
}
