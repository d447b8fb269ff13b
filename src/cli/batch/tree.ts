/** Prepares the files that a task works on: fetched from a repository at a commit, or copied; never the user's own. */

import { createHash } from "node:crypto";
import { existsSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { plural } from "../../context/report/amounts.ts";
import { makeFolders } from "../../disk/make-folders.ts";
import { type Git, GitError, gitIn } from "../../git/run.ts";
import { copyFolder, megabytes } from "./copy.ts";
import type { Origin } from "./results.ts";
import { isUrl, type Task } from "./tasks.ts";

export type Prepared = {
  origin: Origin /** A description of the preparation, for people. */;
  description: string;
};

/** Local copies of remote repositories, each fetched once for all its tasks. */
export type Mirrors = Map<string, Promise<string>>;

type Checkout = {
  /** Absolute folder of the batch. */
  out: string;
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
  if (isUrl(repo)) return fetchCommit(task, tree, await mirrorOf(repo, checkout), checkout);
  const source = realpathSync(repo);
  const isRepository = await isTop(source, checkout);
  if (ref !== undefined && !isRepository)
    throw new GitError(`ref ${ref} needs a git repository, but ${repo} is not the root of one`);
  if (!isRepository) return begun(git, await copied(source, tree, checkout, "no git repository"));
  const isBare = await isBareAt(source, checkout);
  if (ref !== undefined || isBare) return fetchCommit(task, tree, source, checkout);
  // Git would look into submodules with their own settings.
  const status = ["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=dirty"];
  const isDirty = (await gitIn(source, checkout.env)(status)) !== "";
  const head = await commitOf(source, "HEAD", checkout);
  if (head === undefined) return begun(git, await copied(source, tree, checkout, "no commit yet"));
  const fetched = await fetchCommit(task, tree, source, checkout);
  if (!isDirty) return fetched;
  for (const name of readdirSync(tree)) if (name !== ".git") rmSync(join(tree, name), { recursive: true });
  return copied(source, tree, checkout, "it has uncommitted changes", head);
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
  const { files, bytes, outside, skipped } = await copyFolder(source, tree, checkout.out);
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

async function commitOf(source: string, name: string, { env }: Checkout): Promise<string | undefined> {
  const words = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  return gitAt(
    source,
    env,
  )(words).then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** Fetches only this commit and its objects: later history, which may hold the answer, stays away. */
async function fetchCommit(
  { repo = "", ref }: Task,
  tree: string,
  source: string,
  checkout: Checkout,
): Promise<Prepared> {
  const shown = withoutUser(repo);
  const head = isUrl(repo) ? "refs/batch/head" : "HEAD";
  const commit =
    (await commitOf(source, ref ?? head, checkout)) ??
    (ref !== undefined && isUrl(repo) ? await fetchMissing(repo, ref, source, checkout) : undefined);
  if (commit === undefined) throw new GitError(`${shown} has no commit, branch or tag ${ref ?? "HEAD"}`);
  const git = gitIn(tree, checkout.env);
  await git(["fetch", "--quiet", "--no-tags", "--update-shallow", "--", source, commit]);
  await git(["checkout", "--quiet", "-B", "task", commit]);
  rmSync(join(tree, ".git", "FETCH_HEAD"), { force: true });
  return { origin: { kind: "clone", commit }, description: `${shown} at ${commit.slice(0, 10)}` };
}

/** Fetches a commit that no branch of the remote contains, such as that of a pull request. */
async function fetchMissing(
  repo: string,
  ref: string,
  mirror: string,
  checkout: Checkout,
): Promise<string | undefined> {
  const keepRef = `refs/batch/${createHash("sha256").update(ref).digest("hex").slice(0, 16)}`;
  try {
    await gitAt(
      mirror,
      quiet(checkout.env),
    )(["fetch", "--quiet", "--no-tags", "--", repo, `+${ref}:${keepRef}`]);
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
  return commitOf(mirror, keepRef, checkout);
}

function mirrorOf(repo: string, checkout: Checkout): Promise<string> {
  const known = checkout.mirrors.get(repo);
  if (known) return known;
  const made = makeMirror(repo, checkout);
  checkout.mirrors.set(repo, made);
  return made;
}

async function makeMirror(repo: string, { out, env }: Checkout): Promise<string> {
  const folder = join(out, "repos", `${createHash("sha256").update(repo).digest("hex").slice(0, 16)}.git`);
  makeFolders(folder);
  const git = gitAt(folder, quiet(env));
  try {
    await git(["init", "--quiet", "--bare", "--template="]);
    const refs = ["+HEAD:refs/batch/head", "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
    await git(["fetch", "--quiet", "--no-tags", "--", repo, ...refs]);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new GitError(error.message.replaceAll(repo, withoutUser(repo)));
  }
  return folder;
}

/** Stops git from asking for a password or a host key. */
function quiet(env: Record<string, string>): Record<string, string> {
  return { GIT_SSH_COMMAND: "ssh -oBatchMode=yes", ...env };
}

/** Returns a URL without the user name and the password in it. */
function withoutUser(repo: string): string {
  return repo.replace(/^(\w+:\/\/)[^/@]*@/, "$1");
}
