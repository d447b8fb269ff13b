/** The terminal itself: raw mode and bracketed paste while we have it, everything as it was after any end. */

import { writeSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { Size } from "./screen.ts";

export type Terminal = {
  /** Takes the terminal: keys come one by one, pastes are marked. */
  take(): void;
  /** Gives it back as it was. Idempotent, and works while the process dies. */
  release(): void;
  write(bytes: string): void;
  size(): Size;
  onData(listener: (chunk: string) => void): void;
  onResize(listener: () => void): void;
};

const takeModes = "\x1b[?2004h";
/** What is never set is reset too: a program run in between may have left it. */
const giveBack = "\x1b[?2026l\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?25h\x1b[0m";

/** The terminal on standard input and output, which both must be one. */
export function createTerminal(stdin: ReadStream, stdout: typeof process.stdout): Terminal {
  let taken = false;
  const release = (): void => {
    if (!taken) return;
    taken = false;
    try {
      stdin.setRawMode(false);
      // At the end of the process nothing that is queued would be written any more.
      writeSync(stdout.fd, giveBack);
    } catch {
      // The terminal is gone: there is nothing to give back.
    }
    stdin.pause();
  };
  stdin.setEncoding("utf8");
  process.on("exit", release);
  return {
    take() {
      if (taken) return;
      taken = true;
      stdin.setRawMode(true);
      stdin.resume();
      stdout.write(takeModes);
    },
    release,
    write: (bytes) => void stdout.write(bytes),
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onData: (listener) => void stdin.on("data", listener),
    onResize: (listener) => void stdout.on("resize", listener),
  };
}
