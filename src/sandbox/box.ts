/** Starts a sandbox and talks to its keeper. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import type { Box, BoxListener } from "../core/sandbox.ts";
import { descriptors, guarded } from "./bubblewrap.ts";
import { keeperCommand, keeperProgram, markScanner, startLine } from "./keeper.ts";

export type BoxStart = {
  program: string;
  /** Arguments of the program, up to what it runs. */
  arguments: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The filter of system calls, which the program reads from descriptor 4. */
  filter: Uint8Array | undefined;
  /** Path inside of the terminal. */
  terminal: string | undefined;
  /** True for bubblewrap, which reports its first process; else the program itself becomes the keeper. */
  hasOwnPids: boolean;
  /** Called with the keeper's pid as soon as it is known, while the rest is still being set up. */
  onPid?: (pid: number) => void;
};

/** Starts a sandbox and waits for its keeper. Throws with what the program said when it cannot start. */
export async function startBox(start: BoxStart): Promise<Box> {
  const nonce = randomBytes(12).toString("hex");
  // Without --norc it would read ~/.bashrc: its input is a socket, as if rshd had started it.
  const keeper = ["bash", "--norc", "-c", keeperCommand, "sawtooth-keeper", start.terminal ?? ""];
  const [program = "", ...words] = [...(start.hasOwnPids ? guarded : []), start.program, ...start.arguments];
  const child = spawn(program, [...words, ...keeper], {
    cwd: "/",
    env: start.env,
    // A kernel session of its own, where the keeper can take the terminal, and with it a process group for the guard.
    detached: true,
    stdio: ["pipe", "pipe", "pipe", ...(start.hasOwnPids ? (["pipe", "pipe", "pipe"] as const) : [])],
  }) as ChildProcess & { stdin: Writable; stdout: Readable; stderr: Readable };
  child.stdin.on("error", () => {});
  child.stdin.write(keeperProgram(nonce));
  const pid = start.hasOwnPids ? reportedPid(child, start.filter) : Promise.resolve(child.pid ?? Number.NaN);
  // Where the program fails, its own words say more.
  pid.then(start.onPid, () => {});
  const complaint = textOf(child.stderr);
  const guard = guardOf(child);
  return new Promise((resolve, reject) => {
    let listener: BoxListener | undefined;
    let alive = true;
    const scan = markScanner(nonce);
    child.once("error", (error) => reject(new Error(`${start.program} cannot be started: ${error.message}`)));
    child.once("exit", (code, signal) => {
      alive = false;
      // What it left of a start that failed ends too: the guard ends what waits, and the keeper reads to the end.
      guard?.destroy();
      child.stdin.destroy();
      listener?.ended();
      void complaint().then((said) =>
        reject(new Error(said || `the first process inside ended at once (${signal ?? `exit ${code}`})`)),
      );
    });
    const box = (keeper: number): Box => ({
      pid: keeper,
      terminal: start.terminal,
      startShell: (init) => void child.stdin.write(startLine(nonce, init)),
      send: (lines) => void child.stdin.write(lines),
      listen: (next) => {
        listener = next;
      },
      isAlive: () => alive,
      kill() {
        alive = false;
        child.kill("SIGKILL");
      },
    });
    child.stdout.on("data", (bytes: Buffer) => {
      listener?.bytes(bytes);
      for (const mark of scan(bytes)) {
        if (mark === "ready") guard?.end("ready\n");
        if (mark !== "ready") listener?.shellEnded(mark);
        else void pid.then((keeper) => resolve(released(child, box(keeper))), reject);
      }
    });
  });
}

/** Keeps the sandbox from keeping our process alive. */
function released(child: ChildProcess, box: Box): Box {
  child.unref();
  for (const end of child.stdio) (end as { unref?: () => void } | null)?.unref?.();
  return box;
}

/** Returns the way to the guard of a start, if it has one. */
function guardOf(child: ChildProcess): Writable | undefined {
  const guard = child.stdio[descriptors.guard] as Writable | undefined;
  guard?.on("error", () => {});
  return guard;
}

/** Gives bubblewrap its filter, and reads the pid of the first process from what it reports. */
async function reportedPid(child: ChildProcess, filter: Uint8Array | undefined): Promise<number> {
  const input = child.stdio[descriptors.filter] as Writable;
  input.on("error", () => {});
  input.end(filter ?? "");
  const info = child.stdio[descriptors.info] as Readable;
  let text = "";
  for await (const part of info) {
    text += part;
    const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
    if (pid !== undefined && text.includes("}")) return Number(pid);
  }
  throw new Error("it did not report its first process");
}

/** Collects what a program says on its standard error, up to 4 kB. */
function textOf(stream: Readable): () => Promise<string> {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (part: string) => {
    text = (text + part).slice(0, 4096);
  });
  const ended = new Promise<void>((resolve) => stream.once("close", resolve));
  return () => ended.then(() => text.trim().split("\n", 1)[0] ?? "");
}
