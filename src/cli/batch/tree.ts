/** Prepares the files that a task works on: fetched from a repository at a commit, or copied; never the user's own. */

import { existsSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { plural } from "../../context/report/amounts.ts";
import { makeFolders } from "../../disk/make-folders.ts";
import { type Git, GitError, gitIn } from "../../git/run.ts";
import { copyFolder, megabytes } from "./copy.ts";
import { commitNamed, type Mirrored, type Mirrors, withoutUser } from "./mirror.ts";
import type { Origin } from "./results.ts";
import { isUrl, type Task } from "./tasks.ts";

export type Prepared = {
  origin: Origin /** A description of the preparation, for people. */;
  description: string;
};

type Checkout = {
  /** Absolute folders of the batch, which are no part of any task. */
  ours: readonly string[];
  /** The environment for git. */
  env: Record<string, string>;
  mirrors: Mirrors;
};

/**
 * Fills the new folder `tree`, which becomes a repository of its own: the agent's commits, stashes and pushes reach no
 * other. Throws `GitError` or `CopyError`.
 */
export async function prepareTree(task: Task, tree: string, checkout: Checkout): Promise<Prepared> {
  const { repo, ref } = task;
  makeFolders(tree);
  const git = gitIn(tree, checkout.env);
  await git(["init", "--quiet", "--template=", "--initial-branch=task"]);
  if (repo === undefined) return begun(git, { origin: { kind: "empty" }, description: "an empty folder" });
  if (isUrl(repo)) return fetchCommit(task, tree, await checkout.mirrors.find(repo, ref), checkout);
  const source = realpathSync(repo);
  const isRepository = await isTop(source, checkout);
  if (ref !== undefined && !isRepository)
    throw new GitError(`ref ${ref} needs a git repository, but ${repo} is not the root of one`);
  if (!isRepository) return begun(git, await copied(source, tree, checkout, "no git repository"));
  const isBare = await isBareAt(source, checkout);
  const commit = await commitNamed(gitAt(source, checkout.env), ref ?? "HEAD");
  if (ref !== undefined || isBare) return fetchCommit(task, tree, { source, commit }, checkout);
  // Git would look into submodules with their own settings.
  const status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
  const isDirty = (await gitIn(source, checkout.env)(status)) !== "";
  if (commit === undefined) return begun(git, await copied(source, tree, checkout, "no commit yet"));
  const fetched = await fetchCommit(task, tree, { source, commit }, checkout);
  if (!isDirty) return fetched;
  for (const name of readdirSync(tree)) if (name !== ".git") rmSync(join(tree, name), { recursive: true });
  return copied(source, tree, checkout, "it has uncommitted changes", commit);
}

/** Makes the first commit of files without history, so that the agent can ask git for its changes. */
async function begun(git: Git, prepared: Prepared): Promise<Prepared> {
  const who = ["-c", "user.name=sawtooth", "-c", "user.email=sawtooth@localhost"];
  await git(["add", "--all"]);
  await git([...who, "commit", "--quiet", "--allow-empty", "--message", "The files as they were given"]);
  return prepared;
}

async function copied(
  source: string,
  tree: string,
  checkout: Checkout,
  why: string,
  commit?: string,
): Promise<Prepared> {
  const { files, bytes, outside, skipped } = await copyFolder(source, tree, checkout.ours);
  const facts = [
    `${plural(files, "file")}, ${megabytes(bytes)}`,
    ...(outside.length > 0
      ? [`${plural(outside.length, "link")} lead${outside.length > 1 ? "" : "s"} outside: ${outside[0]}`]
      : []),
    ...(skipped.length > 0 ? [`skipped, not a file: ${skipped.slice(0, 3).join(", ")}`] : []),
  ];
  const origin: Origin = { kind: "copy", ...(commit ? { commit } : {}), files, bytes };
  return { origin, description: `copied (${why}): ${facts.join("; ")}` };
}

/** Returns true for the top of a repository, or a bare one. */
async function isTop(source: string, { env }: Checkout): Promise<boolean> {
  if (existsSync(join(source, ".git"))) return true;
  if (!existsSync(join(source, "HEAD")) || !existsSync(join(source, "objects"))) return false;
  return isBareAt(source, { env });
}

async function isBareAt(source: string, { env }: Pick<Checkout, "env">): Promise<boolean> {
  return (await gitAt(source, env)(["rev-parse", "--is-bare-repository"])).trim() === "true";
}

/** Names a bare repository: git itself uses none that it merely finds. */
function gitAt(folder: string, env: Checkout["env"]): Git {
  return gitIn(folder, env, existsSync(join(folder, ".git")) ? {} : { repository: { GIT_DIR: folder } });
}

/** Fetches only this commit and its objects: later history, which may hold the answer, stays away. */
async function fetchCommit(
  { repo = "", ref }: Task,
  tree: string,
  { source, commit }: Mirrored,
  checkout: Checkout,
): Promise<Prepared> {
  const shown = withoutUser(repo);
  if (commit === undefined) throw new GitError(`${shown} has no commit, branch or tag ${ref ?? "HEAD"}`);
  const git = gitIn(tree, checkout.env);
  await git(["fetch", "--quiet", "--no-tags", "--update-shallow", "--", source, commit]);
  await git(["checkout", "--quiet", "-B", "task", commit]);
  rmSync(join(tree, ".git", "FETCH_HEAD"), { force: true });
  return { origin: { kind: "clone", commit }, description: `${shown} at ${commit.slice(0, 10)}` };
}
