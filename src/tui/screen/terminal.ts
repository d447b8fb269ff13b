/** The terminal itself: raw mode and bracketed paste while we have it, everything as it was after any end, even a violent one. */

import { writeSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { Size } from "../rows/rows.ts";
import { createGuard, leaveAlternate, resetModes, terminalModes } from "./guard.ts";

export type Terminal = {
  /** Takes the terminal: keys come one by one, pastes are marked. */
  take(): void;
  /** Gives it back as it was. Idempotent, and works while the process dies. */
  release(): void;
  /** From now on it is given back even when the process is killed. Costs a process; once is enough. */
  guard(): void;
  /** Another program's screen is shown instead of ours, or no longer. */
  lend(lent: boolean): void;
  write(bytes: string | Buffer): void;
  size(): Size;
  /** Looks whether the window has another size already, before the signal that tells it is heard. */
  look(): void;
  onData(listener: (chunk: string) => void): void;
  onResize(listener: () => void): void;
};

const takeModes = "\x1b[?2004h";

/** The terminal on standard input and output, which both must be one. */
export function createTerminal(stdin: ReadStream, stdout: typeof process.stdout): Terminal {
  const guard = createGuard(stdout.fd);
  let taken = false;
  let lent = false;
  let modes: string | undefined;
  const release = (): void => {
    if (!taken) return;
    taken = false;
    try {
      stdin.setRawMode(false);
      // At the end of the process nothing that is queued would be written any more.
      writeSync(stdout.fd, resetModes + (lent ? leaveAlternate : ""));
      lent = false;
      guard.released();
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
      modes = terminalModes(stdout.fd);
      stdin.setRawMode(true);
      guard.taken(modes);
      stdin.resume();
      stdout.write(takeModes);
    },
    release,
    guard: guard.start,
    lend(next) {
      lent = next;
      if (taken) guard.taken(modes, lent);
    },
    write: (bytes) => void stdout.write(bytes),
    // What Node itself does on SIGWINCH: when the size is another one, it emits `resize`.
    look: () => (stdout as { _refreshSize?: () => void })._refreshSize?.(),
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onData: (listener) => void stdin.on("data", listener),
    onResize: (listener) => void stdout.on("resize", listener),
  };
}
