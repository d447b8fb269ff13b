/** Runs a check as a user would: in bash, without our environment, and with a time limit. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, fstatSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckProcesses } from "../../app/machine.ts";
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

export type CheckContext = { cwd: string; processes: CheckProcesses; signal: AbortSignal };

const longestMs = 30 * 60_000;
const mostBytes = 200 * 1024 * 1024;
/** Longer output is reduced to head and tail. */
const headBytes = 1024 * 1024;
const tailBytes = 7 * 1024 * 1024;

/** Runs the check once. Its background processes end with it. An aborted run has not passed. */
export async function runCheck(command: string, { cwd, processes, signal }: CheckContext): Promise<CheckRun> {
  const folder = mkdtempSync(join(tmpdir(), "sawtooth-check-"));
  const mark = `check-${randomUUID()}`;
  const fd = openSync(join(folder, "output"), "wx+", 0o600);
  const began = Date.now();
  try {
    const child = spawn("bash", ["-c", command], {
      cwd,
      env: processes.environment(mark),
      stdio: ["ignore", fd, fd],
      // A process group of its own can be ended as a whole.
      detached: true,
    });
    const end = await ended(child, fd, signal);
    endGroup(child, "SIGKILL");
    await processes.endMarked(mark);
    const output = readOutput(fd);
    const tests = countTests(output);
    return { command, ...end, durationMs: Date.now() - began, output, ...(tests ? { tests } : {}) };
  } finally {
    closeSync(fd);
    rmSync(folder, { recursive: true, force: true });
  }
}

type End = Pick<CheckRun, "passed" | "exitCode" | "how">;

function ended(child: ChildProcess, fd: number, signal: AbortSignal): Promise<End> {
  return new Promise((resolve, reject) => {
    let why: string | undefined;
    const stop = (reason: string): void => {
      why ??= reason;
      endGroup(child, "SIGTERM");
      setTimeout(() => endGroup(child, "SIGKILL"), 1000).unref();
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
    child.on("error", (error) => {
      tidy();
      reject(error);
    });
    child.on("exit", (code, killedBy) => {
      tidy();
      if (why !== undefined) resolve({ passed: false, how: why });
      else if (code === null) resolve({ passed: false, how: `killed by ${killedBy}` });
      else resolve({ passed: code === 0, exitCode: code, how: `exit ${code}` });
    });
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
