/**
 * Closes sockets of the machine that appear after a sandbox has started. The kernel lets a socket be connected to on every
 * mount where its file can be seen, read-only or not; so each is covered in the sandbox's own mounts, as those that were
 * there before it have been.
 */

import { closeSync, openSync, readSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { openSockets, processIds, procLink, procText } from "../disk/process-stat.ts";
import { mountInside } from "./mount-inside.ts";

/**
 * A socket that is bound to a path, as its program wrote it. `id`: the kernel's number of it; another one at the same path
 * has another.
 */
export type BoundSocket = { id: string; path: string };

export type LateOptions = {
  /** First process of the sandbox, as the machine counts. */
  pid: number;
  /** Returns true for a path that commands may reach, or that they see nothing of. */
  isLeft(path: string): boolean;
  /** False once the sandbox has ended, and with it the watch. */
  isAlive(): boolean;
  /** Called with the reason when a socket could not be covered. */
  onFailure(reason: string): void;
  /** Folders in which Perl and Python are looked for. */
  folders?: readonly string[];
};

export type LateSockets = {
  /** Covers what appeared since the last look. Never rejects: what cannot be covered is told. */
  look(): Promise<void>;
  close(): void;
};

/** `before`: the sockets that the sandbox has closed from its start. */
export function lateSockets(before: readonly BoundSocket[], options: LateOptions): LateSockets {
  const { pid, isLeft, isAlive, onFailure, folders } = options;
  const table = openTable();
  let known = new Set(before.map(keyOf));
  let covering: Promise<void> = Promise.resolve();
  return {
    look() {
      const text = table.changed();
      if (text === undefined) return covering;
      const now = boundSockets(text);
      const fresh = now.filter((one) => !known.has(keyOf(one)));
      known = new Set(now.map(keyOf));
      const paths = pathsOf(fresh).filter((path) => !isLeft(path));
      if (paths.length === 0) return covering;
      const covers = paths.map((path) => ({ path, how: "socket" as const, source: "/dev/null" }));
      const covered = mountInside(pid, covers, folders).catch((error: Error) => {
        const what = `sockets of the machine stay reachable in the sandbox (${paths.join(", ")})`;
        if (isAlive()) onFailure(`${what}: ${error.message}`);
      });
      // All of them before a command goes on.
      covering = Promise.all([covering, covered]).then(() => {});
      return covering;
    },
    close: table.close,
  };
}

/** The kernel's table of sockets, through one open file: to open it costs as much as to read it. */
function openTable(): { changed(): string | undefined; close(): void } {
  let file: number | undefined;
  let [last, next] = [Buffer.alloc(0), Buffer.alloc(16 * 1024)];
  return {
    /** Returns its text where that is another than at the call before. */
    changed() {
      try {
        file ??= openSync("/proc/net/unix", "r");
        let length = 0;
        for (let got = -1; got !== 0; length += got) {
          if (length === next.length) next = Buffer.concat([next, Buffer.alloc(length)]);
          got = readSync(file, next, length, next.length - length, length);
        }
        const now = next.subarray(0, length);
        if (now.equals(last)) return undefined;
        next = Buffer.alloc(next.length);
        last = now;
        return now.toString("utf8");
      } catch {
        return undefined;
      }
    },
    close() {
      if (file !== undefined) closeSync(file);
      file = undefined;
    },
  };
}

function keyOf({ id, path }: BoundSocket): string {
  return `${id} ${path}`;
}

/** Lists the sockets of this machine that can be connected or sent to by their path. */
export function boundSockets(table = procText("net/unix") ?? ""): BoundSocket[] {
  // Columns: address, references, protocol, flags, type, state, number, path. Flag 10000: it listens; type 2: datagrams.
  const rows = table.matchAll(
    /^\S+ \S+ \S+ (?:[0-9A-F]{3}1[0-9A-F]{4} \d{4}|[0-9A-F]{8} 0002) \S+ +(\d+) ([^@].*)$/gm,
  );
  return [...rows].map(([, id = "", path = ""]) => ({ id, path }));
}

/** Returns the absolute paths of sockets. A relative one is looked for in the folder of the program that has it. */
export function pathsOf(sockets: readonly BoundSocket[]): string[] {
  const relative = sockets.filter(({ path }) => !isAbsolute(path));
  const ids = new Set(relative.map(({ id }) => id));
  const holders = relative.length === 0 ? [] : processIds();
  const found = holders.flatMap((pid) => {
    const open = new Set(openSockets(pid).flatMap(({ inode }) => (ids.has(inode) ? [inode] : [])));
    const folder = open.size > 0 ? procLink(`${pid}/cwd`) : undefined;
    return folder === undefined
      ? []
      : relative.filter(({ id }) => open.has(id)).map(({ path }) => join(folder, path));
  });
  return [...new Set([...sockets.map(({ path }) => path).filter(isAbsolute), ...found])];
}
