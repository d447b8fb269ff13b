/** Finds the repositories below folders, and looks into a folder again only when its names can have changed. */

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { folderStamp } from "./present-names.ts";

/** Folders that hold what package managers put there, where nobody works in a repository. */
export const skippedFolders: ReadonlySet<string> = new Set([
  "node_modules",
  ".git",
  ".venv",
  "venv",
  "target",
  "dist",
  "build",
  "__pycache__",
  ".cache",
]);

/** Repositories are looked for this deep, in this many folders. */
const limits = { depth: 6, folders: 2_000 };

/** The folders in a folder, and the repository that it is or holds the data of. */
type Listing = { stamp: string | undefined; folders: readonly string[]; repository: string | undefined };

/** Returns a function that lists the repositories of `roots` (absolute): each a `.git`, or the folder of a bare one. */
export function repositoriesBelow(roots: readonly string[]): () => string[] {
  const stampOf = folderStamp();
  let known = new Map<string, Listing>();
  const listed = (folder: string): Listing => {
    const stamp = stampOf(folder);
    const before = known.get(folder);
    return before && stamp !== undefined && before.stamp === stamp ? before : { stamp, ...listingOf(folder) };
  };
  return () => {
    const seen = new Map<string, Listing>();
    let level = [...roots];
    for (let depth = 0; depth <= limits.depth && level.length > 0; depth++) {
      level = level.slice(0, limits.folders - seen.size).flatMap((folder) => {
        const listing = listed(folder);
        seen.set(folder, listing);
        return listing.folders;
      });
    }
    known = seen;
    return [...seen.values()].flatMap(({ repository }) => repository ?? []);
  };
}

const bareNames = ["HEAD", "objects", "refs"];

function listingOf(folder: string): Omit<Listing, "stamp"> {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const names = new Set(entries.map(({ name }) => name));
    const folders = entries.filter((entry) => entry.isDirectory() && !skippedFolders.has(entry.name));
    const bare = bareNames.every((name) => names.has(name)) ? folder : undefined;
    return {
      folders: folders.map(({ name }) => join(folder, name)),
      repository: names.has(".git") ? join(folder, ".git") : bare,
    };
  } catch {
    return { folders: [], repository: undefined };
  }
}
