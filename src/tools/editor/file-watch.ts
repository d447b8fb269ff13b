/** Whether files are still as the model knows them. Judged by content; read only when their times or sizes changed. */

import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { KnownFile } from "../../core/ports.ts";

/** Larger files are not watched: to read them between two steps would be felt. */
const maxBytes = 8 * 1024 * 1024;
/** Digits of a hash that are kept: enough to tell two states of one file apart. */
const digits = 16;

/** How a state of a file is noted: the beginning of its SHA-256. */
export function fileState(sha256: string): string {
  return sha256.slice(0, digits);
}

/**
 * Looks at files once a step; for one session. A file that one of `commands` (what the model just ran) names was changed
 * by the model and is then taken as known; what a formatter did to files that no command names is told.
 */
export function fileWatch(): (known: readonly KnownFile[], commands: readonly string[]) => KnownFile[] {
  const looked = new Map<string, { stamp: string; hash: string }>();
  const accepted = new Map<string, string>();
  const stateNow = (path: string): string | undefined => {
    try {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (!stats) return "";
      if (!stats.isFile() || stats.size > maxBytes) return undefined;
      const stamp = `${stats.mtimeNs}.${stats.ctimeNs}.${stats.size}.${stats.ino}`;
      const last = looked.get(path);
      if (last?.stamp === stamp) return last.hash;
      const made = { stamp, hash: fileState(hash("sha256", readFileSync(path))) };
      looked.set(path, made);
      return made.hash;
    } catch {
      // What cannot be read now says nothing about what it holds.
      return undefined;
    }
  };
  return (known, commands) =>
    known.flatMap((file) => {
      const now = stateNow(file.path);
      if (now === undefined || now === file.hash || now === accepted.get(file.path)) return [];
      if (!commands.some((command) => command.includes(basename(file.path))))
        return [{ path: file.path, hash: now }];
      accepted.set(file.path, now);
      return [];
    });
}
