/** Runs the process of one task: the program itself, headless, watched line by line; it ends when we do. */

import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import type { ResultObject } from "../headless/result.ts";

export type ChildOptions = {
  /** Path of the program's launcher. */
  program: string;
  words: readonly string[];
  /** Standard input of the task. */
  input: string;
  cwd: string;
  env: Record<string, string | undefined>;
  /** Folder for `stream.jsonl` and `stderr.txt`. */
  folder: string;
  signal: AbortSignal;
  /** Milliseconds after which it is stopped from outside, should its own limit fail. */
  longestMs: number | undefined;
  /** Kills every process that it started. */
  endFamily(): void;
  onTurns(turns: number): void;
};

export type ChildEnd = {
  /** Undefined when it died before it could report. */
  result: ResultObject | undefined;
  exitCode: number | null;
  /** `exit 3`, `killed by SIGKILL`. */
  ending: string;
  /** The end of its stderr. */
  said: string;
};

/** Milliseconds that a process gets to stop. */
const graceMs = 15_000;
/** A longer line is kept in the file, but not parsed. */
const longestLine = 32 * 1024 * 1024;
const mostSaid = 4_000;
const mostStderr = 4 * 1024 * 1024;

/** Runs the task to its end. Never throws for a failure of the process. */
export async function runChild(options: ChildOptions): Promise<ChildEnd> {
  const { program, words, cwd, env, folder, input } = options;
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env,
    // The channel carries no data: it tells the process when we are gone, even by SIGKILL.
    stdio: ["pipe", "pipe", "pipe", "ipc"],
    // We pass on a Ctrl-C in the terminal ourselves.
    detached: true,
  });
  child.stdin?.on("error", () => {});
  child.stdin?.end(input);
  const watched = watchLines(child, options);
  const said = keepStderr(child, join(folder, "stderr.txt"));
  const calm = stopWith(child, options);
  const { code, signal } = await new Promise<{ code: number | null; signal: string | null }>((done) => {
    child.on("error", () => done({ code: null, signal: "an error at its start" }));
    child.on("close", (code, signal) => done({ code, signal }));
  });
  calm();
  return {
    result: watched(),
    exitCode: code,
    ending: code === null ? `killed by ${signal}` : `exit ${code}`,
    said: said(),
  };
}

/** Keeps the stream in a file, counts model calls and finds the result. */
function watchLines(child: ChildProcess, { folder, onTurns }: ChildOptions): () => ResultObject | undefined {
  const file = createWriteStream(join(folder, "stream.jsonl"), { mode: 0o600 });
  // A full disk costs the stream, not the batch.
  file.on("error", () => {});
  let rest = "";
  let result: ResultObject | undefined;
  let turns = 0;
  const look = (text: string): void => {
    if (text.startsWith('{"type":"assistant"')) onTurns(++turns);
    else if (text.startsWith('{"type":"result"')) result = JSON.parse(text) as ResultObject;
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    if (!file.write(text)) {
      child.stdout?.pause();
      file.once("drain", () => child.stdout?.resume());
      file.once("error", () => child.stdout?.resume());
    }
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > longestLine) rest = "";
    for (const line of lines) look(line);
  });
  child.stdout?.on("end", () => file.end());
  return () => result;
}

function keepStderr(child: ChildProcess, path: string): () => string {
  const file = createWriteStream(path, { mode: 0o600 });
  file.on("error", () => {});
  let said = "";
  let written = 0;
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    said = (said + text).slice(-mostSaid);
    if (written < mostStderr) file.write(text);
    written += text.length;
  });
  child.stderr?.on("end", () => file.end());
  return () => said.trim();
}

/** Passes our end on to the child, and enforces it. Returns the function that undoes this. */
function stopWith(child: ChildProcess, { signal, longestMs, endFamily }: ChildOptions): () => void {
  let hard: NodeJS.Timeout | undefined;
  const stop = (): void => {
    // A scheduler sends the same to all processes at once; a second one of it is not taken as impatience.
    child.kill("SIGTERM");
    hard ??= setTimeout(() => {
      child.kill("SIGKILL");
      endFamily();
    }, graceMs);
  };
  const late = longestMs === undefined ? undefined : setTimeout(stop, Math.min(longestMs, 2 ** 31 - 1));
  // We may leave at once, by a second Ctrl-C or a bug: no process may stay.
  const leave = (): void => {
    child.kill("SIGKILL");
    endFamily();
  };
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop);
  process.on("exit", leave);
  return () => {
    clearTimeout(hard);
    clearTimeout(late);
    signal.removeEventListener("abort", stop);
    process.off("exit", leave);
  };
}
