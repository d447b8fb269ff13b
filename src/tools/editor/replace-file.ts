/** Replaces a file's content, all or nothing; mode, owner, other attributes and hard links stay. */

import { type StdioOptions, spawn } from "node:child_process";
import { closeSync, constants, lstatSync, type Stats } from "node:fs";
import { access, type FileHandle, open, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { insideFolder, openEntry, PathMoved, type PinnedFolder } from "../../disk/pinned-folder.ts";
import { isOrphan } from "../../disk/process-name.ts";
import { errorCode } from "../../disk/real-path.ts";
import { makerOf, replaceWith, temporaryName } from "../../disk/replace-file.ts";
import { Refusal } from "./refusal.ts";

/**
 * Writes the whole file: a new one beside it, then a rename. A read-only file is refused. A file that has other names
 * (hard links), another owner, or is a mount point cannot be swapped: it is written in place, and restored when that
 * fails. `path` has its links resolved; missing folders are created, and a folder that was swapped for a link since is
 * not followed. Throws `PathMoved` or the system's error with the old file intact.
 */
export async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  await insideFolder(path, (folder, name) => replaceIn({ folder, name }, bytes), { make: true });
}

/** A file by the folder that it lies in, and its name there. */
type Place = { folder: PinnedFolder; name: string };

async function replaceIn(place: Place, bytes: Buffer): Promise<void> {
  const { folder, name } = place;
  const old = existing(place);
  if (old) await access(folder.at(name), constants.W_OK);
  await sweep(folder);
  if (old && old.nlink > 1) return await overwrite(place, bytes);
  try {
    await replaceWith(folder.at(name), (temporary) =>
      writeNew(temporary, bytes, old && { place, stats: old }),
    );
    await syncFolder(folder);
  } catch (error) {
    if (old && ["EPERM", "EBUSY", "EXDEV"].includes(errorCode(error) ?? "")) await overwrite(place, bytes);
    else throw error;
  }
}

/** A link in the place of the file was none when the path was resolved. */
function existing({ folder, name }: Place): Stats | undefined {
  const stats = lstatSync(folder.at(name), { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) throw new PathMoved(join(folder.path, name));
  return stats;
}

/** Creates a file with the owner, mode and other attributes of `like`; a wholly new one gets the umask's mode. */
async function writeNew(path: string, bytes: Buffer, like?: { place: Place; stats: Stats }): Promise<void> {
  const file = await open(path, "wx", like ? 0o600 : 0o666);
  try {
    if (like) await copyAttributes(like.place, file);
    await file.writeFile(bytes);
    if (like) {
      const { uid, gid, mode } = like.stats;
      const made = await file.stat();
      if (made.uid !== uid || made.gid !== gid) await file.chown(uid, gid);
      // Last, because both writing and changing the owner clear the set-user-id bit.
      await file.chmod(mode & 0o7777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/**
 * Copies access lists and extended attributes. Node can neither read nor write them, nor tell whether a file has any,
 * so `cp` copies them, in about 2 ms, between two descriptors: a name could be a link by then. Where there is no GNU
 * `cp` at this path, or the file system refuses, they are lost.
 */
async function copyAttributes({ folder, name }: Place, to: FileHandle): Promise<void> {
  const from = openEntry(folder, name, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const words = ["--attributes-only", "--preserve=all", "--", "/proc/self/fd/3", "/proc/self/fd/4"];
    const stdio: StdioOptions = ["ignore", "ignore", "ignore", from, to.fd];
    const child = spawn("/bin/cp", words, { stdio, env: {} });
    await new Promise((resolve) => child.on("error", resolve).on("close", resolve));
  } finally {
    closeSync(from);
  }
}

/** Writes in place. The old content is kept in memory and, should we be killed meanwhile, in a copy beside it. */
async function overwrite({ folder, name }: Place, bytes: Buffer): Promise<void> {
  const copy = temporaryName().replace(/tmp$/, "bak");
  const file = await open(folder.at(name), constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const original = await file.readFile();
    try {
      await writeNew(folder.at(copy), original);
      const { mode } = await file.stat();
      await fill(file, bytes);
      if ((await file.stat()).mode !== mode) await file.chmod(mode & 0o7777);
    } catch (error) {
      await restore(file, original).catch(() => {
        const [path, kept] = [name, copy].map((entry) => join(folder.path, entry));
        throw new Refusal(`${path} could be neither written nor restored: its old content is in ${kept}.`);
      });
      await rm(folder.at(copy), { force: true });
      throw error;
    }
  } finally {
    await file.close();
  }
  await rm(folder.at(copy));
}

async function restore(file: FileHandle, original: Buffer): Promise<void> {
  const current = Buffer.alloc(original.length);
  const { bytesRead } = await file.read(current, 0, current.length, 0);
  const untouched = bytesRead === original.length && current.equals(original);
  if (!untouched || (await file.stat()).size !== original.length) await fill(file, original);
}

async function fill(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, done)).bytesWritten;
  }
  await file.truncate(bytes.length);
  await file.sync();
}

/** Syncs the folder, so that the rename itself survives a power cut. Some file systems cannot sync a folder. */
async function syncFolder(folder: PinnedFolder): Promise<void> {
  try {
    const listed = await open(folder.self(), "r");
    await listed.sync().finally(() => listed.close());
  } catch {}
}

/** Removes the temporary files of a killed process from this folder. */
async function sweep(folder: PinnedFolder): Promise<void> {
  for (const name of await readdir(folder.self()).catch(() => [])) {
    const maker = makerOf(name);
    if (maker && isOrphan(maker)) await rm(folder.at(name), { force: true });
  }
}
