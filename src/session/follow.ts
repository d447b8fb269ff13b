/** Follows the log of a session that another process writes: each whole line once, as it is appended. */

import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import type { LogEvent } from "../core/events.ts";
import { isErrno } from "./errors.ts";
import { isKnown, parseLine } from "./read.ts";

export type Followed = {
  /** The events appended since the last look. */
  events: LogEvent[];
  /** True when the file is another one, or shorter than it was: what was read before no longer holds. */
  replaced: boolean;
};

/** Bytes read at once. */
const most = 16 * 1024 * 1024;

/**
 * Returns a look at what was appended. Damaged lines and events of a newer version are left out, as a reader of the
 * whole log does. A file that is gone has nothing new: it may come back.
 */
export function followLog(file: string): () => Followed {
  let known: Pick<Stats, "ino" | "dev"> | undefined;
  let [read, nextSeq] = [0, 0];
  let rest: Buffer[] = [];
  const take = (line: Buffer): LogEvent[] => {
    const event = parseLine(line);
    if (!event || event.seq < nextSeq) return [];
    nextSeq = event.seq + 1;
    return isKnown(event) ? [event] : [];
  };
  /** Keeps the beginning of a line until its end comes. */
  const takeBytes = (bytes: Buffer): LogEvent[] => {
    read += bytes.length;
    const end = bytes.lastIndexOf(10);
    rest.push(end < 0 ? bytes : bytes.subarray(0, end));
    if (end < 0) return [];
    const whole = Buffer.concat(rest);
    rest = [bytes.subarray(end + 1)];
    return [...linesOf(whole)].flatMap(take);
  };
  return () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats) return { events: [], replaced: false };
    const replaced =
      known !== undefined && (stats.ino !== known.ino || stats.dev !== known.dev || stats.size < read);
    if (replaced) [read, nextSeq, rest] = [0, 0, []];
    known = { ino: stats.ino, dev: stats.dev };
    const events: LogEvent[] = [];
    for (let bytes = bytesFrom(file, read); bytes.length > 0; bytes = bytesFrom(file, read))
      events.push(...takeBytes(bytes));
    return { events, replaced };
  };
}

function bytesFrom(file: string, from: number): Buffer {
  try {
    const fd = openSync(file, "r");
    try {
      const bytes = Buffer.alloc(Math.max(0, Math.min(most, fstatSync(fd).size - from)));
      return bytes.subarray(0, bytes.length === 0 ? 0 : readSync(fd, bytes, 0, bytes.length, from));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if (!isErrno(error)) throw error;
    return Buffer.alloc(0);
  }
}

function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    if (end > start) yield bytes.subarray(start, end);
    start = end + 1;
  }
}
