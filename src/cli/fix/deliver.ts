/** Delivers a repair: as a patch file, a commit, or a commit on a new branch. */

import { resolve } from "node:path";
import { UsageError } from "../../core/errors.ts";
import { whyUnwritable } from "../../disk/error-words.ts";
import { outputFile, saveFile } from "../../disk/replace-file.ts";
import type { Tree } from "../../git/frozen-tree.ts";
import { GitError } from "../../git/run.ts";
import type { FlagsOf } from "../arguments/options.ts";

export type Target = {
  /** The file beside that of `--patch` for an attempt that was no repair. */
  attempt?: { file: string; save(content: Uint8Array): void };
  /** Writes the requested output; `patch` as bytes, one character each. Throws `GitError` or the errors of writing. */
  deliver(repair: { patch: string; paths: string[]; message: string }): Promise<Delivered>;
};
export type Delivered = { patch: string | null; commit: string | null; branch: string | null };

/** Checks that the repair can be delivered as requested, before anything is done. Throws `UsageError`. */
export async function prepareTarget(flags: FlagsOf<"fix">, tree: Tree, cwd: string): Promise<Target> {
  const { commit, branch, patch } = flags;
  const wanted = branch === undefined ? commit && "--commit" : "--branch";
  const head = wanted ? await headFor(tree, wanted) : undefined;
  if (branch !== undefined) await checkBranch(tree, branch);
  const file = patch === undefined ? null : resolve(cwd, patch);
  const savePatch = file === null ? undefined : outputFor("--patch", file);
  const attempt = file === null ? undefined : `${file.replace(/\.(?:diff|patch)$/, "")}.attempt.diff`;
  return {
    ...(attempt === undefined ? {} : { attempt: { file: attempt, save: outputFor("--patch", attempt) } }),
    async deliver(repair) {
      savePatch?.(patchBytes(repair.patch));
      if (head === undefined || repair.patch === "") return { patch: file, commit: null, branch: null };
      await checkFilters(tree, repair.paths);
      const made = await commitRepair(tree, head, repair, branch);
      return { patch: file, commit: made, branch: branch ?? null };
    },
  };
}

/**
 * Returns a way to write to a file that a flag names, wherever it leads before the agent runs. Both throw `UsageError`.
 */
export function outputFor(flag: string, file: string): (content: string | Uint8Array) => void {
  const explained = <T>(act: () => T): T => {
    try {
      return act();
    } catch (error) {
      throw new UsageError(`${flag}: ${whyUnwritable(file, error)}`);
    }
  };
  const write = explained(() => outputFile(file));
  return (content) => explained(() => write(content));
}

/** Writes a patch to a file of our own. */
export function writePatch(file: string, patch: string): void {
  saveFile(file, patchBytes(patch));
}

/** Returns the bytes that a patch stands for. */
export function patchBytes(patch: string): Buffer {
  return Buffer.from(patch, "latin1");
}

async function headFor({ git, isRepository }: Tree, flag: string): Promise<string> {
  if (!isRepository)
    throw new UsageError(
      `${flag} needs a git repository, but this folder is not one: use --patch <file> instead`,
    );
  try {
    return (await git(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])).trim();
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new UsageError(`${flag} needs at least one commit in the repository`);
  }
}

async function checkBranch({ git }: Tree, branch: string): Promise<void> {
  const succeeds = (words: string[]): Promise<boolean> =>
    git(words).then(
      () => true,
      () => false,
    );
  if (!(await succeeds(["check-ref-format", `refs/heads/${branch}`])) || branch.startsWith("-"))
    throw new UsageError(`--branch ${branch}: not a valid branch name`);
  if (await succeeds(["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]))
    throw new UsageError(`--branch ${branch}: the branch already exists`);
}

/** Refuses files that go through a filter: a commit of them would include content that the filter keeps out. */
async function checkFilters(tree: Tree, paths: readonly string[]): Promise<void> {
  const [path] = await tree.filtered(paths);
  if (path === undefined) return;
  throw new GitError(
    `no commit was made: ${path} goes through a filter that .git/config names, and fix runs none; the repair is in the folder: commit it yourself`,
  );
}

type Repair = { patch: string; paths: string[]; message: string };

/**
 * Commits only the repair, on the head from before the first attempt: other changes in the folder stay uncommitted. No
 * hook runs. With a branch the folder is on it afterwards.
 */
async function commitRepair(
  { git, beside }: Tree,
  head: string,
  { patch, paths, message }: Repair,
  branch: string | undefined,
): Promise<string> {
  await beside(["read-tree", head]);
  await beside(["apply", "--cached", "--whitespace=nowarn", "-"], patch);
  const made = (await beside(["write-tree"])).trim();
  const text = Buffer.from(message).toString("latin1");
  const commit = (
    await git([...(await identity(git)), "commit-tree", made, "-p", head, "-F", "-"], text)
  ).trim();
  if (branch === undefined) await git(["update-ref", "-m", "sawtooth fix", "HEAD", commit, head]);
  else {
    await git(["update-ref", "-m", "sawtooth fix", `refs/heads/${branch}`, commit, ""]);
    await git(["symbolic-ref", "-m", "sawtooth fix", "HEAD", `refs/heads/${branch}`]);
  }
  // The index still had the earlier versions of these files.
  await git(["--literal-pathspecs", "reset", "--quiet", "--", ...paths]);
  return commit;
}

/** Returns the user's own name where git knows one. */
async function identity(git: Tree["git"]): Promise<string[]> {
  if (process.env.GIT_AUTHOR_EMAIL && process.env.GIT_COMMITTER_EMAIL) return [];
  const known = await git(["config", "user.email"]).catch(() => "");
  return known.trim() ? [] : ["-c", "user.name=Sawtooth", "-c", "user.email=sawtooth@localhost"];
}
