/** Runs one bash process and its control channel: lines go in, end marks come out. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { type End, endScanner, files, initScript } from "./protocol.ts";
import type { Terminal } from "./terminal.ts";

/** The exit status of a shell: 128 + n after signal n. */
export type Death = { status: number };

export type BashProcess = {
  pid: number;
  /** Returns the exit status once the process has ended. */
  death(): Death | undefined;
  send(lines: string): void;
  /** Calls back once, at the next end mark or at the death of the shell. */
  onNext(listener: (event: End | Death) => void): void;
  /** Closes the shell's input, which ends an idle shell. */
  hangUp(): void;
  /** Releases the channel, so that it does not keep our process alive. */
  release(): void;
};

export type SpawnOptions = {
  cwd: string;
  env: Record<string, string>;
  /** Folder for the shell's files. */
  folder: string;
  terminal: Terminal | undefined;
  /** Bash lines that restore an earlier state. */
  restore: string;
  /** Number of its first end mark. */
  number: number;
};

/** Starts bash and waits until it is ready. Throws when there is no bash or it exits at once. */
export async function startBash(options: SpawnOptions): Promise<BashProcess> {
  const nonce = randomBytes(12).toString("hex");
  const init = join(options.folder, files.init);
  const script = initScript({ ...options, terminal: options.terminal?.path, nonce });
  writeFileSync(init, script, { mode: 0o600 });
  try {
    const child = spawn("bash", ["--noprofile", "--rcfile", init, "--noediting", "-i"], {
      cwd: options.cwd,
      env: options.env,
      // A kernel session of its own: the shell cannot touch our terminal, and can take another.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
    return await whenReady(child, nonce);
  } finally {
    rmSync(init, { force: true });
  }
}

function whenReady(
  child: ChildProcess & { stdin: Writable; stdout: Readable },
  nonce: string,
): Promise<BashProcess> {
  const scan = endScanner(nonce);
  let death: Death | undefined;
  let next: ((event: End | Death) => void) | undefined;
  const notify = (event: End | Death): void => {
    const listener = next;
    next = undefined;
    listener?.(event);
  };
  child.stdout.on("data", (bytes: Buffer) => scan(bytes).forEach(notify));
  child.stdin.on("error", () => {});
  child.once("exit", (code, signal) => {
    death = { status: code ?? 128 + (signal ? constants.signals[signal] : 0) };
    notify(death);
  });
  const release = (): void => {
    child.unref();
    for (const end of [child.stdin, child.stdout]) (end as { unref?: () => void }).unref?.();
  };
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(new Error(`bash cannot be started: ${error.message}`)));
    next = (event) => {
      if (!("number" in event))
        return reject(new Error(`bash ended at its start with status ${event.status}`));
      release();
      resolve({
        pid: child.pid ?? -1,
        death: () => death,
        send: (lines) => void child.stdin.write(lines),
        onNext: (listener) => {
          next = listener;
        },
        hangUp: () => void child.stdin.end(),
        release: () => {
          child.stdin.destroy();
          child.stdout.destroy();
        },
      });
    };
  });
}
