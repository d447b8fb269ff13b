/** Runs the program of a hook: input on stdin, bounded output, and an end within its time. */

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { type Environment, withoutSecrets } from "../core/secrets/secrets.ts";
import { withoutTerminals } from "../disk/without-terminals.ts";

export type HookRun = {
  command: string;
  /** One line of JSON for its standard input. */
  input: string;
  cwd: string;
  env: Environment;
  timeoutMs: number;
  signal: AbortSignal;
};

/** `cut`: it wrote more than is read. `code`: null when a signal ended it. */
export type HookEnd =
  | { type: "ended"; code: number | null; stdout: string; stderr: string; cut: boolean }
  | { type: "timed_out" }
  | { type: "cancelled" }
  | { type: "failed"; why: string };

/** Bytes that are read of each of its outputs. */
const mostBytes = 64 * 1024;
/** Milliseconds for what is still in its pipes when it has ended; a program it left behind may hold them open. */
const drainMs = 100;

/** Hooks that run now; at our own exit they end with us. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) endGroup(pid);
});

/** Never rejects. What the hook left running in the background goes on: it was started by the person's own line. */
export function runHook({ command, input, cwd, env, timeoutMs, signal }: HookRun): Promise<HookEnd> {
  if (signal.aborted) return Promise.resolve({ type: "cancelled" });
  const child = withoutTerminals(["pipe", "pipe", "pipe"], (stdio) =>
    spawn("sh", ["-c", command], { cwd, env: withoutSecrets(env), detached: true, stdio }),
  ) as ChildProcessWithoutNullStreams;
  const { pid } = child;
  if (pid !== undefined) running.add(pid);
  const [stdout, stderr] = [collected(child.stdout), collected(child.stderr)];
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((resolve) => {
    const stop = (end: HookEnd) => () => {
      if (pid !== undefined) endGroup(pid);
      settle(end);
    };
    const onAbort = stop({ type: "cancelled" });
    const timer = setTimeout(stop({ type: "timed_out" }), timeoutMs);
    const settle = (end: HookEnd): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      if (pid !== undefined) running.delete(pid);
      for (const stream of [child.stdout, child.stderr, child.stdin]) stream.destroy();
      child.unref();
      resolve(end);
    };
    signal.addEventListener("abort", onAbort, { once: true });
    const ended = (code: number | null) => (): void => {
      const texts = { stdout: stdout.text(), stderr: stderr.text() };
      settle({ type: "ended", code, ...texts, cut: stdout.cut() || stderr.cut() });
    };
    child.on("error", (error) => settle({ type: "failed", why: error.message }));
    child.on("close", (code) => ended(code)());
    child.on("exit", (code) => setTimeout(ended(code), drainMs));
  });
}

function collected(stream: NodeJS.ReadableStream) {
  const chunks: Buffer[] = [];
  let length = 0;
  stream.on("data", (chunk: Buffer) => {
    if (length < mostBytes) chunks.push(chunk.subarray(0, mostBytes - length));
    length += chunk.length;
  });
  stream.on("error", () => {});
  return {
    text: () => Buffer.concat(chunks).toString("utf8").toWellFormed().trim(),
    cut: () => length > mostBytes,
  };
}

function endGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
