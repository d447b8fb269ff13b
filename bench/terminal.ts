/** Measures a program in a terminal: when text arrives, how long keys take, memory and processor time. */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Drive } from "../test/support/pty-drive.ts";

/** Waits for a text, as closely as this process can. */
export async function arrives(terminal: Drive, text: string, from = 0): Promise<void> {
  while (!terminal.raw().includes(text, from)) await new Promise((resolve) => setImmediate(resolve));
}

/** Milliseconds from each key to the end of the frame that shows it. */
export async function echoTimes(terminal: Drive, keys: number, mark: string): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < keys; index++) {
    const from = terminal.raw().length;
    const sentAt = performance.now();
    terminal.send("abcdefghij"[index % 10] ?? "a");
    await arrives(terminal, mark, from);
    times.push(performance.now() - sentAt);
    await sleep(12);
  }
  return times;
}

export function p95(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(0.95 * times.length)] ?? 0;
}

/** Percent of one processor that a process takes over so many seconds. Linux only. */
export async function processorShare(pid: number, seconds: number): Promise<number> {
  const ticks = () =>
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .split(" ")
      .slice(13, 15)
      .reduce((sum, each) => sum + Number(each), 0);
  const before = ticks();
  await sleep(1000 * seconds);
  return (ticks() - before) / seconds;
}

/** Memory that a process holds now, in MB (10⁶ bytes), or another line of its status. Linux only. */
export function memoryOf(pid: number, line = "VmRSS"): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return (Number(new RegExp(`^${line}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024) / 1e6;
}
