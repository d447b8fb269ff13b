/** Moves files away that a command made and that programs outside of the sandbox would run, and puts them back. */

import { cpSync, lstatSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { makeFolders } from "../disk/make-folders.ts";
import { insideFolder, PathMoved } from "../disk/pinned-folder.ts";
import { errorCode } from "../disk/real-path.ts";
import { gitPrograms } from "../permissions/sandbox/protected-paths.ts";
import { notedAtTop } from "../permissions/sandbox/watched.ts";
import { folderStamp, isThere, presentNames } from "./present-names.ts";

/** A file or folder that was moved. `kept`: absolute, where it is now. */
export type Quarantined = { path: string; kept: string };

export type QuarantineOptions = {
  /** The folder that takes what is moved; absolute, and hidden from commands. */
  folder: string;
  /** Returns the names that are watched, absolute; what exists when a session begins is not among them. */
  watched(): readonly string[];
  /** Returns true for a name at the top of a workspace that other programs run. */
  isWatched?(name: string): boolean;
  /** Real folders of the workspace. */
  workspace: readonly string[];
  /** Returns true for a path that the person approved: an edit that was allowed, or one that was put back. */
  isApproved(path: string): boolean;
};

export type Quarantine = {
  /**
   * Looks for files of repositories as well from now on: what `programFiles` lists. Those that are there at the first
   * call, before a command has run, are the person's own.
   */
  begin(programFiles: () => readonly string[]): void;
  /** Moves what appeared, and lists the files that changed and are only told. */
  look(): { moved: Quarantined[]; noted: string[] };
  /** Moves what appeared in the repositories that were there before: for looks while a command runs. */
  lookAtGit(): Quarantined[];
  /** Puts something back; returns why it could not. */
  accept(one: Quarantined): string | undefined;
};

/**
 * Opens the quarantine of a session; what exists now counts as the person's own. Nothing is written before it is
 * needed.
 */
export function openQuarantine(options: QuarantineOptions): Quarantine {
  const { folder, watched, isWatched = () => false, workspace, isApproved } = options;
  const bare = workspace.filter(isBare);
  const noted = presentNames(workspace.flatMap((root) => notedAtTop.map((name) => join(root, name))));
  const ofBare = presentNames(workspace.flatMap((root) => bareNames.map((name) => join(root, name))));
  const newNames = newNamesIn(workspace, isWatched);
  let watching = watchingOf(watched());
  const programs = ofRepositories();
  const stamps = stampsOf(noted());
  const numbers = { next: namesIn(folder).length + 1 };
  const move = (path: string): Quarantined[] => {
    const place = join(folder, String(numbers.next));
    const kept = join(place, basename(path));
    makeFolders(place, 0o700);
    numbers.next += 1;
    return moved(path, kept) ? [{ path, kept }] : [];
  };
  const watchingNow = (): Watching => {
    const paths = watched();
    if (paths !== watching.paths) watching = watchingOf(paths);
    return watching;
  };
  return {
    begin: programs.begin,
    lookAtGit: () =>
      watchingNow()
        .inGit()
        .filter((path) => !isApproved(path))
        .flatMap(move),
    look() {
      const now = new Set(ofBare());
      const heads = workspace
        .filter((root) => !bare.includes(root) && bareNames.every((name) => now.has(join(root, name))))
        .map((root) => join(root, "HEAD"));
      const { inGit, others } = watchingNow();
      const appeared = new Set([...inGit(), ...others(), ...newNames(), ...heads, ...programs.changed()]);
      const foreign = [...appeared].filter((path) => !isApproved(path));
      return { moved: foreign.flatMap(move), noted: changedSince(stamps, noted()) };
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

/** The watched names that exist, in the data of git and elsewhere. */
type Watching = { paths: readonly string[]; inGit(): string[]; others(): string[] };

function watchingOf(paths: readonly string[]): Watching {
  const isOfGit = (path: string) => gitPrograms.some((name) => path.endsWith(`/${name}`));
  return {
    paths,
    inGit: presentNames(paths.filter(isOfGit)),
    others: presentNames(paths.filter((path) => !isOfGit(path))),
  };
}

/** The files of repositories that are new or have changed since the beginning. */
function ofRepositories() {
  let own: Stamps | undefined;
  let files: () => readonly string[] = () => [];
  const isOwn = ([path, stamp]: [string, string]) => own?.get(path) === stamp;
  return {
    begin(programFiles: () => readonly string[]): void {
      files = programFiles;
      own ??= stampsOf(files());
    },
    changed: () => files().filter((path) => ![...stampsOf([path])].every(isOwn)),
  };
}

/** Returns a function that lists the entries of `roots` whose name is watched and that were not there before. */
function newNamesIn(roots: readonly string[], isWatched: (name: string) => boolean): () => string[] {
  const stampOf = folderStamp();
  const seen = new Map<string, { stamp: string | undefined; paths: string[] }>();
  const named = (root: string) =>
    namesIn(root)
      .filter(isWatched)
      .map((name) => join(root, name));
  const before = new Set(roots.flatMap(named));
  return () =>
    roots.flatMap((root) => {
      const stamp = stampOf(root);
      const known = seen.get(root);
      if (known && stamp !== undefined && known.stamp === stamp) return known.paths;
      const paths = named(root).filter((path) => !before.has(path));
      seen.set(root, { stamp, paths });
      return paths;
    });
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
