/**
 * Screens that do not start the program each: a process of it stays in its terminal, and shows one session after
 * another. Starting it costs several times what a short session does. Keys, signals, drawing and ends are as real as
 * ever; tests of the start itself use `drive`.
 */

import { tmpdir } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type IPty, spawn } from "@lydell/node-pty";
import { fastStart } from "./entry.ts";
import {
  type Drive,
  type DriveOptions,
  drive,
  driveLine,
  type Line,
  readToTheEnd,
  terminalEnv,
} from "./pty-drive.ts";
import type { Workspace } from "./sawtooth.ts";
import { endMark, markEnd, orderMarks, readyMark, type ScreenOrder } from "./warm-screen-order.ts";

const program = fileURLToPath(new URL("warm-screen-program.ts", import.meta.url));
const marks = new RegExp(`(?:${readyMark}|${endMark}(\\d+))${markEnd.replace("\\", "\\\\")}`);

/** One that ended is not given back. `next`: what to do when it is ready; `session`: what it shows. */
type Warm = { pty: IPty; held: string; next?: (() => void) | undefined; session?: Session | undefined };
type Session = { data(bytes: string): void; end(how: Awaited<Line["ended"]>): void };

/** Processes that show nothing. They end with this one, which holds the other side of their terminals. */
const idle: Warm[] = [];

/** Read while the program or its modules load, and never again. */
const readAtStart = ["NODE_OPTIONS", "LD_PRELOAD", "NO_COLOR", "FORCE_COLOR", "COLORTERM", "CI"];

/** Milliseconds for a session to end in order; a process that takes longer is ended. */
const patienceMs = 2000;

export type WarmDrive = Drive & {
  /** Hangs up, if the program still runs, and waits for its end. */
  done(): Promise<void>;
};

/** As `drive`, in a process that is there where that makes no difference. */
export function driveWarm(workspace: Workspace, words: string[], options: DriveOptions = {}): WarmDrive {
  const { columns = 80, rows = 24 } = options;
  const env: Record<string, string> = { ...workspace.env, ...terminalEnv, ...options.env };
  if (env.TERM !== terminalEnv.TERM || readAtStart.some((name) => name in env)) {
    const terminal = drive(workspace, words, options);
    return { ...terminal, done: async () => terminal.kill() };
  }
  const warm = idle.pop() ?? begin();
  const terminal = driveLine(order(warm, { words, cwd: workspace.cwd, env }, { columns, rows }), {
    columns,
    rows,
  });
  let over = false;
  const ended = terminal.ended.finally(() => {
    over = true;
  });
  return {
    ...terminal,
    ended,
    async done() {
      if (over) return;
      terminal.kill("SIGHUP");
      await Promise.race([ended, sleep(patienceMs)]);
      if (!over) terminal.kill();
      await ended;
    },
  };
}

function order(warm: Warm, what: ScreenOrder, { columns, rows }: { columns: number; rows: number }): Line {
  const { pty } = warm;
  const listeners: ((bytes: string) => void)[] = [];
  const { promise: ended, resolve: end } = Promise.withResolvers<Awaited<Line["ended"]>>();
  warm.session = { data: (bytes) => listeners.forEach((listener) => void listener(bytes)), end };
  const start = () => {
    pty.resize(columns, rows);
    pty.write(`${orderMarks[0]}${JSON.stringify(what)}${orderMarks[1]}`);
  };
  if (warm.next) warm.next = start;
  else start();
  return {
    pid: pty.pid,
    write: (keys) => pty.write(keys),
    resize: (nextColumns, nextRows) => pty.resize(nextColumns, nextRows),
    onData: (listener) => void listeners.push(listener),
    ended,
  };
}

function begin(): Warm {
  const pty = spawn(process.execPath, [program], {
    name: terminalEnv.TERM,
    cols: 80,
    rows: 24,
    cwd: tmpdir(),
    env: {
      ...fastStart,
      ...terminalEnv,
      PATH: process.env.PATH ?? "",
      LANG: "C.UTF-8",
      NODE_NO_WARNINGS: "1",
    },
  });
  readToTheEnd(pty);
  const warm: Warm = { pty, held: "", next: () => idle.push(warm) };
  pty.onData((bytes) => {
    warm.held += bytes;
    read(warm);
  });
  pty.onExit(({ exitCode, signal }) => {
    const at = idle.indexOf(warm);
    if (at >= 0) idle.splice(at, 1);
    warm.session?.data(warm.held);
    warm.session?.end({ code: exitCode, signal });
  });
  return warm;
}

/** Passes on what the session drew, and takes out what the process says of itself. */
function read(warm: Warm): void {
  for (let mark = marks.exec(warm.held); mark; mark = marks.exec(warm.held)) {
    const [whole, code] = mark;
    const drawn = warm.held.slice(0, mark.index);
    warm.held = warm.held.slice(mark.index + whole.length);
    if (code === undefined) {
      const { next } = warm;
      warm.next = undefined;
      next?.();
      continue;
    }
    const { session } = warm;
    warm.session = undefined;
    warm.next = () => idle.push(warm);
    session?.data(drawn);
    session?.end({ code: Number(code), signal: undefined });
  }
  // Before it is ready it shows no session; a mark may come in pieces.
  if (warm.next) return;
  const last = warm.held.lastIndexOf("\x1b");
  const tail = warm.held.slice(last);
  const isPiece = last >= 0 && (endMark.startsWith(tail) || tail.startsWith(endMark));
  const drawn = isPiece ? warm.held.slice(0, last) : warm.held;
  warm.held = warm.held.slice(drawn.length);
  if (drawn !== "") warm.session?.data(drawn);
}
