/**
 * Checks whether files still have the content that the model knows. Reads them only when their times or sizes changed.
 */

import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import type { KnownFile } from "../../core/ports.ts";

/** Larger files are not watched: reading them between two steps would be felt. */
const maxBytes = 8 * 1024 * 1024;
/** Digits of the hash that are kept: enough to tell two states of one file apart. */
const digits = 16;

/** Returns the id of a file's state: the beginning of its SHA-256. */
export function fileState(sha256: string): string {
  return sha256.slice(0, digits);
}

/**
 * Creates a watch that looks at files once a step, for one session. A file named in one of `commands` (the model's
 * latest) was changed by the model and counts as known; changes that a formatter made to other files are reported.
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
      // A file that cannot be read now is no evidence of a change.
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
