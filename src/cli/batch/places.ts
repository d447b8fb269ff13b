/** The folders that a batch writes to: the files of its tasks, its mirrors, and what is wrong with any of them. */

import { realpathSync, renameSync, rmSync, type StatsFs, statfsSync, writeFileSync } from "node:fs";
import { readdir, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { UsageError } from "../../core/errors.ts";
import { makeFolders } from "../../disk/make-folders.ts";
import { isOrphan, ownName } from "../../disk/process-name.ts";
import { errorCode } from "../../disk/real-path.ts";
import { temporaryName } from "../../disk/replace-file.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { removeFolder } from "./copy.ts";

export type Places = ReturnType<typeof openPlaces>;

const ours = "sawtooth-";
/** As much as any task writes; a disk that is nearly full has a few bytes left. */
const probe = Buffer.alloc(64 * 1024);
/** Milliseconds between two looks at the free space. */
const lookMs = 500;
/** With less, a disk counts as full: what is left is enough for some files of a task, and not for others. */
const leastBytes = 8_000_000;

/** Opens the places of the batch in `out`, an absolute folder. Throws `UsageError`. */
export function openPlaces(out: string, { trees, mirrors }: Pick<FlagsOf<"batch">, "trees" | "mirrors">) {
  const root = trees === undefined ? undefined : made(trees, "--trees");
  const own = root === undefined ? undefined : join(root, `${ours}${ownName()}`);
  const room = watchRoom([...new Set([root ?? out, tmpdir()])]);
  return {
    mirrors: mirrors === undefined ? join(out, "repos") : made(mirrors, "--mirrors"),
    /** Folders that are never part of a copy. */
    ours: root === undefined ? [out] : [out, root],
    /** Returns the folder for the files of a run, which is given by its folder in the batch. */
    treeOf: (run: string): string =>
      own === undefined ? join(out, run, "tree") : join(own, run.split("/").slice(1).join("-")),
    /** Returns what keeps this machine from running a task: `cannot write to /tmp: ENOSPC`. */
    fault: (): string | undefined => faultOf([...new Set([out, root ?? out, tmpdir()])]),
    /** Returns what was wrong since a time of `performance.now()`, though the next task may have room. */
    faultSince: (since: number): string | undefined => room.fullSince(since),
    /** Removes what killed batches of this machine left here. */
    async tidy(): Promise<void> {
      if (root === undefined) return;
      for (const name of await readdir(root))
        if (name.startsWith(ours) && isOrphan(name.slice(ours.length))) await removeFolder(join(root, name));
    },
    close(): void {
      room.close();
      if (own !== undefined) rmSync(own, { recursive: true, force: true });
    },
  };
}

/**
 * Takes the files of a run away at once; returns the function that removes them. A batch that is killed in between
 * leaves them in `removedFrom` of that folder.
 */
export function takeAway(tree: string): () => Promise<void> {
  const removed = removedFrom(tree);
  try {
    renameSync(tree, removed);
  } catch {
    return () => removeFolder(tree);
  }
  return () => removeFolder(removed);
}

/** Names the place where the files of a run wait for their removal. */
export function removedFrom(tree: string): string {
  return `${tree}.removed`;
}

/**
 * Looks at the free space now and then: commands of an agent that fail for lack of it may leave half of their files, and
 * room again by the end.
 */
function watchRoom(folders: readonly string[]) {
  let last: { at: number; folder: string } | undefined;
  const look = async (folder: string): Promise<void> => {
    if (isFull(await statfs(folder))) last = { at: performance.now(), folder };
  };
  const timer = setInterval(() => {
    for (const folder of folders) look(folder).catch(() => {});
  }, lookMs);
  timer.unref();
  return {
    fullSince: (since: number) =>
      last && last.at >= since ? `there was no room in ${last.folder} while it ran` : undefined,
    close: () => clearInterval(timer),
  };
}

/** Some file systems count nothing. */
function isFull({ blocks, bavail, bsize, files, ffree }: StatsFs): boolean {
  return (blocks > 0 && bavail * bsize < leastBytes) || (files > 0 && ffree === 0);
}

function made(folder: string, flag: string): string {
  try {
    makeFolders(resolve(folder));
    return realpathSync(resolve(folder));
  } catch (error) {
    throw new UsageError(
      `${flag} ${folder} cannot be created (${errorCode(error) ?? error}): choose a writable folder`,
    );
  }
}

function faultOf(folders: readonly string[]): string | undefined {
  for (const folder of folders) {
    const file = join(folder, temporaryName());
    try {
      writeFileSync(file, probe, { flag: "wx", mode: 0o600 });
      if (isFull(statfsSync(folder))) return `less than ${leastBytes / 1e6} MB are left in ${folder}`;
    } catch (error) {
      if (errorCode(error) === undefined) throw error;
      return `cannot write to ${folder}: ${errorCode(error)}`;
    } finally {
      rmSync(file, { force: true });
    }
  }
  return undefined;
}
