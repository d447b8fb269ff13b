/** The log on disk: one line per event, written before any listener is called. */

import { closeSync, fdatasyncSync, fstatSync, ftruncateSync, writeSync } from "node:fs";
import type { LogEvent } from "../core/events.ts";
import type { Clock, EventLog } from "../core/ports.ts";
import { isErrno } from "./errors.ts";

export type FileLogOptions = {
  /** A file descriptor open for appending; closed by `close`. */
  fd: number;
  /** The events already in the file. */
  events: LogEvent[];
  nextSeq: number;
  /** True when the file's last line still lacks its newline. */
  unended: boolean;
  /** False once another machine took the session: from then on nothing is written. */
  isOurs(): boolean;
  clock: Clock;
  warn: (text: string) => void;
};

/**
 * Events written at once, so that they survive the death of the process, but synced only with the next other event. A
 * session that has only started holds nothing yet: the message of the user follows.
 */
const bookkeeping: readonly LogEvent["type"][] = ["session_started", "model_request", "permission_decided"];

/**
 * Creates a log that appends to a file. When the disk refuses, it warns once, continues in memory and retries. What is
 * appended after `close` stays in memory: by then the descriptor may be that of another file.
 */
export function fileLog({ fd, events, nextSeq, unended, isOurs, clock, warn }: FileLogOptions) {
  const listeners = new Set<(event: LogEvent) => void>();
  let unsaved = unended ? "\n" : "";
  let warned = false;
  let lost = false;
  let closed = false;

  const save = (sync: boolean): void => {
    if (closed) return;
    if (!isOurs()) {
      warnOfLoss();
      return;
    }
    const refusal = appendLines(fd, unsaved, sync);
    if (!refusal) unsaved = "";
    if (refusal?.torn && !unsaved.startsWith("\n")) unsaved = `\n${unsaved}`;
    if (!refusal || warned) return;
    warned = true;
    warn(`the session cannot be saved (${refusal.code}); continuing without saving, and retrying`);
  };

  const warnOfLoss = (): void => {
    if (!lost)
      warn(
        "another machine continues this session, because this one was silent for too long: what follows here is not saved; end it",
      );
    lost = true;
  };

  const log: EventLog = {
    append({ type, ...rest }) {
      const line = JSON.stringify({ seq: nextSeq, at: clock(), type, ...rest });
      // Keep in memory what a later process will read.
      const event = JSON.parse(line) as LogEvent;
      nextSeq += 1;
      events.push(event);
      unsaved += `${line}\n`;
      save(!bookkeeping.includes(type));
      for (const listener of [...listeners]) notify(listener, event, warn);
      return event;
    },
    events: () => events,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const close = (): void => {
    closed = true;
    closeSync(fd);
  };
  return { log, close };
}

function notify(listener: (event: LogEvent) => void, event: LogEvent, warn: (text: string) => void): void {
  try {
    listener(event);
  } catch (error) {
    warn(`a listener of the log failed: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Writes all of `text` or nothing. `torn`: a part was written and could not be removed. */
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
    // Some network file systems cannot sync; the line is written all the same.
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
