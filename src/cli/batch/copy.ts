/**
 * Copies a folder for an agent to work in: modes, times and links are kept, and no link leads back into the original.
 */

import { closeSync, constants, type Stats } from "node:fs";
import { chmod, copyFile, lstat, readdir, readlink, rm, statfs, symlink, utimes } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { makeFolders } from "../../disk/make-folders.ts";
import { openInPlace, PathMoved } from "../../disk/pinned-folder.ts";
import { realTarget } from "../../disk/real-path.ts";
import { isInside } from "../../permissions/paths.ts";

export type Copied = {
  files: number;
  bytes: number;
  /** Links that lead out of the folder, and special files. Paths inside the folder. */
  outside: string[];
  skipped: string[];
};

/** Thrown when a folder cannot be copied; the message names the file. */
export class CopyError extends Error {}

type Entry = { path: string; stats: Stats };

/**
 * Copies into `target`, which may hold files. `except`: absolute paths that are left out. What is swapped for a link
 * meanwhile is left out too. Throws `CopyError`.
 */
export async function copyFolder(folder: string, target: string, except: readonly string[]): Promise<Copied> {
  const source = realTarget(folder);
  const skipped: string[] = [];
  const entries = await readable(() => listed(source, except, skipped));
  const files = entries.filter(({ stats }) => stats.isFile());
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0);
  makeFolders(target);
  await checkRoom(source, target, bytes);
  const outside: string[] = [];
  for (const entry of entries)
    await readable(async () => {
      if (await copyEntry(entry, source, target)) outside.push(entry.path);
    });
  // Last, deepest first: nothing can be copied into a read-only folder.
  for (const { path, stats } of entries.filter(({ stats }) => stats.isDirectory()).reverse()) {
    await chmod(join(target, path), stats.mode & 0o7777);
    await utimes(join(target, path), stats.atime, stats.mtime);
  }
  return { files: files.length, bytes, outside, skipped };
}

async function listed(source: string, except: readonly string[], skipped: string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  const walk = async (folder: string): Promise<void> => {
    for (const name of ((await readdir(join(source, folder)).catch(ignoreGone)) ?? []).sort()) {
      const path = join(folder, name);
      const from = join(source, path);
      if (except.includes(from)) continue;
      const stats = await lstat(from).catch(ignoreGone);
      // A `.git` at the top, or a file of that name (a worktree, a submodule), leads to the original repository.
      if (!stats || (name === ".git" && (folder === "" || stats.isFile()))) continue;
      if (!stats.isFile() && !stats.isDirectory() && !stats.isSymbolicLink()) {
        skipped.push(path);
        continue;
      }
      entries.push({ path, stats });
      if (stats.isDirectory()) await walk(path);
    }
  };
  await walk("");
  return entries;
}

async function checkRoom(source: string, target: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(target);
  const free = bavail * bsize;
  if (bytes > free)
    throw new CopyError(
      `cannot copy ${source}: it needs ${megabytes(bytes)}, but only ${megabytes(free)} are free in the results folder`,
    );
}

/** Copies one entry; returns true for a link that leads out. */
async function copyEntry({ path, stats }: Entry, source: string, target: string): Promise<boolean> {
  const [from, to] = [join(source, path), join(target, path)];
  if (stats.isDirectory()) {
    makeFolders(to, 0o700);
    return false;
  }
  if (stats.isSymbolicLink()) {
    const linkTarget = await readlink(from).catch(ignoreGone);
    if (linkTarget === undefined) return false;
    const absolute = resolve(dirname(from), linkTarget);
    const inside = isInside(absolute, source);
    // An absolute link into the folder would lead the agent to the original.
    await symlink(inside ? relative(dirname(from), absolute) || "." : linkTarget, to);
    return !inside;
  }
  await copyInPlace(from, to).catch(ignoreMoved);
  await chmod(to, stats.mode & 0o7777).catch(ignoreGone);
  await utimes(to, stats.atime, stats.mtime).catch(ignoreGone);
  return false;
}

/** Copies a file from where it was listed, whatever its folders are swapped for. */
async function copyInPlace(from: string, to: string): Promise<void> {
  const file = openInPlace(from);
  try {
    const held = process.platform === "linux" ? `/proc/self/fd/${file}` : from;
    await copyFile(held, to, constants.COPYFILE_FICLONE);
  } finally {
    closeSync(file);
  }
}

/** As `ignoreGone`, also for a file that has become a link, or lies behind one. */
function ignoreMoved(error: NodeJS.ErrnoException): undefined {
  return error instanceof PathMoved || error.code === "ELOOP" ? undefined : ignoreGone(error);
}

/** Ignores a file that disappears while its folder is copied, or becomes another kind of file. */
function ignoreGone(error: NodeJS.ErrnoException): undefined {
  if (["ENOENT", "ENOTDIR", "EINVAL"].includes(error.code ?? "")) return undefined;
  throw error;
}

async function readable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const { code, path } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new CopyError(`cannot copy ${path}: ${code}`);
  }
}

/** Removes a folder with everything in it, as far as permitted; read-only folders are made writable. */
export async function removeFolder(folder: string): Promise<void> {
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 5 });
  // A failed removal may still be running elsewhere in the folder.
  const open = async (path: string): Promise<void> => {
    await chmod(path, 0o700).catch(ignoreGone);
    for (const entry of (await readdir(path, { withFileTypes: true }).catch(ignoreGone)) ?? [])
      if (entry.isDirectory()) await open(join(path, entry.name));
  };
  // A file that cannot be removed stays: it costs space, and no task its result.
  await remove().catch(() =>
    open(folder)
      .then(remove)
      .catch(() => {}),
  );
}

/** Formats bytes for people. */
export function megabytes(bytes: number): string {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
