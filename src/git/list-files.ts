/** Lists file names with git. Nothing that the repository's configuration names is run. */

import type { Environment } from "../core/secrets/secrets.ts";
import { GitError, gitIn } from "./run.ts";

const longestMs = 10_000;

/**
 * Returns the tracked and new files below `folder`, relative to it, without ignored ones. Undefined where there is no
 * repository.
 */
export function listFiles(
  folder: string,
  env: Environment,
  signal?: AbortSignal,
): Promise<string[] | undefined> {
  const words = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  return namesOf(words, folder, env, signal);
}

/** Returns the ignored folders below `folder`, relative to it, without a trailing slash. Undefined as above. */
export async function listIgnoredFolders(folder: string, env: Environment): Promise<string[] | undefined> {
  const words = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
  const paths = await namesOf(words, folder, env);
  return paths?.filter((path) => path.endsWith("/")).map((path) => path.slice(0, -1));
}

async function namesOf(words: string[], folder: string, env: Environment, signal?: AbortSignal) {
  try {
    const text = await gitIn(folder, env, { timeoutMs: longestMs, ...(signal ? { signal } : {}) })(words);
    return text.split("\0").filter((name) => name !== "");
  } catch (error) {
    if (error instanceof GitError) return undefined;
    throw error;
  }
}
