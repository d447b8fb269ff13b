/**
 * The state that a new shell takes over from the previous one: folder and exports, and functions where they were saved.
 */

import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readUntrustedStart } from "../../../disk/untrusted-file.ts";
import { files } from "./protocol.ts";

/** Returns the path on the machine of a path that the shell sees. */
export type HostPath = (path: string) => string;

export type ShellState = { number: number; cwd: string; exports: string };

/** `number`: of the newest snapshot, complete or not. */
export type SavedState = {
  number: number;
  /** The newest complete snapshot. */
  snapshot: ShellState | undefined;
  /** True when no newer one is incomplete: not finished by a dying shell, or larger than what is read. */
  isWhole: boolean;
};

/** Names that every shell sets for itself. */
const own = new Set(["PWD", "OLDPWD", "SHLVL", "_", "SAWTOOTH_SESSION", "SAWTOOTH_STATE", "SAWTOOTH_AGENT"]);

/** Reads what the shells of the state folder have saved, undefined when it is nothing. */
export function readShellState(folder: string): SavedState | undefined {
  const left = parseSnapshot(join(folder, files.left));
  const snapshots = files.snapshots.flatMap((name) => parseSnapshot(join(folder, name)) ?? []);
  const number = Math.max(...[left ?? [], snapshots].flat().map((one) => one.number));
  if (left?.snapshot) return { ...left, number };
  if (!left && snapshots.length === 0) return undefined;
  const newest = snapshots.filter(({ isWhole }) => isWhole).sort((a, b) => b.number - a.number)[0];
  return { number, snapshot: newest?.snapshot, isWhole: !left && newest?.number === number };
}

/** Parses a snapshot, undefined where there is none. A complete one has its number at the end too. */
function parseSnapshot(path: string): SavedState | undefined {
  const [start = "", cwd, exports, end] = (readUntrustedStart(path) ?? "").split("\0");
  if (!/^\d+$/.test(start)) return undefined;
  const number = Number(start);
  const isWhole = end === start && cwd !== undefined && exports !== undefined;
  return { number, isWhole, snapshot: isWhole ? { number, cwd, exports } : undefined };
}

export type Restoration = {
  cwd: string;
  /** Bash lines that set the exports of the former shell which start-up does not set. */
  script: string;
  /** Names of the restored exports. */
  names: string[];
  /** "older" when those of the last commands could not be read. */
  exports: "restored" | "older" | "lost";
  /** "lost" unless the former shell ended by itself. */
  functions: "restored" | "none" | "lost";
};

/**
 * Returns how to restore in a new shell what the state folder holds; `cwds` are known folders, the newest last.
 * `hostPath`: as of a sandbox.
 */
export function restoration(folder: string, cwds: readonly string[], hostPath: HostPath): Restoration {
  const { snapshot, isWhole = false } = readShellState(folder) ?? {};
  const before = exportEntries(snapshot ? textOf(join(folder, files.baseline)) : "");
  const after = exportEntries(snapshot?.exports ?? "");
  const changed = [...after].filter(([name, entry]) => !own.has(name) && before.get(name) !== entry);
  const removed = [...before.keys()].filter((name) => !own.has(name) && !after.has(name));
  const functions = textOf(join(folder, files.functions));
  return {
    cwd: lastExisting(snapshot ? [...cwds, snapshot.cwd] : cwds, hostPath),
    names: changed.map(([name]) => name),
    exports: isWhole ? "restored" : snapshot ? "older" : "lost",
    functions: functions === "" ? "lost" : hasUserFunctions(functions) ? "restored" : "none",
    script: [
      functions,
      ...changed.map(([, entry]) => entry),
      removed.length > 0 ? `unset ${removed.join(" ")}` : "",
    ].join("\n"),
  };
}

/** Leaves out of a restoration what a hostile program could have put there. */
export function onlyFolder({ cwd }: Restoration): Restoration {
  return { cwd, script: "", names: [], exports: "lost", functions: "lost" };
}

/** Returns what a shell wrote last into a file that is never truncated: it ends with NUL. */
function textOf(path: string): string {
  return readUntrustedStart(path)?.split("\0", 1)[0] ?? "";
}

function hasUserFunctions(text: string): boolean {
  return text
    .split("\n")
    .some((line) => /^(alias |\S+ \(\)\s*$)/.test(line) && !line.startsWith("__sawtooth_"));
}

/** Returns the newest folder of the list that exists, else the nearest existing one above the newest. */
export function lastExisting(cwds: readonly string[], hostPath: HostPath): string {
  const isThere = (path: string) => isFolder(hostPath(path));
  const existing = cwds.findLast(isThere);
  if (existing !== undefined) return existing;
  let above = cwds.at(-1) ?? "/";
  while (!isThere(above)) above = dirname(above);
  return above;
}

function isFolder(path: string): boolean {
  return path.startsWith("/") && existsSync(path) && statSync(path).isDirectory();
}

/** Parses `export -p` by name. Values may span lines, so quotes are followed. */
function exportEntries(text: string): Map<string, string> {
  const entries = new Map<string, string>();
  const entry =
    /(?:declare -\w+|export) ([A-Za-z_]\w*)(?:=("(?:[^"\\]|\\[\s\S])*"|\$'(?:[^'\\]|\\[\s\S])*'|[^\n]*))?\n/y;
  while (entry.lastIndex < text.length) {
    const at = entry.lastIndex;
    const match = entry.exec(text);
    if (match?.[1]) entries.set(match[1], match[0].trimEnd());
    else entry.lastIndex = text.indexOf("\n", at) + 1 || text.length;
  }
  return entries;
}
