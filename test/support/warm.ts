/**
 * Command lines that do not start the program each: a process of it stays, and runs them one after another. Starting
 * it costs ten times what a short run does. Signals, streams and crashes are as real as ever; tests of the start itself
 * use `start` of `sawtooth.ts`.
 */

import { type ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { fastStart } from "./entry.ts";
import type { Ended } from "./sawtooth.ts";
import type { Order } from "./warm-program.ts";

const program = fileURLToPath(new URL("warm-program.ts", import.meta.url));
const end = "\0end of this command line ";
const endPattern = new RegExp(`${end}(\\d+)\n$`);
/** Processes that run nothing. They end with this one. */
const idle: ChildProcess[] = [];

/** Runs a command line in a process that is there, or in a new one while all are busy. */
export function runWarm(order: Omit<Order, "end">): Promise<Ended> {
  const child = takeIdle() ?? begin();
  const streams = [child.stdout, child.stderr];
  const texts = ["", ""];
  return new Promise((resolve) => {
    const done = (ended: Pick<Ended, "code" | "signal">) => {
      child.removeAllListeners("close");
      for (const stream of streams) stream?.removeAllListeners("data");
      const [stdout = "", stderr = ""] = texts.map((text) => text.replace(endPattern, ""));
      resolve({ ...ended, stdout, stderr });
    };
    streams.forEach((stream, index) => {
      stream?.on("data", (text: string) => {
        texts[index] += text;
        const codes = texts.map((text) => endPattern.exec(text)?.[1]);
        if (codes.includes(undefined)) return;
        idle.push(child);
        done({ code: Number(codes[0]), signal: null });
      });
    });
    // It ended the process, as it may: this one is of no more use.
    child.on("close", (code, signal) => done({ code, signal }));
    child.send({ ...order, end });
  });
}

function takeIdle(): ChildProcess | undefined {
  for (let child = idle.pop(); child; child = idle.pop())
    if (child.connected && child.exitCode === null) return child;
  return undefined;
}

function begin(): ChildProcess {
  const child = fork(program, {
    cwd: tmpdir(),
    env: { ...fastStart, NODE_NO_WARNINGS: "1" },
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8");
    (stream as Socket).unref();
  }
  child.unref();
  child.channel?.unref();
  return child;
}
