/**
 * Local copies of remote repositories: each is fetched once for all tasks, and for all batches and machines that share
 * the folder. A batch that is killed while it fetches leaves nothing that stops the next one.
 */

import { createHash } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { claimFolder, freed } from "../../disk/claim.ts";
import { makeFolders } from "../../disk/make-folders.ts";
import { type Git, GitError, gitIn } from "../../git/run.ts";

export type Mirrors = ReturnType<typeof openMirrors>;
/** A commit, and the local repository that has it. */
export type Mirrored = { source: string; commit: string | undefined };

/** All that was fetched appears at once: loose objects would show a commit to others before its files are there. */
const asPack = ["-c", "fetch.unpackLimit=1"];
/** The remote's HEAD, in a mirror. */
const headName = "refs/batch/head";

/** Opens the folder, which need not exist. `env`: the environment for git. */
export function openMirrors(folder: string, env: Record<string, string>) {
  /** The last thing that this process does in each mirror; it does one at a time. */
  const last = new Map<string, Promise<unknown>>();
  const fetched = new Set<string>();
  return {
    /**
     * Returns the commit that `ref` names (default: the remote's HEAD). A whole hash that is there already is not asked
     * for again; other names are, once for each process. Throws `GitError`.
     */
    async find(repo: string, ref: string | undefined): Promise<Mirrored> {
      const after = last.get(repo) ?? Promise.resolve();
      const found = after.catch(() => {}).then(() => find(repo, ref, { folder, env, fetched }));
      last.set(repo, found);
      return found;
    },
  };
}

type Place = { folder: string; env: Record<string, string>; fetched: Set<string> };

async function find(repo: string, ref: string | undefined, place: Place): Promise<Mirrored> {
  const home = join(place.folder, hashOf(repo));
  const source = join(home, "repo.git");
  makeFolders(source);
  // Git asks for no password and no host key.
  const env = { GIT_SSH_COMMAND: "ssh -oBatchMode=yes", ...place.env };
  const git = gitIn(source, env, { repository: { GIT_DIR: source } });
  const isHash = ref !== undefined && /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
  for (;;) {
    const there = isHash || place.fetched.has(repo) ? await commitNamed(git, ref ?? headName) : undefined;
    if (there !== undefined) return { source, commit: there };
    const claim = await claimFolder(home);
    if ("host" in claim) {
      await freed(home);
      continue;
    }
    try {
      return { source, commit: await fetchInto(git, source, { repo, ref, fetched: place.fetched }) };
    } finally {
      claim.release();
    }
  }
}

type Wanted = { repo: string; ref: string | undefined; fetched: Set<string> };

async function fetchInto(
  git: Git,
  source: string,
  { repo, ref, fetched }: Wanted,
): Promise<string | undefined> {
  try {
    if (!fetched.has(repo)) {
      removeLeftovers(source);
      await git(["init", "--quiet", "--bare", "--template="]);
      const refs = [`+HEAD:${headName}`, "+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"];
      await git([...asPack, "fetch", "--quiet", "--no-tags", "--", repo, ...refs]);
      fetched.add(repo);
    }
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new GitError(error.message.replaceAll(repo, withoutUser(repo)));
  }
  const commit = await commitNamed(git, ref ?? headName);
  return commit ?? (ref === undefined ? undefined : fetchMissing(git, repo, ref));
}

/** Fetches a commit that no branch of the remote contains, such as that of a pull request. */
async function fetchMissing(git: Git, repo: string, ref: string): Promise<string | undefined> {
  const keepRef = `refs/batch/${hashOf(ref)}`;
  try {
    await git([...asPack, "fetch", "--quiet", "--no-tags", "--", repo, `+${ref}:${keepRef}`]);
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
  return commitNamed(git, keepRef);
}

/** Removes the locks and unfinished packs of a git that was killed: they would stop every later one. */
function removeLeftovers(source: string): void {
  for (const name of readdirSync(source, { recursive: true, encoding: "utf8" }))
    if (/\.lock$|(^|\/)tmp_[^/]*$/.test(name)) rmSync(join(source, name), { recursive: true, force: true });
}

/** Returns the commit of this name in a repository; undefined when there is none. */
export async function commitNamed(git: Git, name: string): Promise<string | undefined> {
  const words = ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`];
  return git(words).then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** Returns a URL without the user name and the password in it. */
export function withoutUser(repo: string): string {
  return repo.replace(/^(\w+:\/\/)[^/@]*@/, "$1");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
