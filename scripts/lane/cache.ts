/** Cache folders of tests: what was fetched and built, each part under its final name only when it is whole. */

import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

/**
 * `SAWTOOTH_LANE_CACHE` for `lane`, else `sawtooth-lane` in the user's cache folder. Throws an Error of one line for a
 * folder inside the repository.
 */
export function cacheFolder(env: Readonly<Record<string, string | undefined>>, name: string): string {
  const variable = `SAWTOOTH_${name.toUpperCase()}_CACHE`;
  const { XDG_CACHE_HOME: caches } = env;
  const usual = join(caches && isAbsolute(caches) ? caches : join(homedir(), ".cache"), `sawtooth-${name}`);
  const folder = resolve(env[variable] || usual);
  if (!relative(root, folder).startsWith(".."))
    throw new Error(`${folder} is inside the repository: set ${variable} to a folder outside`);
  return folder;
}

/**
 * The folder `name` of the cache, made by `make` where it is missing. `make` works in a folder beside it, which gets
 * its name when all is there: what was interrupted is begun anew, and is removed by the next run.
 */
export async function cached(
  cache: string,
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const whole = join(cache, name);
  if (existsSync(whole)) return whole;
  const part = join(cache, `${name}.part-${process.pid}-${randomBytes(4).toString("hex")}`);
  mkdirSync(part, { recursive: true, mode: 0o700 });
  try {
    await make(part);
    // Another run may have been first; its folder holds the same.
    if (!existsSync(whole)) renameSync(part, whole);
  } finally {
    rmSync(part, { recursive: true, force: true });
  }
  return whole;
}

/** Removes what runs that are over left unfinished. */
export function removeUnfinished(cache: string): void {
  if (!existsSync(cache)) return;
  for (const name of readdirSync(cache)) {
    const pid = /\.part-(\d+)-/.exec(name)?.[1];
    if (pid && !isRunning(Number(pid))) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
