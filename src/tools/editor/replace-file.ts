/** Puts new bytes where a file was, all or nothing; mode, owner and hard links stay. */

import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { errorCode, Refusal } from "./refusal.ts";

const ours = /^\.sawtooth-(\d+)-[0-9a-f]{16}\.tmp$/;

/**
 * Writes the file whole: a new one beside it, then a rename. A read-only file is refused. A file that has other names (hard links), another
 * owner, or is a mount point cannot be swapped: it is written in place, restored when that fails. `path` has its
 * links resolved; missing folders are made. Throws the system's error with the old file intact.
 */
export async function replaceFile(path: string, bytes: Buffer): Promise<void> {
  const old = await existing(path);
  if (old) await access(path, constants.W_OK);
  else await mkdir(dirname(path), { recursive: true });
  await sweep(dirname(path));
  if (old && old.nlink > 1) return await overwrite(path, bytes);
  const temporary = temporaryFor(path);
  try {
    await writeNew(temporary, bytes, old);
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

/** A new file with the owner and mode of `old`; a wholly new one gets what the umask leaves. */
async function writeNew(path: string, bytes: Buffer, old: Stats | undefined): Promise<void> {
  const file = await open(path, "wx", old ? 0o600 : 0o666);
  try {
    await file.writeFile(bytes);
    if (old) {
      const made = await file.stat();
      if (made.uid !== old.uid || made.gid !== old.gid) await file.chown(old.uid, old.gid);
      // Last, because writing and changing the owner both take away the set-user-id bit.
      await file.chmod(old.mode & 0o7777);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** In place. What was there is kept in memory and, should we be killed meanwhile, in a copy beside it. */
async function overwrite(path: string, bytes: Buffer): Promise<void> {
  const original = await readFile(path);
  const copy = temporaryFor(path).replace(/tmp$/, "bak");
  const file = await open(path, "r+");
  try {
    await writeNew(copy, original, undefined);
    const { mode } = await file.stat();
    await fill(file, bytes);
    if ((await file.stat()).mode !== mode) await file.chmod(mode & 0o7777);
  } catch (error) {
    await restore(file, original).catch(() => {
      throw new Refusal(`${path} could be neither written nor restored: what it held is in ${copy}.`);
    });
    await rm(copy, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rm(copy);
}

async function restore(file: FileHandle, original: Buffer): Promise<void> {
  const held = Buffer.alloc(original.length);
  const { bytesRead } = await file.read(held, 0, held.length, 0);
  const untouched = bytesRead === original.length && held.equals(original);
  if (!untouched || (await file.stat()).size !== original.length) await fill(file, original);
}

async function fill(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, done)).bytesWritten;
  }
  await file.truncate(bytes.length);
  await file.sync();
}

/** The rename itself must survive a power cut. Some file systems cannot sync a folder. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    await folder.sync().finally(() => folder.close());
  } catch {}
}

/** Removes what a killed process left in this folder. */
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
