/**
 * Closes paths whose wall is gone, or could not be made yet. The kernel takes a mount off in every namespace when a program
 * of the machine replaces or removes the file below it, as `git config` and many editors do; the new file has no wall
 * before it. And what does not exist has none.
 */

import { lstatSync } from "node:fs";
import { procText } from "../disk/process-stat.ts";
import { type Closing, mountInside } from "./mount-inside.ts";
import { pathsInChanged } from "./present-names.ts";

export type LostOptions = {
  /** First process of the sandbox, as the machine counts. */
  pid: number;
  /** False once the sandbox has ended. */
  isAlive(): boolean;
  /** Called for a read-only path that is no file or folder of the machine any more. */
  onGone(path: string): void;
  /** Called for hidden paths that are there now. */
  onHidden(paths: readonly string[]): void;
  /** Called with a line for the person about what could be written for a moment. */
  warn(text: string): void;
  /** Called with the reason when something could not be closed. */
  onFailure(reason: string): void;
  /** Folders in which Perl and Python are looked for. */
  folders?: readonly string[];
};

/**
 * Returns a look that closes what was lost since the one before. `mayWrite`: tells, when
 * something was lost, whether something ran that could have written it.
 */
export function lostMounts(
  walls: readonly Closing[],
  options: LostOptions,
): (mayWrite: () => boolean) => Promise<void> {
  const { pid, isAlive, onGone, onHidden, warn, onFailure, folders } = options;
  const byPath = new Map(walls.map((wall) => [wall.path, wall]));
  const inChanged = pathsInChanged([...byPath.keys()]);
  /** States of the paths at the last look. */
  const seen = new Map<string, string | undefined>();
  const isNew = (path: string): boolean => {
    const state = stateOf(path);
    const isSame = seen.has(path) && seen.get(path) === state;
    seen.set(path, state);
    return !isSame;
  };
  let closing: Promise<void> = Promise.resolve();
  return (mayWrite) => {
    const changed = inChanged().filter(isNew);
    if (changed.length === 0) return closing;
    const mounted = mountPoints(procText(`${pid}/mountinfo`) ?? "");
    const lost = mounted.size === 0 ? [] : changed.filter((path) => !mounted.has(path));
    const fresh = lost.flatMap((path) => {
      const wall = byPath.get(path);
      const isThere = seen.get(path) !== undefined;
      if (!isThere && wall?.how === "readOnly") onGone(path);
      return wall && isThere ? [wall] : [];
    });
    // Parents first.
    fresh.sort((a, b) => a.path.length - b.path.length);
    if (fresh.length === 0) return closing;
    onHidden(fresh.flatMap(({ how, path }) => (how === "hidden" ? [path] : [])));
    const closed = mountInside(pid, fresh, folders).then(
      () => {
        const opened = fresh.flatMap(({ how, path }) => (how === "readOnly" ? [path] : []));
        if (opened.length > 0 && mayWrite()) warn(openedText(opened));
      },
      ({ message }: Error) => {
        if (isAlive()) onFailure(failureText(fresh, message));
      },
    );
    closing = Promise.all([closing, closed]).then(() => {});
    return closing;
  };
}

function openedText(paths: readonly string[]): string {
  return `sandbox: another program replaced ${paths.join(", ")} while commands ran, which could write it for a moment; look at it before you use it`;
}

function failureText(walls: readonly Closing[], reason: string): string {
  const paths = walls.map(({ path }) => path).join(", ");
  return `sandbox: it was ended, since another program replaced ${paths}, which could not be closed again (${reason}); the next command starts a new one`;
}

/** Tells one file or folder at a path from the next; undefined for anything else there. */
function stateOf(path: string): string | undefined {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined || stats.isSymbolicLink()) return undefined;
    const { dev, ino, birthtimeMs, ctimeMs } = stats;
    // A file can be taken away and be put back by a second name, which changes this time.
    return `${dev} ${ino} ${birthtimeMs} ${stats.isDirectory() ? "" : ctimeMs}`;
  } catch {
    return undefined;
  }
}

/** Lists the paths in a table of mounts, as proc(5) writes them: odd characters as octal numbers. */
function mountPoints(table: string): Set<string> {
  const paths = table.split("\n").flatMap((line) => line.split(" ")[4] ?? []);
  return new Set(
    paths.map((path) =>
      path.includes("\\")
        ? Buffer.from(
            path.replace(/\\([0-7]{3})/g, (_, digits: string) =>
              String.fromCharCode(Number.parseInt(digits, 8)),
            ),
            "latin1",
          ).toString("utf8")
        : path,
    ),
  );
}
