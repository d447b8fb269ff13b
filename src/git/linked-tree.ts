/** Working trees that share one repository: makes, looks at and removes them with `git worktree`. */

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../core/secrets/secrets.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { GitError, gitIn } from "./run.ts";
import { firstTreeOf, gitFolderOf } from "./work-tree.ts";

/** A working tree beside the first one of its repository. Paths are absolute. */
export type LinkedTree = {
  folder: string;
  /** Its branch, without `refs/heads/`. */
  branch: string;
  /** False where it was there before. */
  isNew: boolean;
};

/** Work that only one working tree has. */
export type OwnWork = {
  /** Commits that no other branch and no remote has. */
  commits: number;
  /** Files that are changed or new. Ignored ones do not count. */
  files: number;
};

/**
 * Opens the working tree of `branch` in `folder`: as it is, or made from the branch, or from a new branch at the current
 * commit of `cwd`. Throws `GitError`.
 */
export async function openLinkedTree(
  cwd: string,
  { folder, branch }: Pick<LinkedTree, "folder" | "branch">,
  env: Environment,
): Promise<LinkedTree> {
  const git = gitIn(cwd, env);
  const has = (words: readonly string[]): Promise<boolean> =>
    git(words).then(
      () => true,
      () => false,
    );
  if (!(await has(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])))
    throw new GitError("this repository has no commit yet, and a worktree begins at one: commit first");
  if (existsSync(folder)) {
    if (gitFolderOf(folder) === undefined)
      throw new GitError(`${folder} is no worktree of this repository: move it away, or take another name`);
    return { folder, branch, isNew: false };
  }
  makeFolders(dirname(folder), 0o700);
  // Forgets a tree whose folder was removed by hand; its branch would be in use for ever.
  await git(["worktree", "prune"]);
  const isThere = await has(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
  const words = isThere ? [folder, branch] : ["-b", branch, folder, "HEAD"];
  await git(["worktree", "add", "--quiet", ...words]);
  return { folder, branch, isNew: true };
}

/** Counts what would be lost with the tree. Throws `GitError`. */
export async function ownWork({ folder, branch }: LinkedTree, env: Environment): Promise<OwnWork> {
  const git = gitIn(folder, env);
  const status = await git(["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"]);
  // A detached position of the first tree counts as another branch.
  const first = await gitIn(firstTreeOf(folder), env)(["rev-parse", "HEAD"]);
  const others = [`--exclude=${branch}`, "--branches", "--remotes", "--tags", first.trim()];
  const own = await git(["rev-list", "--count", "HEAD", `refs/heads/${branch}`, "--not", ...others]);
  return { commits: Number(own), files: status.split("\0").filter((entry) => entry !== "").length };
}

/** Removes a tree without work of its own, and its branch. Throws `GitError`, also when it has become changed. */
export async function removeLinkedTree({ folder, branch }: LinkedTree, env: Environment): Promise<void> {
  const git = gitIn(firstTreeOf(folder), env);
  await git(["worktree", "remove", folder]);
  await git(["branch", "--quiet", "--delete", "--force", branch]);
}
