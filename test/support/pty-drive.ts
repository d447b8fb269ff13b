/** Runs a program in a real pseudo-terminal and shows what a terminal would show: screen, scrollback, cursor, bytes. */

import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import type { ReadStream } from "node:tty";
import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { entry } from "./entry.ts";
import type { Workspace } from "./sawtooth.ts";
import { patienceMs, until } from "./until.ts";

export type Drive = {
  pid: number;
  send(keys: string): void;
  /** Changes the size once what has been written is shown at the one before. */
  resize(columns: number, rows: number): Promise<void>;
  /** Rows of the window, without the blanks at their ends. */
  screen(): string[];
  /** The scrollback and the window; rows that the terminal wrapped are one. */
  whole(): string[];
  /** The window's cells, row by row, as the emulator holds them. */
  cells(): xterm.IBufferCell[][];
  /** Where the cursor stands in the window, and whether it is shown. */
  cursor(): { row: number; column: number; shown: boolean };
  /** Everything that was written. */
  raw(): string;
  /**
   * Waits until something was written after the last keys or the last change of the size, and the window holds the text
   * or matches it; throws with the window when it does not in time. What may stand there from before says nothing of the
   * keys: ask for what is new.
   */
  until(wanted: string | RegExp, withinMs?: number): Promise<void>;
  /** Waits until nothing was written for so long. */
  quiet(ms?: number): Promise<void>;
  /** Waits until something was written after the last keys or the last change of the size, and then nothing more. */
  drawn(): Promise<void>;
  /** Resolves when the program is over. */
  ended: Promise<{ code: number; signal: number | undefined }>;
  kill(signal?: string): void;
};

/** A program at the other end of a terminal. */
export type Line = {
  pid: number;
  write(keys: string): void;
  resize(columns: number, rows: number): void;
  onData(listener: (bytes: string) => void): void;
  ended: Drive["ended"];
};

export type DriveOptions = {
  columns?: number;
  rows?: number;
  env?: Record<string, string>;
};

/** Starts sawtooth with these words in the folder of `workspace`. */
export function drive(workspace: Workspace, words: string[], options: DriveOptions = {}): Drive {
  return driveProgram(process.execPath, [entry, ...words], workspace, options);
}

/** Starts any program in a terminal of its own. */
export function driveProgram(
  program: string,
  words: string[],
  workspace: Workspace,
  { columns = 80, rows = 24, env = {} }: DriveOptions = {},
): Drive {
  const pty = spawn(program, words, {
    name: "xterm-256color",
    cols: columns,
    rows,
    cwd: workspace.cwd,
    env: { ...workspace.env, ...terminalEnv, ...env },
  });
  const line: Line = {
    pid: pty.pid,
    write: (keys) => pty.write(keys),
    resize: (nextColumns, nextRows) => pty.resize(nextColumns, nextRows),
    onData: (listener) => void pty.onData(listener),
    ended: new Promise((resolve) =>
      pty.onExit(({ exitCode, signal }) => resolve({ code: exitCode, signal })),
    ),
  };
  readToTheEnd(pty);
  return driveLine(line, { columns, rows });
}

/**
 * Lets what a program wrote last be read, however busy the machine: node-pty destroys the terminal 200 ms after the end
 * of the program, read or not.
 */
export function readToTheEnd(pty: IPty): void {
  const { _socket: socket } = pty as unknown as { _socket: ReadStream };
  const destroy = socket.destroy.bind(socket);
  socket.destroy = () => {
    void (async () => {
      for (let read = -1; read < socket.bytesRead && !socket.closed; await sleep(20)) read = socket.bytesRead;
      destroy();
    })();
    return socket;
  };
}

export const terminalEnv = { NODE_ENV: "production", TERM: "xterm-256color" };

