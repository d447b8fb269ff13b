/** Runs one bash process and its control channel: lines go in, end marks come out. */

import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import type { Box } from "../../../core/sandbox.ts";
import { withoutTerminals } from "../../../disk/without-terminals.ts";
import { noPid } from "./process-table.ts";
import { type End, endScanner, files, initScript, type ShellFolders } from "./protocol.ts";

/** The exit status of a shell: 128 + n after signal n. */
export type Death = { status: number };

export type BashProcess = {
  /** On the machine. */
  pid: number;
  /** Returns the exit status once the process has ended. */
  death(): Death | undefined;
  send(lines: string): void;
  /** Calls back once, at the next end mark or at the death of the shell. */
  onNext(listener: (event: End | Death) => void): void;
  /** Ends an idle shell, as the end of its input would. */
  hangUp(): void;
  /** Releases the channel, so that it does not keep our process alive. */
  release(): void;
};

export type SpawnOptions = {
  cwd: string;
  env: Record<string, string>;
  folders: ShellFolders;
  /** Path of the terminal, as the shell sees it. */
  terminal: string | undefined;
  /** Bash lines that restore an earlier state. */
  restore: string;
  /** Number of its first end mark. */
  number: number;
  /** Milliseconds for it to be ready. */
  limit: number;
  /** The sandbox that the shell starts in. */
  box: Box | undefined;
  /** Returns the pid on the machine of a process of the sandbox. */
  outerPid(inner: number, first: number): number | undefined;
};

/** A way to a shell that starts. */
type Channel = {
  /** Returns its pid on the machine, by the one that it reports. */
  pid(told: number): number;
  send(lines: string): void;
  onBytes(listener: (bytes: Uint8Array) => void): void;
  onDeath(listener: (status: number) => void): void;
  onError(listener: (error: Error) => void): void;
  hangUp(): void;
  /** Stops keeping our process alive. */
  unref(): void;
  release(): void;
};

/** Starts bash and waits until it is ready. Throws when there is no bash, it exits at once, or it is not ready in time. */
export async function startBash(options: SpawnOptions): Promise<BashProcess> {
  const nonce = randomBytes(12).toString("hex");
  const init = join(options.folders.in, files.init);
  const cwd = options.box ? options.cwd : undefined;
  writeFileSync(init, initScript({ ...options, cwd, nonce }), { mode: 0o600 });
  // A sandbox that runs already does not keep our process alive.
  const awake = setInterval(() => {}, 1000);
  try {
    const channel = options.box ? inBox(options.box, init, options) : onMachine(init, options);
    return await whenReady(channel, nonce, options.limit);
  } finally {
    clearInterval(awake);
    rmSync(init, { force: true });
  }
}

function onMachine(init: string, { cwd, env }: SpawnOptions): Channel {
  const words = ["--noprofile", "--rcfile", init, "--noediting", "-i"];
  // A kernel session of its own: the shell cannot touch our terminal, and can take another.
  const child = withoutTerminals(["pipe", "pipe", "ignore"], (stdio) =>
    spawn("bash", words, { cwd, env, detached: true, stdio }),
  ) as ChildProcess & { stdin: Writable; stdout: Readable };
  child.stdin.on("error", () => {});
  return {
    pid: () => child.pid ?? noPid,
    send: (lines) => void child.stdin.write(lines),
    onBytes: (listener) => void child.stdout.on("data", listener),
    onDeath: (listener) =>
      void child.once("exit", (code, signal) =>
        listener(code ?? 128 + (signal ? constants.signals[signal] : 0)),
      ),
    onError: (listener) => void child.once("error", listener),
    hangUp: () => void child.stdin.end(),
    unref() {
      child.unref();
      for (const end of [child.stdin, child.stdout]) (end as { unref?: () => void }).unref?.();
    },
    release() {
      child.stdin.destroy();
      child.stdout.destroy();
    },
  };
}

function inBox(box: Box, init: string, { outerPid }: SpawnOptions): Channel {
  let [bytes, death]: [((bytes: Uint8Array) => void)?, ((status: number) => void)?] = [];
  box.listen({
    bytes: (some) => bytes?.(some),
    shellEnded: (status) => death?.(status),
    ended: () => death?.(128 + constants.signals.SIGKILL),
  });
  box.startShell(init);
  // Bash turns job control on again after its first file, where it has a terminal from the start.
  box.send("set +m\n");
  return {
    pid: (told) => outerPid(told, box.pid) ?? noPid,
    send: box.send,
    onBytes: (listener) => {
      bytes = listener;
    },
    onDeath: (listener) => {
      death = listener;
    },
    onError: () => {},
    // Its input is the keeper's too.
    hangUp: () => box.send("builtin exit\n"),
    unref() {},
    release() {},
  };
}

function whenReady(channel: Channel, nonce: string, limit: number): Promise<BashProcess> {
  const scan = endScanner(nonce);
  let death: Death | undefined;
  let next: ((event: End | Death) => void) | undefined;
  const notify = (event: End | Death): void => {
    const listener = next;
    next = undefined;
    listener?.(event);
  };
  channel.onBytes((bytes) => scan(Buffer.from(bytes)).forEach(notify));
  channel.onDeath((status) => {
    death ??= { status };
    notify(death);
  });
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error(`bash was not ready after ${limit / 1000} s`)), limit);
    channel.onError((error) => reject(new Error(`bash cannot be started: ${error.message}`)));
    next = (event) => {
      clearTimeout(late);
      if (!("number" in event))
        return reject(new Error(`bash ended at its start with status ${event.status}`));
      channel.unref();
      resolve({
        pid: channel.pid(event.status),
        death: () => death,
        send: channel.send,
        onNext: (listener) => {
          next = listener;
          // It may have died while a command was prepared for it.
          if (death) notify(death);
        },
        hangUp: channel.hangUp,
        release: channel.release,
      });
    };
  });
}
