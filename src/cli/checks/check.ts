/** Runs a check as a user would: in bash, without our environment, and with a time limit. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckProcesses } from "../../app/machine.ts";
import type { CheckBox, CheckSandbox } from "../../app/sandbox/check-sandbox.ts";
import { countTests, type TestCount } from "./counts.ts";

export type CheckRun = {
  command: string;
  passed: boolean;
  /** Undefined when it did not end by itself. */
  exitCode?: number;
  /** `exit 1`, `timed out after 1800 s`, `killed by SIGSEGV`. */
  how: string;
  durationMs: number;
  /** Standard output and error as they came. */
  output: string;
  tests?: TestCount;
};

export type CheckContext = {
  cwd: string;
  processes: CheckProcesses;
  signal: AbortSignal;
  /** The walls around checks, if any. */
  sandbox?: CheckSandbox | undefined;
};

const longestMs = 30 * 60_000;
const mostBytes = 200 * 1024 * 1024;
/** Longer output is reduced to head and tail. */
const headBytes = 1024 * 1024;
const tailBytes = 7 * 1024 * 1024;

/** Runs the check once. Its background processes end with it. An aborted run has not passed. */
export async function runCheck(command: string, context: CheckContext): Promise<CheckRun> {
  const { processes, signal, sandbox } = context;
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-check-"));
  const mark = `check-${randomUUID()}`;
  const env = processes.environment(mark);
  const inside = await sandbox?.open(env);
  const path = join(inside?.outFolder ?? folder, mark);
  const fd = openSync(path, "wx+", 0o600);
  const began = Date.now();
  try {
    const run = { command, cwd: context.cwd, env, mark, output: { path, fd } };
    const running = inside ? inBox(inside, run) : onMachine(run);
    const end = await ended(running, fd, signal);
    running.stop("SIGKILL");
    await processes.endMarked(mark);
    const output = [readOutput(fd), ...(sandbox?.takeNotes() ?? []).map((note) => `[${note}]\n`)].join("");
    const tests = countTests(output);
    return { command, ...end, durationMs: Date.now() - began, output, ...(tests ? { tests } : {}) };
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  }
}

type Start = {
  command: string;
  cwd: string;
  env: Record<string, string>;
  mark: string;
  output: { path: string; fd: number };
};

/** A check that runs. `code`: null when a signal ended it. */
type Running = {
  end: Promise<{ code: number | null; killedBy?: string | null }>;
  stop(name: NodeJS.Signals): void;
};

function onMachine({ command, cwd, env, output: { fd } }: Start): Running {
  const child = spawn("bash", ["-c", command], {
    ...{ cwd, env, stdio: ["ignore", fd, fd] },
    // A process group of its own can be ended as a whole.
    detached: true,
  });
  const end = new Promise<{ code: number | null; killedBy: string | null }>((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code, killedBy) => resolve({ code, killedBy }));
  });
  return { end, stop: (name) => endGroup(child, name) };
}

/** Runs a check as the one shell of a sandbox, with which everything that it starts ends. */
function inBox({ box, inFolder }: CheckBox, { command, cwd, mark, output }: Start): Running {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const init = join(inFolder, mark);
  const lines = `exec </dev/null >>${quoted(output.path)} 2>&1; builtin cd -- ${quoted(cwd)} && exec bash -c ${quoted(command)}\nexit 1\n`;
  writeFileSync(init, lines, { mode: 0o600 });
  // A sandbox does not keep our process alive.
  const awake = setInterval(() => {}, 1000);
  const end = new Promise<{ code: number | null; killedBy?: string }>((resolve) => {
    box.listen({
      bytes() {},
      shellEnded: (code) => resolve({ code }),
      ended: () => resolve({ code: null, killedBy: "SIGKILL" }),
    });
  });
  box.startShell(init);
  return { end: end.finally(() => clearInterval(awake)), stop: () => box.kill() };
}

type End = Pick<CheckRun, "passed" | "exitCode" | "how">;

function ended(running: Running, fd: number, signal: AbortSignal): Promise<End> {
  return new Promise((resolve, reject) => {
    let why: string | undefined;
    const stop = (reason: string): void => {
      why ??= reason;
      running.stop("SIGTERM");
      setTimeout(() => running.stop("SIGKILL"), 1000).unref();
    };
    const abort = () => stop("stopped");
    const timer = setTimeout(() => stop(`timed out after ${longestMs / 1000} s`), longestMs);
    const size = setInterval(() => {
      if (fstatSync(fd).size > mostBytes) stop("stopped: it wrote more than 200 MB");
    }, 500);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    const tidy = (): void => {
      clearTimeout(timer);
      clearInterval(size);
      signal.removeEventListener("abort", abort);
    };
    running.end.finally(tidy).then(({ code, killedBy }) => {
      if (why !== undefined) resolve({ passed: false, how: why });
      else if (code === null) resolve({ passed: false, how: `killed by ${killedBy}` });
      else resolve({ passed: code === 0, exitCode: code, how: `exit ${code}` });
    }, reject);
  });
}

function endGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // The group is already gone.
  }
}

function readOutput(fd: number): string {
  const { size } = fstatSync(fd);
  if (size <= headBytes + tailBytes) return piece(fd, 0, size);
  const left = size - headBytes - tailBytes;
  return `${piece(fd, 0, headBytes)}\n[${left} bytes left out]\n${piece(fd, size - tailBytes, tailBytes)}`;
}

function piece(fd: number, from: number, length: number): string {
  const bytes = Buffer.alloc(length);
  const read = readSync(fd, bytes, 0, length, from);
  return bytes.subarray(0, read).toString("utf8");
}
