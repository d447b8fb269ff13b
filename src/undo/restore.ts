/** Restores files from a snapshot: first removals, then folders, then their contents. */

import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  lchmodSync,
  mkdirSync,
  openSync,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import type { Undone } from "../core/undo-port.ts";
import { makeFolders } from "../disk/make-folders.ts";
import { insideFolder, openEntry, PathMoved, type PinnedFolder, pinFolder } from "../disk/pinned-folder.ts";
import { replaceWith } from "../disk/replace-file.ts";
import { isErrno } from "../session/errors.ts";
import { type Change, type Entry, isSame, type State, wasLookedAt } from "./history.ts";
import { statusOf } from "./scan.ts";

type Lost = Undone["lost"][number];

/**
 * Plans the way from the current to the wanted state of `paths`; lists separately the files that cannot be restored.
 * Pure.
 */
export function planRestore(
  paths: readonly string[],
  now: State,
  then: State,
): { changes: Change[]; lost: Lost[] } {
  const changes: Change[] = [];
  const lost: Lost[] = [];
  for (const path of paths) {
    const [before, after] = [now.get(path), then.get(path)];
    if (isSame(before, after)) continue;
    const why = obstacle(path, { now, then, before, after });
    if (why) lost.push({ path, why });
    else changes.push({ path, before, after });
  }
  return { changes, lost };
}

type Sides = { now: State; then: State; before: Entry | undefined; after: Entry | undefined };

function obstacle(path: string, { now, then, before, after }: Sides): string | undefined {
  if (after?.type === "unkept") return "it was too large to keep, or could not be read";
  if (before?.type === "unkept") return "it is too large to keep a copy of, so it stays";
  if (!wasLookedAt(then, path) || !wasLookedAt(now, path)) return "the folder around it is not kept";
  return undefined;
}

/** Carries out the plan. Returns the errors of the system. */
export function restore(changes: readonly Change[], bytesOf: (entry: Entry) => Buffer | undefined): Lost[] {
  const lost: Lost[] = [];
  const attempt = (path: string, work: () => string | undefined): void => {
    try {
      const why = work();
      if (why) lost.push({ path, why });
    } catch (error) {
      if (error instanceof PathMoved) lost.push({ path, why: "a link leads elsewhere from where it was" });
      else if (isErrno(error)) lost.push({ path, why: error.code });
      else throw error;
    }
  };
  const down = changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const up = down.toReversed();
  const folders = down.filter(({ after }) => after?.type === "folder");
  for (const { path, before, after } of up)
    if (before && before.type !== after?.type) attempt(path, () => remove(path, before));
  for (const { path, before } of folders) attempt(path, () => openUp(path, before));
  for (const { path, after } of down)
    if (after?.type === "file" || after?.type === "link") attempt(path, () => write(path, after, bytesOf));
  for (const { path, after } of folders.toReversed())
    if (after?.type === "folder") attempt(path, () => closeDown(path, after.mode));
  return lost;
}

/** Removes an entry; a folder that still holds other files stays. */
function remove(path: string, before: Entry): undefined {
  if (before.type === "absent") return;
  if (before.type !== "folder")
    return insideFolder(path, ({ at }, name) => unlinkSync(at(name))) as undefined;
  try {
    insideFolder(path, ({ at }, name) => rmdirSync(at(name)));
  } catch (error) {
    if (!isErrno(error) || (error.code !== "ENOTEMPTY" && error.code !== "ENOENT")) throw error;
  }
}

/** Makes a folder writable for us; its own mode is set last. */
function openUp(path: string, before: Entry | undefined): undefined {
  if (before?.type === "folder") setMode(path, before.mode | 0o700);
  else insideFolder(path, ({ at }, name) => mkdirSync(at(name), { mode: 0o700 }), { make: true });
}

function closeDown(path: string, mode: number): string | undefined {
  if (!statusOf(path)?.isDirectory()) return "something else is in its place";
  setMode(path, mode);
  return undefined;
}

/** Sets the mode of a folder, even one that may not be listed, but of nothing that a link leads to. */
function setMode(path: string, mode: number): void {
  if (process.platform === "darwin") {
    insideFolder(path, ({ at }, name) => lchmodSync(at(name), mode));
    return;
  }
  const folder = pinFolder(path);
  try {
    chmodSync(folder.self(), mode);
  } finally {
    folder.close();
  }
}

function write(
  path: string,
  after: Extract<Entry, { type: "file" | "link" }>,
  bytesOf: (entry: Entry) => Buffer | undefined,
): string | undefined {
  const bytes = bytesOf(after);
  if (after.type === "file" && !bytes) return "its content was not saved";
  return insideFolder(
    path,
    (folder, name) => {
      if (after.type === "file" && hasOtherNames(folder.at(name)))
        return overwrite(folder, name, { bytes, mode: after.mode });
      replaceWith(folder.at(name), (temporary) => {
        if (after.type === "link") symlinkSync(after.target, temporary);
        else fill(openSync(temporary, "wx", 0o600), { bytes, mode: after.mode });
      });
      return undefined;
    },
    { make: true },
  );
}

type Content = { bytes: Buffer | undefined; mode: number };

function hasOtherNames(path: string): boolean {
  const status = statusOf(path);
  return status?.isFile() === true && status.nlink > 1;
}

/** Writes in place: the other names of the file get the content too. */
function overwrite(folder: PinnedFolder, name: string, content: Content): undefined {
  fill(openEntry(folder, name, constants.O_WRONLY | constants.O_TRUNC), content);
}

/** Fills an open file and closes it. */
function fill(fd: number, { bytes, mode }: Content): void {
  try {
    if (bytes) writeFileSync(fd, bytes);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

/** Writes the content of `entry` to a new file, for its owner only. Returns false when the content is not stored. */
export function writeCopy(
  copy: string,
  entry: Entry,
  bytesOf: (entry: Entry) => Buffer | undefined,
): boolean {
  makeFolders(dirname(copy), 0o700);
  if (entry.type === "link") symlinkSync(entry.target, copy);
  const bytes = bytesOf(entry);
  if (bytes) writeFileSync(copy, bytes, { flag: "wx", mode: 0o600 });
  return bytes !== undefined || entry.type === "link";
}

/** Returns the target of a link as written; undefined when it cannot be read. */
export function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