/** Drives a program that begins now, in a terminal of this size. */
export function driveLine(line: Line, { columns, rows }: { columns: number; rows: number }): Drive {
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 20_000, allowProposedApi: true });
  const seen: Seen = { raw: "", shown: true, at: Date.now(), over: false, acted: 0, next: changes() };
  const changed = () => {
    const { resolve } = seen.next;
    seen.next = changes();
    resolve();
  };
  line.onData((bytes) => {
    seen.raw += bytes;
    seen.at = Date.now();
    for (const [, how] of bytes.matchAll(/\x1b\[\?25([hl])/g)) seen.shown = how === "h";
    terminal.write(bytes, changed);
  });
  // What the program asks the terminal is answered, as any terminal does.
  terminal.onData((answer) => {
    if (!seen.over) line.write(answer);
  });
  const ended = line.ended.then((how) => {
    seen.over = true;
    changed();
    return how;
  });
  const view = viewOf(terminal, seen);
  return {
    pid: line.pid,
    send(keys) {
      seen.at = Date.now();
      seen.acted = seen.raw.length;
      line.write(keys);
    },
    async resize(nextColumns, nextRows) {
      await allShown(terminal, seen);
      if (seen.over) return;
      // At once: what is drawn for the new size must not be shown at the one before.
      line.resize(nextColumns, nextRows);
      terminal.resize(nextColumns, nextRows);
      seen.acted = seen.raw.length;
    },
    ...view,
    ...waitsOf(terminal, seen, view.screen),
    ended,
    kill(signal = "SIGKILL") {
      if (seen.over) return;
      try {
        process.kill(line.pid, signal);
      } catch (error) {
        // It may have ended a moment ago, and its end is not told yet.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    },
  };
}

/**
 * Waits until all that the program had written is read, in two turns of the loop, and shown. Before a new size: a terminal
 * that shows at one size what was drawn for another loses rows of any program that draws in place.
 */
async function allShown(terminal: xterm.Terminal, seen: Seen): Promise<void> {
  for (let read = -1; read !== seen.raw.length; ) {
    read = seen.raw.length;
    await turn();
    await turn();
    await new Promise<void>((resolve) => terminal.write("", resolve));
  }
}

const changes = () => Promise.withResolvers<void>();

/** `acted`: how much had been written when keys or a size were sent last. `next`: resolves with the next change. */
type Seen = {
  raw: string;
  shown: boolean;
  at: number;
  over: boolean;
  acted: number;
  next: PromiseWithResolvers<void>;
};

/** Returns false in the middle of an update, half of which no terminal shows either. */
function isWhole({ over, raw }: Seen): boolean {
  return over || raw.lastIndexOf("\x1b[?2026h") <= raw.lastIndexOf("\x1b[?2026l");
}

function viewOf(terminal: xterm.Terminal, seen: Seen) {
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => terminal.buffer.active.getLine(from + index));
  return {
    screen() {
      const { baseY } = terminal.buffer.active;
      return lines(baseY, baseY + terminal.rows).map((line) => line?.translateToString(true) ?? "");
    },
    whole() {
      const joined: string[] = [];
      for (const line of lines(0, terminal.buffer.active.length)) {
        const text = line?.translateToString(true) ?? "";
        if (line?.isWrapped) joined[joined.length - 1] += text;
        else joined.push(text);
      }
      return joined;
    },
    cells() {
      const { baseY } = terminal.buffer.active;
      return lines(baseY, baseY + terminal.rows).map((line) =>
        Array.from({ length: terminal.cols }, (_, column) => line?.getCell(column)).filter(
          (cell) => cell !== undefined,
        ),
      );
    },
    cursor: () => ({
      row: terminal.buffer.active.cursorY,
      column: terminal.buffer.active.cursorX,
      shown: seen.shown,
    }),
    raw: () => seen.raw,
  };
}

function waitsOf(terminal: xterm.Terminal, seen: Seen, screen: () => string[]) {
  const isNew = () => seen.raw.length > seen.acted || seen.over;
  const settled = () => new Promise<void>((resolve) => terminal.write("", resolve));
  const quiet = async (ms = 200) => {
    while (Date.now() - seen.at < ms) await sleep(20);
    await settled();
  };
  return {
    async until(wanted: string | RegExp, withinMs = patienceMs) {
      const deadline = Date.now() + withinMs;
      const isIn = (text: string) => (typeof wanted === "string" ? text.includes(wanted) : wanted.test(text));
      for (;;) {
        const { promise: change } = seen.next;
        await settled();
        const text = screen().join("\n");
        if (isNew() && isWhole(seen) && isIn(text)) return;
        if (seen.over || Date.now() > deadline)
          throw new Error(
            `${wanted} is not on the screen${seen.over ? " of the ended program" : ""}:\n${text.trimEnd()}`,
          );
        await Promise.race([change, sleep(1000)]);
      }
    },
    quiet,
    async drawn() {
      await settled();
      await until(isNew, "a new drawing");
      await quiet(80);
    },
  };
}
