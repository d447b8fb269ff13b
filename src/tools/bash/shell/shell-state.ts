/**
 * The state that a new shell takes over from the previous one: folder and exports, and functions where they were saved.
 */

import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readUntrusted } from "../../../disk/untrusted-file.ts";
import { files } from "./protocol.ts";

/** Returns the path on the machine of a path that the shell sees. */
export type HostPath = (path: string) => string;

export type ShellState = { number: number; cwd: string; exports: string };

/** Names that every shell sets for itself. */
const own = new Set(["PWD", "OLDPWD", "SHLVL", "_", "SAWTOOTH_SESSION", "SAWTOOTH_STATE", "SAWTOOTH_AGENT"]);

/** Returns the newest complete snapshot in the state folder, undefined when there is none. */
export function readShellState(folder: string): ShellState | undefined {
  const left = parseSnapshot(join(folder, files.left));
  if (left) return left;
  const snapshots = files.snapshots.map((name) => parseSnapshot(join(folder, name)));
  return snapshots.filter((snapshot) => snapshot !== undefined).sort((a, b) => b.number - a.number)[0];
}

/** Parses a snapshot. One that a dying shell did not finish lacks its number at the end and is ignored. */
function parseSnapshot(path: string): ShellState | undefined {
  const [number, cwd, exports, end] = (readUntrusted(path) ?? "").split("\0");
  if (!number || end !== number || cwd === undefined || exports === undefined) return undefined;
  return { number: Number(number), cwd, exports };
}

export type Restoration = {
  cwd: string;
  /** Bash lines that set the exports of the former shell which start-up does not set. */
  script: string;
  /** Names of the restored exports. */
  names: string[];
  /** "lost" unless the former shell ended by itself. */
  functions: "restored" | "none" | "lost";
};

/**
 * Returns how to restore the snapshot in a new shell; `cwds` are known folders, the newest last. `hostPath`: as of a
 * sandbox.
 */
export function restoration(
  folder: string,
  snapshot: ShellState,
  cwds: readonly string[],
  hostPath: HostPath,
): Restoration {
  const before = exportEntries(readUntrusted(join(folder, files.baseline)) ?? "");
  const after = exportEntries(snapshot.exports);
  const changed = [...after].filter(([name, entry]) => !own.has(name) && before.get(name) !== entry);
  const removed = [...before.keys()].filter((name) => !own.has(name) && !after.has(name));
  const functionsFile = join(folder, files.functions);
  const functions = readUntrusted(functionsFile) ?? "";
  return {
    cwd: lastExisting([...cwds, snapshot.cwd], hostPath),
    names: changed.map(([name]) => name),
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
  return { cwd, script: "", names: [], functions: "lost" };
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
