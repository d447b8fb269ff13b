/** Runs a server as a program on the machine, in a process group of its own. */

import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { withoutTerminals } from "../disk/without-terminals.ts";
import type { ProgramServer } from "./configuration.ts";

/** A running server: bytes in, bytes out. */
export type ServerProcess = {
  send(text: string): void;
  /** Listens to its standard output. */
  onBytes(listener: (bytes: Buffer) => void): void;
  /** Calls back once when it has ended; `how` completes a sentence: "ended with exit code 3". */
  onEnd(listener: (how: string) => void): void;
  /** Returns the end of what it wrote to its standard error so far. */
  lastWords(): string;
  /** Ends it: its input is closed, then it gets signals. Resolves when it is gone. */
  end(): Promise<void>;
  /** Ends it at once, for the exit of our process. */
  kill(): void;
};

export type Start = {
  configuration: ProgramServer;
  /** Folder for a server that names none. */
  cwd: string;
  /** Its whole environment. */
  env: Record<string, string>;
  /** File that takes its standard error. */
  errors: string;
};

/** Variables that every server gets, as the SDK has them. */
const inherited = ["HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"];

/** Returns the environment of a server: the usual variables, and those of its entry. Never a key of ours. */
export function serverEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  { env: own }: Pick<ProgramServer, "env">,
): Record<string, string> {
  const usual = inherited.flatMap((name) => {
    const value = env[name];
    return value === undefined || value.startsWith("()") ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(usual), ...own };
}

/** Milliseconds that a server gets after its input was closed, and again after SIGTERM. */
const grace = 400;

type Child = ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };

/** Starts the program. Rejects with a sentence when it cannot be started. */
export function startOnMachine({ configuration, cwd, env, errors }: Start): Promise<ServerProcess> {
  const { command, args } = configuration;
  const folder = configuration.cwd ?? cwd;
  const child = withoutTerminals(["pipe", "pipe", "pipe"], (stdio) =>
    spawn(command, args, { cwd: folder, env, detached: true, stdio }),
  ) as Child;
  for (const end of [child.stdin, child.stdout, child.stderr]) end.on("error", () => {});
  const lastWords = keepErrors(child.stderr, errors);
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(whyNotStarted(command, error))));
    child.once("spawn", () => resolve({ ...processOf(child), lastWords }));
  });
}

/** Most bytes of standard error that are kept in its file. */
export const mostErrorBytes = 10_000_000;
/** Bytes of the end of standard error that a message may quote. */
const tailBytes = 2000;

/** Writes standard error to a file up to a limit; what comes after is read and dropped. Returns its end. */
function keepErrors(stderr: Readable, file: string): () => string {
  const log = openSync(file, "a", 0o600);
  let left = mostErrorBytes;
  let tail = Buffer.alloc(0);
  stderr.on("data", (bytes: Buffer) => {
    tail = Buffer.concat([tail, bytes]).subarray(-tailBytes);
    try {
      if (left > 0) left -= writeSync(log, bytes.subarray(0, left));
    } catch {
      left = 0;
    }
  });
  stderr.once("close", () => closeSync(log));
  return () => lastLine(tail.toString("utf8"));
}

/** Lines that Node prints after an error: where it came from, and the version. */
const afterError = /^(at .+|Node\.js v[\d.]+)$/;

/** Returns the last line that says something. */
export function lastLine(text: string): string {
  const lines = text.split("\n").flatMap((line) => line.trim() || []);
  return lines.findLast((line) => !afterError.test(line)) ?? lines.at(-1) ?? "";
}

function whyNotStarted(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `there is no program ${command}, or no such folder to start it in`;
  return error.code === "EACCES" ? `${command} may not be executed` : error.message;
}

function processOf(child: Child): Omit<ServerProcess, "lastWords"> {
  let ended: string | undefined;
  let onEnd: ((how: string) => void) | undefined;
  const gone = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      ended = code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      // What it started ends with it.
      signalGroup(child, "SIGKILL");
      resolve();
      // What it wrote last is still to be read.
      setImmediate(() => onEnd?.(ended ?? ""));
    });
  });
  for (const end of [child, child.stdin, child.stdout, child.stderr])
    (end as { unref?: () => void }).unref?.();
  return {
    send: (text) => void child.stdin.write(text),
    onBytes: (listener) => void child.stdout.on("data", listener),
    onEnd(listener) {
      onEnd = listener;
      if (ended !== undefined) setImmediate(() => listener(ended ?? ""));
    },
    async end() {
      child.stdin.end();
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        await Promise.race([gone, sleep(grace)]);
        if (ended !== undefined) break;
        signalGroup(child, signal);
      }
      await Promise.race([gone, sleep(grace)]);
      child.stdout.destroy();
      child.stderr.destroy();
    },
    kill() {
      // Afterwards its number may be another's.
      if (ended === undefined) signalGroup(child, "SIGKILL");
    },
  };
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It is gone.
  }
}
