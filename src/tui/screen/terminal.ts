/**
 * The terminal itself: raw mode and bracketed paste while we have it, and everything restored after any end, even a
 * violent one.
 */

import { writeSync } from "node:fs";
import type { ReadStream } from "node:tty";
import type { Size } from "../rows/rows.ts";
import { createGuard, leaveAlternate, resetModes, terminalModes, usableModes } from "./guard.ts";

export type Terminal = {
  /** Takes the terminal: keys arrive one by one, pastes are marked. */
  take(): void;
  /** Restores it. Idempotent, and works while the process dies. */
  release(): void;
  /** From now on it is restored even when the process is killed. Costs a process; idempotent. */
  guard(): void;
  /** Records that another program's screen is shown instead of ours, or no longer. */
  lend(lent: boolean): void;
  /** Marks pastes and reports the focus, or no longer: keys go to another program then. */
  report(on: boolean): void;
  write(bytes: string | Buffer): void;
  size(): Size;
  /** Checks for a new window size before its signal arrives. */
  look(): void;
  onData(listener: (chunk: string) => void): void;
  onResize(listener: () => void): void;
};

/** Marks around pastes, and reports of the focus. */
const [pastes, focus] = ["\x1b[?2004", "\x1b[?1004"];

/**
 * Creates the terminal on standard input and output, which must be the same one. `reportsFocus`: asks it to say when it
 * gets and loses the focus.
 */
export function createTerminal(
  stdin: ReadStream,
  stdout: typeof process.stdout,
  { reportsFocus }: { reportsFocus: boolean },
): Terminal {
  const modesOf = (sign: "h" | "l") => `${pastes}${sign}${reportsFocus ? `${focus}${sign}` : ""}`;
  const guard = createGuard(stdout.fd);
  let taken = false;
  let lent = false;
  let modes = usableModes;
  const release = (): void => {
    if (!taken) return;
    taken = false;
    try {
      stdin.setRawMode(false);
      // At the end of the process queued output would be lost.
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
      stdout.write(modesOf("h"));
    },
    release,
    guard: guard.start,
    lend(next) {
      lent = next;
      if (taken) guard.taken(modes, lent);
    },
    report: (on) => void stdout.write(modesOf(on ? "h" : "l")),
    write: (bytes) => void stdout.write(bytes),
    // As Node does on SIGWINCH: emits `resize` when the size has changed.
    look: () => (stdout as { _refreshSize?: () => void })._refreshSize?.(),
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onData: (listener) => void stdin.on("data", listener),
    onResize: (listener) => void stdout.on("resize", listener),
  };
}
