/**
 * Finds secrets in the `.env` files of a workspace. Programs may read those files; their secrets are kept from the
 * model.
 */

import { existsSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";
import { redactor } from "../core/secrets/redact.ts";
import { type Environment, type Secret, secretsOf } from "../core/secrets/secrets.ts";
import { credentialsFolder, storedSecrets } from "../credentials/keys.ts";
import { folders as ownFolders } from "./folders.ts";
import { workspaceRoot } from "./instructions.ts";

/** Matches `.env`, `.env.local`, `prod.env`; an example file holds no secrets. */
const isEnvFile = (name: string): boolean =>
  /^\.env(?:rc|\.|$)|\.env$/.test(name) &&
  !/(?:^|[._-])(?:example|sample|template|dist|defaults?)(?:[._-]|$)/i.test(name);
/** Folders without files of the project's own. Hidden ones are skipped too. */
const skipped = /^(?:\.|node_modules$|__pycache__$|venv$|target$|dist$|build$|vendor$)/;
/** Depth and number of folders of the search, which takes at most about 10 ms. */
const deepest = 3;
const mostFolders = 200;
const mostFiles = 50;
const mostBytes = 256 * 1024;

/**
 * Returns a function that redacts the secrets of the environment, of the workspace's current `.env` files and of
 * `stored`, which returns the same array until they change.
 */
export function workspaceRedactor(
  env: Environment,
  roots: readonly string[],
  stored: () => readonly Secret[] = () => none,
): (text: string) => string {
  const own = secretsOf(env);
  const files = envFileSecrets(roots);
  let known: readonly (readonly Secret[])[] = [];
  let redact = redactor(own);
  return (text) => {
    const now = [files(), stored()];
    if (now.some((each, at) => each !== known[at])) redact = redactor([...own, ...now.flat()]);
    known = now;
    return redact(text);
  };
}

const none: readonly Secret[] = [];

/**
 * Returns a function that redacts the secrets of the environment, of the sign-ins that are stored, and of the `.env`
 * files of the workspaces that hold `folders`, as they are now: for what is stored, and printed once. A folder that is
 * gone has none.
 */
export function storedRedactor(env: Environment, folders: readonly string[]): (text: string) => string {
  const roots = [...new Set(folders.filter((folder) => existsSync(folder)).map(workspaceRoot))];
  const signIns = storedSecrets(credentialsFolder(ownFolders(env).state))();
  return redactor([...secretsOf(env), ...signIns, ...envFileSecrets(roots)()]);
}

/**
 * Reads the secrets in and below `roots` (absolute), the nearest folders first. Returns a function that rereads changed
 * files in the folders that hold such files, and returns the same array while nothing has changed.
 */
function envFileSecrets(roots: readonly string[]): () => readonly Secret[] {
  let folders: string[] | undefined;
  let signature = "";
  let secrets: readonly Secret[] = [];
  return () => {
    folders ??= foldersWith(roots);
    const files = folders.flatMap(envFilesIn).slice(0, mostFiles);
    const now = files
      .map(({ path, stats }) => `${path} ${stats.ino} ${stats.size} ${stats.mtimeMs}`)
      .join("\n");
    if (now !== signature) secrets = files.flatMap(({ path }) => secretsIn(path));
    signature = now;
    return secrets;
  };
}

/** Returns the roots, and the folders below them that hold such a file. */
function foldersWith(roots: readonly string[]): string[] {
  const waiting = roots.map((folder) => ({ folder, depth: 0 }));
  const found = new Set(roots);
  for (const { folder, depth } of waiting) {
    for (const entry of entriesOf(folder)) {
      const isFolder = entry.isDirectory() && !skipped.test(entry.name);
      if (isFolder && depth < deepest && waiting.length < mostFolders)
        waiting.push({ folder: join(folder, entry.name), depth: depth + 1 });
      else if (isEnvFile(entry.name)) found.add(folder);
    }
  }
  return [...found];
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function envFilesIn(folder: string): { path: string; stats: Stats }[] {
  return entriesOf(folder).flatMap(({ name }) => {
    if (!isEnvFile(name)) return [];
    const path = join(folder, name);
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats?.isFile() && stats.size <= mostBytes ? [{ path, stats }] : [];
  });
}

function secretsIn(path: string): Secret[] {
  try {
    return secretsOf(parseEnv(readFileSync(path, "utf8")));
  } catch {
    return [];
  }
}
