/** Moves files away that a command made and that programs outside of the sandbox would run, and puts them back. */

import { cpSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolders } from "../disk/make-folders.ts";
import { insideFolder, PathMoved } from "../disk/pinned-folder.ts";
import { errorCode } from "../disk/real-path.ts";
import { notedAtTop } from "../permissions/sandbox/watched.ts";
import { isThere, presentNames } from "./present-names.ts";

/** A file or folder that was moved. `kept`: absolute, where it is now. */
export type Quarantined = { path: string; kept: string };

export type QuarantineOptions = {
  /** The folder that takes what is moved; absolute, and hidden from commands. */
  folder: string;
  /** Returns the names that are watched, absolute; what exists when a session begins is not among them. */
  watched(): readonly string[];
  /** Real folders of the workspace. */
  workspace: readonly string[];
  /** Returns true for a path that the person approved: an edit that was allowed, or one that was put back. */
  isApproved(path: string): boolean;
};

export type Quarantine = {
  /** Moves what appeared, and lists the files that changed and are only told. */
  look(): { moved: Quarantined[]; noted: string[] };
  /** Puts something back; returns why it could not. */
  accept(one: Quarantined): string | undefined;
};

/**
 * Opens the quarantine of a session; what exists now counts as the person's own. Nothing is written before it is
 * needed.
 */
export function openQuarantine({ folder, watched, workspace, isApproved }: QuarantineOptions): Quarantine {
  const bare = workspace.filter(isBare);
  const noted = presentNames(workspace.flatMap((root) => notedAtTop.map((name) => join(root, name))));
  const ofBare = presentNames(workspace.flatMap((root) => bareNames.map((name) => join(root, name))));
  let watching = { paths: watched(), present: presentNames(watched()) };
  const stamps = stampsOf(noted());
  const numbers = { next: namesIn(folder).length + 1 };
  const move = (path: string): Quarantined[] => {
    const place = join(folder, String(numbers.next));
    const kept = join(place, basename(path));
    makeFolders(place, 0o700);
    numbers.next += 1;
    return moved(path, kept) ? [{ path, kept }] : [];
  };
  return {
    look() {
      const paths = watched();
      if (paths !== watching.paths) watching = { paths, present: presentNames(paths) };
      const now = new Set(ofBare());
      const heads = workspace
        .filter((root) => !bare.includes(root) && bareNames.every((name) => now.has(join(root, name))))
        .map((root) => join(root, "HEAD"));
      const appeared = [...watching.present(), ...heads].filter((path) => !isApproved(path));
      return { moved: appeared.flatMap(move), noted: changedSince(stamps, noted()) };
    },
    accept({ path, kept }) {
      if (!isThere(kept)) return `${kept} is gone`;
      if (isThere(path)) return `${path} exists again: remove it first`;
      try {
        return insideFolder(path, ({ at }, name) => void transfer(kept, at(name)), { make: true });
      } catch (error) {
        if (!(error instanceof PathMoved) && errorCode(error) === undefined) throw error;
        return (error as Error).message;
      }
    },
  };
}

/** Moves an entry, whatever its folder is swapped for. Returns false when it was gone by then. */
function moved(path: string, kept: string): boolean {
  try {
    insideFolder(path, ({ at }, name) => transfer(at(name), kept));
    return true;
  } catch (error) {
    if (error instanceof PathMoved || errorCode(error) !== undefined) return false;
    throw error;
  }
}

/**
 * Renames; between two disks copies, links as links, and removes. What cannot be copied, such as a pipe, is removed.
 */
function transfer(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== "EXDEV") throw error;
    try {
      cpSync(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    } finally {
      rmSync(from, { recursive: true, force: true });
    }
  }
}

/** Returns true for a folder whose entries make it a bare repository, which git takes settings from. */
function isBare(root: string): boolean {
  return bareNames.every((name) => isThere(join(root, name)));
}

const bareNames = ["HEAD", "objects", "refs"];

/** States of the noted files, by path. */
type Stamps = Map<string, string>;

function stampsOf(noted: readonly string[]): Stamps {
  const stamps: Stamps = new Map();
  const add = (path: string): void => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) for (const name of namesIn(path)) add(join(path, name));
    else if (stats) stamps.set(path, `${stats.mtimeMs} ${stats.size} ${stats.ino}`);
  };
  for (const path of noted) add(path);
  return stamps;
}

/** Lists what is new or has changed since, and remembers it. */
function changedSince(before: Stamps, noted: readonly string[]): string[] {
  const changed = [...stampsOf(noted)].filter(([path, stamp]) => before.get(path) !== stamp);
  for (const [path, stamp] of changed) before.set(path, stamp);
  return changed.map(([path]) => path);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
