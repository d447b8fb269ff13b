/** Replaces a file's content, all or nothing; mode, owner, other attributes and hard links stay. */

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { constants, mkdirSync, type Stats } from "node:fs";
import { access, type FileHandle, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeFolders } from "../../core/make-folders.ts";
import { errorCode } from "../../disk/real-path.ts";
import { Refusal } from "./refusal.ts";

const ours = /^\.sawtooth-(\d+)-[0-9a-f]{16}\.tmp$/;

/**
 * Writes the whole file: a new one beside it, then a rename. A read-only file is refused. A file that has other names
 * (hard links), another owner, or is a mount point cannot be swapped: it is written in place, and restored when that
 * fails. `path` has its links resolved; missing folders are created. Throws the system's error with the old file
 * intact.
 */
export async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const old = await existing(path);
  if (old) await access(path, constants.W_OK);
  else makeFolders(dirname(path), (folder) => mkdirSync(folder));
  await sweep(dirname(path));
  if (old && old.nlink > 1) return await overwrite(path, bytes);
  const temporary = temporaryFor(path);
  try {
    await writeNew(temporary, bytes, old && { path, stats: old });
    await rename(temporary, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(temporary, { force: true });
    if (old && ["EPERM", "EBUSY", "EXDEV"].includes(errorCode(error) ?? "")) await overwrite(path, bytes);
    else throw error;
  }
}

async function existing(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

function temporaryFor(path: string): string {
  return join(dirname(path), `.sawtooth-${process.pid}-${randomBytes(8).toString("hex")}.tmp`);
}

/** Creates a file with the owner, mode and other attributes of `like`; a wholly new one gets the umask's mode. */
async function writeNew(path: string, bytes: Buffer, like?: { path: string; stats: Stats }): Promise<void> {
  const file = await open(path, "wx", like ? 0o600 : 0o666);
  try {
    if (like) await copyAttributes(like.path, path);
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
 * so `cp` copies them, in about 2 ms. Where there is no GNU `cp` at this path, or the file system refuses, they are
 * lost.
 */
async function copyAttributes(from: string, to: string): Promise<void> {
  const words = ["--attributes-only", "--preserve=all", "--", from, to];
  const child = spawn("/bin/cp", words, { stdio: "ignore", env: {} });
  await new Promise((resolve) => child.on("error", resolve).on("close", resolve));
}

/** Writes in place. The old content is kept in memory and, should we be killed meanwhile, in a copy beside it. */
async function overwrite(path: string, bytes: Buffer): Promise<void> {
  const original = await readFile(path);
  const copy = temporaryFor(path).replace(/tmp$/, "bak");
  const file = await open(path, "r+");
  try {
    await writeNew(copy, original);
    const { mode } = await file.stat();
    await fill(file, bytes);
    if ((await file.stat()).mode !== mode) await file.chmod(mode & 0o7777);
  } catch (error) {
    await restore(file, original).catch(() => {
      throw new Refusal(`${path} could be neither written nor restored: its old content is in ${copy}.`);
    });
    await rm(copy, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rm(copy);
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
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch {}
}

/** Removes the temporary files of a killed process from this folder. */
async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const pid = Number(ours.exec(name)?.[1]);
    if (pid && !isAlive(pid)) await rm(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) !== "ESRCH";
  }
}
