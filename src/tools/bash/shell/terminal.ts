/**
 * A terminal for the shell: a pty that programs find as /dev/tty. The shell's own input and output do not pass through
 * it, so nothing that a program does to it (raw mode, unread input, noise) can disturb the shell.
 */

import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import type { Socket } from "node:net";

export type Terminal = {
  /** Path of the device that programs open. */
  path: string;
  columns: number;
  rows: number;
  /** Resizes the terminal; its programs get the signal. */
  resize(columns: number, rows: number): void;
  /** Sends the bytes that programs print to the last listener. */
  onData(listener: (bytes: Buffer) => void): void;
  /** Writes text as if a person typed it. */
  write(text: string): void;
  /** Closes the device. Closing it again does nothing. */
  close(): void;
};

/** `open` is in node-pty's code but not in its types. */
type PtyModule = {
  open(options: { cols: number; rows: number; encoding: null }): {
    master: Socket;
    slave: Socket;
    ptsName: string;
    resize(columns: number, rows: number): void;
  };
};

const columns = 120;
const rows = 40;

/** Opens a terminal; undefined where the module cannot work: no binary, musl, no /dev/ptmx, `SAWTOOTH_PTY=off`. */
export async function openTerminal(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Terminal | undefined> {
  if (env.SAWTOOTH_PTY === "off" || runsOnMusl()) return undefined;
  try {
    const loaded: unknown = await import("@lydell/node-pty");
    const pty = ((loaded as { default?: unknown }).default ?? loaded) as PtyModule;
    return over(pty.open({ cols: columns, rows, encoding: null }));
  } catch {
    return undefined;
  }
}

/** Detects musl: the binaries are linked with glibc, and loading one under musl may crash. */
function runsOnMusl(): boolean {
  if (process.platform !== "linux") return false;
  try {
    return readFileSync("/proc/self/maps", "latin1").includes("ld-musl");
  } catch {
    return false;
  }
}

function over(pty: ReturnType<PtyModule["open"]>): Terminal {
  const { master, slave, ptsName } = pty;
  // The device must stay open between programs. The module's own stream would read it, and take away their input.
  const holder = openSync(ptsName, constants.O_RDWR | constants.O_NOCTTY);
  slave.destroy();
  master.removeAllListeners("error");
  master.on("error", () => {});
  master.unref();
  let listener: ((bytes: Buffer) => void) | undefined;
  let closed = false;
  master.on("data", (bytes: Buffer) => listener?.(bytes));
  return {
    path: ptsName,
    columns,
    rows,
    resize(columns, rows) {
      try {
        pty.resize(Math.max(1, columns), Math.max(1, rows));
      } catch {
        // Closed meanwhile.
      }
    },
    onData: (next) => {
      listener = next;
    },
    write: (text) => void master.write(text),
    close() {
      if (closed) return;
      closed = true;
      for (const file of openedAs(ptsName, holder)) closeSync(file);
      master.destroy();
    },
  };
}

/** Returns our descriptors of the device: the holder, and one that the module opens and never closes. */
function openedAs(path: string, holder: number): number[] {
  try {
    const files = readdirSync("/proc/self/fd").map(Number);
    return files.filter((file) => linkOf(`/proc/self/fd/${file}`) === path);
  } catch {
    return [holder];
  }
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
