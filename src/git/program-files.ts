/**
 * Lists the files of a repository that make git run programs: settings, hooks, and pointers to other settings. For
 * repositories that commands made, which may be hostile: nothing is followed out of them.
 */

import { constants, lstatSync, readdirSync, type Stats, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { readUntrusted } from "../disk/untrusted-file.ts";
import { harmless, settingsIn } from "./configured-programs.ts";

/** Settings that name no program but that a repository which commands made may have all the same. */
const plain =
  /^(?:core\.worktree|core\.fsmonitor|remote\..*\.(?:promisor|partialclonefilter)|extensions\.partialclone)$/;
/** Settings that are harmless only where nobody wrote them for others to run into. */
const doubtful = /^(?:core\.hookspath|core\.attributesfile|lfs\..*|gui\..*)$/;

/**
 * Lists them, absolute. `entry`: a `.git`, or the folder of a bare repository. Where `.git` is a file or a link, those of
 * the repository that it leads to, which may lie elsewhere.
 */
export function programFiles(entry: string): string[] {
  const stats = statusOf(entry);
  if (stats?.isDirectory()) return filesIn(entry);
  // Git takes a link for what it leads to; no command of git makes one.
  if (stats?.isSymbolicLink()) return [entry];
  const named = /^gitdir: (.+?)\s*$/.exec(readUntrusted(entry) ?? "")?.[1];
  if (named === undefined) return [];
  const data = resolve(dirname(entry), named);
  const common = readUntrusted(join(data, "commondir"))?.trim();
  const shared = common === undefined ? [] : filesIn(resolve(data, common));
  // The pointer of a working tree leads to its repository, whose files are looked at here.
  return [...filesIn(data).filter((path) => path !== join(data, "commondir")), ...shared];
}

function filesIn(folder: string): string[] {
  const settings = ["config", "config.worktree"].map((name) => join(folder, name));
  const pointer = join(folder, "commondir");
  return [
    ...settings.filter(namesPrograms),
    ...hooksIn(join(folder, "hooks")),
    ...(statusOf(pointer) ? [pointer] : []),
  ];
}

/** Returns true for settings that may run a program, or cannot be read. */
function namesPrograms(path: string): boolean {
  if (statusOf(path) === undefined) return false;
  const text = readUntrusted(path);
  return text === undefined || settingsIn(text).some(([name, value]) => runs(name, value));
}

function runs(name: string, value: string): boolean {
  if (name === "core.fsmonitor") return !/^(?:true|false|yes|no|on|off|0|1|)$/i.test(value);
  if (/^alias\./.test(name)) return value.startsWith("!");
  return doubtful.test(name) || !(plain.test(name) || harmless.test(name));
}

/** Lists the hooks that git would run: programs, but for the samples that it comes with. */
function hooksIn(folder: string): string[] {
  const stats = statusOf(folder);
  if (stats?.isSymbolicLink()) return [folder];
  if (!stats?.isDirectory()) return [];
  return readdirSync(folder)
    .filter((name) => !name.endsWith(".sample"))
    .map((name) => join(folder, name))
    .filter(isProgram);
}

function isProgram(path: string): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return (
      stats?.isFile() === true &&
      (stats.mode & (constants.S_IXUSR | constants.S_IXGRP | constants.S_IXOTH)) !== 0
    );
  } catch {
    return true;
  }
}

function statusOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
