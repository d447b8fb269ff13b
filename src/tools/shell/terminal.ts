/**
 * A terminal for the shell: a pty that programs find as /dev/tty. The shell's own input and output do not pass
 * through it, so nothing that a program does to it (raw mode, unread input, noise) can disturb the shell.
 */

import { readFileSync } from "node:fs";
import type { Socket } from "node:net";

export type Terminal = {
  /** Path of the device that programs open. */
  path: string;
  columns: number;
  rows: number;
  /** What programs print on it, as bytes, goes to the last listener. */
  onData(listener: (bytes: Buffer) => void): void;
  /** What a person would type. */
  write(text: string): void;
  close(): void;
};

/** `open` is in node-pty's code but not in its types. */
type PtyModule = {
  open(options: { cols: number; rows: number; encoding: null }): {
    master: Socket;
    slave: Socket;
    ptsName: string;
  };
};

const columns = 120;
const rows = 40;

/** A new terminal, or undefined where the module cannot work: no binary, musl, no /dev/ptmx, `SAWTOOTH_PTY=off`. */
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

/** The binaries are linked with glibc: loading one under musl may crash, so that is found out before. */
function runsOnMusl(): boolean {
  if (process.platform !== "linux") return false;
  try {
    return readFileSync("/proc/self/maps", "latin1").includes("ld-musl");
  } catch {
    return false;
  }
}

function over({ master, slave, ptsName }: ReturnType<PtyModule["open"]>): Terminal {
  // Our end of the device only keeps it open between programs; reading it would take away their input.
  slave.pause();
  for (const end of [master, slave]) {
    end.removeAllListeners("error");
    end.on("error", () => {});
    end.unref();
  }
  let listener: ((bytes: Buffer) => void) | undefined;
  master.on("data", (bytes: Buffer) => listener?.(bytes));
  return {
    path: ptsName,
    columns,
    rows,
    onData: (next) => {
      listener = next;
    },
    write: (text) => void master.write(text),
    close() {
      master.destroy();
      slave.destroy();
    },
  };
}
