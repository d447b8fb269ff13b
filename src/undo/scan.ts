/** Scans folders for a snapshot: every file except `.git`, caches too large to keep, and our own state. */

import { lstatSync, readdirSync, type Stats } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate as yieldNow } from "node:timers/promises";
import { listIgnoredFolders } from "../git/list-files.ts";

/** The scanned paths: a status for each, undefined where only the existence counts (it is not looked into). */
export type Seen = Map<string, Stats | undefined>;

/** The content of a folder, by absolute path. `repository`: a repository begins there. */
type Listing = { paths: string[]; repository: boolean };

/**
 * Listings of folders that did not change since. The path strings are reused in each scan, so comparing them with known
 * ones costs next to nothing.
 */
type Listings = Map<string, Listing & { changed: number }>;

/** An ignored folder with more files than this is not looked into: `node_modules`, build caches. */
const mostIgnored = 1000;
/** Number of new files since the last scan above which git is asked for ignored folders. */
const manyNew = 1000;
/** Above this number of files a folder is a disk rather than a workspace. */
const mostFiles = 100_000;

/** A change this close to the scan may be followed by another with the same time stamp. Milliseconds. */
export const racyMs = 50;

/** How long a scan may block everything else at a time, in milliseconds. */
const sliceMs = 8;

/** Folders that hold generated files, by name, for use without git. */
const caches =
  /^(node_modules|bower_components|\.?venv|\.tox|\.nox|__pycache__|\.(mypy|pytest|ruff)_cache|target|build|dist|\.gradle|\.m2|\.next|\.nuxt|\.turbo|\.cache|\.parcel-cache|\.terraform|Pods|DerivedData|\.pnpm-store|\.yarn)$/;

type ScanScope = {
  /** Absolute, links resolved. */
  roots: readonly string[];
  /** Absolute folders that are never looked into. */
  except: readonly string[];
};

export type Scanner = {
  /** Scans the folders; undefined when there is too much in them. */
  scan(): Promise<Seen | undefined>;
};

/** Creates a scanner, which remembers unchanged folders between scans. */
export function createScanner(scope: ScanScope): Scanner {
  const listings: Listings = new Map();
  let isIgnored: Bounds["isIgnored"] = () => false;
  let before = 0;
  return {
    async scan() {
      let seen = await walk(scope, listings, { most: before + manyNew, isIgnored });
      if (!seen) {
        isIgnored = await ignoring(scope.roots);
        seen = await walk(scope, listings, { most: mostFiles, isIgnored });
      }
      before = seen?.size ?? 0;
      return seen;
    },
  };
}

/** A folder to look into; `cache`: the ignored folder that it belongs to, with the number of files still allowed. */
type Pending = { path: string; changed: number; nested: boolean; cache?: { path: string; left: number } };
type Bounds = { most: number; isIgnored(path: string, nested: boolean): boolean };

async function walk(scope: ScanScope, listings: Listings, bounds: Bounds): Promise<Seen | undefined> {
  const seen: Seen = new Map();
  const pending = scope.roots.flatMap((path): Pending[] => {
    const status = statusOf(path);
    if (!status?.isDirectory()) return [];
    seen.set(path, status);
    return [{ path, changed: status.ctimeMs, nested: !isRepository(path) }];
  });
  const pause = slices();
  for (let folder = pending.pop(); folder; folder = pending.pop()) {
    await pause();
    if (folder.cache && folder.cache.left < 0) continue;
    const listing = listingOf(folder, listings, scope.except);
    if (!listing) seen.set(folder.path, undefined);
    else pending.push(...recordFolder(folder, listing, seen, { ...scope, ...bounds }));
    if (folder.cache && folder.cache.left < 0) excludeCache(seen, folder.cache.path);
    if (seen.size > bounds.most) return undefined;
  }
  return seen;
}

/** Records the content of a folder. Returns its subfolders, which are still to be scanned. */
function recordFolder(
  { path, nested: inNested, cache }: Pending,
  { paths, repository }: Listing,
  seen: Seen,
  { roots, isIgnored }: ScanScope & Bounds,
): Pending[] {
  const nested = inNested || (repository && !roots.includes(path));
  const folders: Pending[] = [];
  for (const child of paths) {
    const status = statusOf(child);
    // Pipes, sockets and devices are not kept.
    if (!status?.isFile() && !status?.isDirectory() && !status?.isSymbolicLink()) continue;
    seen.set(child, status);
    if (cache) cache.left -= 1;
    if (!status.isDirectory()) continue;
    const own = cache ?? (isIgnored(child, nested) ? { path: child, left: mostIgnored } : undefined);
    folders.push({ path: child, changed: status.ctimeMs, nested, ...(own ? { cache: own } : {}) });
  }
  return folders;
}

/** Returns a function to await between pieces of work: it yields once a time slice is used up. */
export function slices(): () => Promise<void> {
  let end = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < end) return;
    await yieldNow();
    end = performance.now() + sliceMs;
  };
}

function excludeCache(seen: Seen, cache: string): void {
  for (const path of seen.keys()) if (path.startsWith(`${cache}/`)) seen.delete(path);
  seen.set(cache, undefined);
}

/** Returns the last listing when nothing came or went since; undefined when the folder cannot be read. */
function listingOf(
  { path, changed }: Pending,
  listings: Listings,
  except: readonly string[],
): Listing | undefined {
  const known = listings.get(path);
  if (known?.changed === changed) return known;
  const now = Date.now();
  try {
    const names = readdirSync(path);
    const paths = names
      // Names that are not UTF-8 cannot be stored in a journal; such files are never touched.
      .filter((name) => name !== ".git" && !name.includes("\ufffd"))
      .map((name) => `${path === "/" ? "" : path}/${name}`)
      .filter((child) => !except.includes(child));
    const listing = { paths, repository: names.includes(".git") };
    if (changed < now - racyMs) listings.set(path, { changed, ...listing });
    return listing;
  } catch {
    return undefined;
  }
}

/** Returns the status of a path itself, without following links; undefined when it does not exist or cannot be read. */
export function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isRepository(root: string): boolean {
  return statusOf(join(root, ".git")) !== undefined;
}

/** Returns the ignored folders of the roots; where git cannot be asked, caches known by name. */
async function ignoring(roots: readonly string[]): Promise<Bounds["isIgnored"]> {
  const answers = await Promise.all(
    roots.map(async (root) =>
      (await listIgnoredFolders(root, process.env))?.map((folder) => join(root, folder)),
    ),
  );
  const ignored = new Set(answers.flatMap((folders) => folders ?? []));
  const byName = answers.includes(undefined);
  return (path, nested) => ignored.has(path) || ((nested || byName) && caches.test(basename(path)));
}
