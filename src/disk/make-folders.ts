/** Creates missing folders one by one, because Node's recursive mkdir never returns under /proc. */

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { errorCode } from "./real-path.ts";

/**
 * Creates `folder` (absolute) and the missing folders above it, each with `mode` less the umask. Throws
 * the system's error, except when the folder already exists.
 */
export function makeFolders(folder: string, mode = 0o777): void {
  const missing: string[] = [];
  let path = folder;
  while (!made(path, mode)) {
    missing.push(path);
    path = dirname(path);
  }
  // If another process removes a folder meanwhile, this throws the system's error.
  for (const each of missing.reverse()) if (!made(each, mode)) mkdirSync(each, { mode });
}

/** Returns true when the folder exists now; false when its parent is missing. */
function made(path: string, mode: number): boolean {
  try {
    mkdirSync(path, { mode });
    return true;
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST" || code === "EISDIR") return true;
    if (code === "ENOENT" && dirname(path) !== path) return false;
    throw error;
  }
}
