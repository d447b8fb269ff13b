/** Where a path really leads: links followed, also when the file itself does not exist yet. */

import { readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { Access } from "../../core/ports.ts";
import { errorCode } from "./refusal.ts";

const maxLinks = 40;

/** The absolute path with every link resolved, a dangling one too. Throws the system's error on a loop of links. */
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

/** What a call touches. Never throws: a path that cannot be resolved stands as it was written. */
export function accessOf(input: Record<string, unknown>, workspace: string): Access {
  const path = resolve(workspace, typeof input.path === "string" ? input.path : ".");
  const kind = input.command === "view" ? "read" : "write";
  try {
    return { kind, paths: [realTarget(path)] };
  } catch {
    return { kind, paths: [path] };
  }
}
