/** The log on disk: one line per event, on the disk before anybody hears of it. */

import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import type { LogEvent } from "../core/events.ts";
import type { Clock, EventLog } from "../core/ports.ts";
import { isErrno } from "./errors.ts";

export type FileLogOptions = {
  /** Open for appending; closed by `close`. */
  fd: number;
  /** What the file already holds. */
  events: LogEvent[];
  nextSeq: number;
  /** The file's last line still lacks its newline. */
  unended: boolean;
  clock: Clock;
  warn: (text: string) => void;
};

/** Written at once, so that a process that dies has said it, and synced with the next event that is no bookkeeping. */
const bookkeeping: readonly LogEvent["type"][] = ["model_request", "permission_decided"];

/** A log that appends to a file. When the disk refuses, it warns once, goes on in memory and retries. */
export function fileLog({ fd, events, nextSeq, unended, clock, warn }: FileLogOptions) {
  const listeners = new Set<(event: LogEvent) => void>();
  let unsaved = unended ? "\n" : "";
  let warned = false;

  const save = (sync: boolean): void => {
    const refusal = appendLines(fd, unsaved, sync);
    if (!refusal) unsaved = "";
    if (refusal?.torn && !unsaved.startsWith("\n")) unsaved = `\n${unsaved}`;
    if (!refusal || warned) return;
    warned = true;
    warn(`the session cannot be saved (${refusal.code}); going on without saving, and trying again`);
  };

  const log: EventLog = {
    append({ type, ...rest }) {
      const line = JSON.stringify({ seq: nextSeq, at: clock(), type, ...rest });
      // What is in memory is what a later process will read.
      const event = JSON.parse(line) as LogEvent;
      nextSeq += 1;
      events.push(event);
      unsaved += `${line}\n`;
      save(!bookkeeping.includes(type));
      for (const listener of [...listeners]) tell(listener, event, warn);
      return event;
    },
    events: () => events,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return { log, close: () => closeSync(fd) };
}

function tell(listener: (event: LogEvent) => void, event: LogEvent, warn: (text: string) => void): void {
  try {
    listener(event);
  } catch (error) {
    warn(`a listener of the log failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Writes all of `text` or nothing. `torn`: a part was written and could not be taken back. */
function appendLines(fd: number, text: string, sync: boolean): { code: string; torn: boolean } | undefined {
  const bytes = Buffer.from(text);
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(fd, bytes, written);
  } catch (error) {
    if (!isErrno(error)) throw error;
    return { code: error.code, torn: written > 0 && !takenBack(fd, written) };
  }
  try {
    if (sync) fdatasyncSync(fd);
    return undefined;
  } catch (error) {
    // Some network filesystems cannot sync: the line is written as well as it can be.
    if (isErrno(error)) return undefined;
    throw error;
  }
}

function takenBack(fd: number, written: number): boolean {
  try {
    ftruncateSync(fd, fstatSync(fd).size - written);
    return true;
  } catch {
    return false;
  }
}
