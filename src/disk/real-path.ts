/** Resolves the links of a path, even when the file itself does not exist yet. */

import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";

const maxLinks = 40;

/** Returns the absolute path with every link resolved, dangling ones too. Throws the system's error on a loop. */
export function realTarget(path: string, links = 0): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const missing = ["ENOENT", "ENOTDIR"].includes(errorCode(error) ?? "");
    const parent = dirname(path);
    if (!missing || parent === path) throw error;
    const folder = realTarget(parent, links);
    const link = links < maxLinks ? linkAt(path) : undefined;
    return link === undefined ? join(folder, basename(path)) : realTarget(resolve(folder, link), links + 1);
  }
}

function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** Returns the code of a failed system call, such as `ENOENT`; undefined for any other error. */
export function errorCode(error: unknown): string | undefined {
  const code =
    error instanceof Error && "syscall" in error ? (error as NodeJS.ErrnoException).code : undefined;
  return code?.startsWith("E") ? code : undefined;
}
