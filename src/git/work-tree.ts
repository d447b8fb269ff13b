/** Finds the repository of a working tree. Reads git's pointers itself and follows only those that point back. */

import { existsSync, lstatSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { GitError } from "./run.ts";

/**
 * Returns the git folder of the working tree `root`; undefined when it is none. Throws `GitError` when its pointers
 * lead to a repository that does not know this tree: commits from here would land there.
 */
export function gitFolderOf(root: string): string | undefined {
  const path = join(root, ".git");
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return undefined;
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    if (existsSync(join(path, "commondir"))) throw forged(path, join(path, "commondir"));
    return path;
  }
  const target = textOf(path)?.match(/^gitdir: (.+?)\s*$/)?.[1];
  if (target === undefined) throw new GitError(`${path} is neither a git folder nor names one`);
  const folder = resolve(root, target);
  // A submodule names its tree in its configuration; a linked working tree is named in a file.
  const back = textOf(join(folder, "gitdir"))?.trim();
  if (!existsSync(join(folder, "commondir"))) return folder;
  if (back === undefined || realOf(resolve(folder, back)) !== realOf(path)) throw forged(path, folder);
  return folder;
}

/**
 * Returns the first working tree of the repository that `root` belongs to: itself, unless it is a linked one. Throws
 * `GitError` when its pointers lead to a repository that does not know it.
 */
export function firstTreeOf(root: string): string {
  const data = gitFolderOf(root);
  const pointer = data === undefined ? undefined : join(data, "commondir");
  if (data === undefined || pointer === undefined || !existsSync(pointer)) return root;
  const common = resolve(data, textOf(pointer)?.trim() ?? "");
  return basename(common) === ".git" ? dirname(common) : root;
}

function forged(path: string, target: string): GitError {
  return new GitError(
    `${path} leads to a repository that does not know this folder (${target}): run git worktree repair, or remove it`,
  );
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
