/**
 * Watches one command while it runs in the shell: waits for its end, its limits or its questions, and stops it by
 * force.
 */

import { truncateSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { cleanText } from "../../../core/text/clean-text.ts";
import type { OutputReader } from "../output-file.ts";
import type { BashProcess, Death } from "./bash-process.ts";
import { type Process, type ProcessTable, signal } from "./process-table.ts";
import { type End, giveUpSignal } from "./protocol.ts";
import type { Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";
import type { ShellTiming } from "./timing.ts";

export type RunningCommand = {
  command: string;
  /** The file that receives its output. */
  output: string;
  /** The second name of that file by which a sandboxed command writes it. */
  outLink: string | undefined;
  /** The file that the shell sources it from. */
  staged: string;
  bash: BashProcess;
  terminal: Terminal | undefined;
  /** Set for a command that runs on the terminal itself. */
  screen: Screen | undefined;
  /** Terminal output since the last report. */
  printed: { text: string; at: number };
  /** Receives the same output, as bytes. */
  onPrinted: ((bytes: Buffer) => void) | undefined;
  end: Promise<End | Death>;
  ended: boolean;
  /** True when its input lies in a file of ours. */
  hasStdin: boolean;
  processes: ProcessTable;
  timing: ShellTiming;
  /** The newest pid of the machine when it started. */
  lastPid: number;
  /** Returns the processes that belong to it. */
  ownProcesses(): Process[];
};

export type Verdict = "ended" | "timeout" | "interrupted" | "too_large" | "waiting";

export type WatchOptions = {
  /** Time limit in milliseconds; undefined for none. */
  timeoutMs: number | undefined;
  maxBytes: number;
  signal: AbortSignal;
  output: OutputReader;
  onProgress(text: string): void;
  /** Set while a person has the terminal; resolves when it is given back, and the command waits again. */
  givenBack?: Promise<void> | undefined;
};

const firstTickMs = 10;
const tickMs = 50;
/** Output faster than this between two polls counts as a flood. */
const floodBytes = 1024 * 1024;
const floodTickMs = 2;
const progressLines = 12;

/** Waits for the first of: the end of the command, a limit, the user's interrupt, a question on the terminal. */
export async function watch(running: RunningCommand, options: WatchOptions): Promise<Verdict> {
  if (options.signal.aborted) return "interrupted";
  const { promise, resolve: settle } = Promise.withResolvers<Verdict>();
  void running.end.then(() => settle("ended"));
  const interrupt = () => settle("interrupted");
  options.signal.addEventListener("abort", interrupt, { once: true });
  void options.givenBack?.then(() => settle("waiting"));
  const { timeoutMs } = options;
  const timeout = timeoutMs === undefined ? undefined : setTimeout(() => settle("timeout"), timeoutMs);
  const tick = createTick(running, options, settle);
  let next = setTimeout(function turn() {
    next = setTimeout(turn, tick() ? floodTickMs : tickMs);
  }, firstTickMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timeout);
    clearTimeout(next);
    options.signal.removeEventListener("abort", interrupt);
  }
}

/** Polls the command once. Returns true when its output comes so fast that it is worth reading along. */
function createTick(
  running: RunningCommand,
  { output, maxBytes, onProgress, givenBack }: WatchOptions,
  settle: (verdict: Verdict) => void,
): () => boolean {
  const { readSilence } = running.timing;
  let size = output.size();
  let activeAt = Date.now();
  let nextLook = activeAt + readSilence;
  let shownAt = 0;
  let suspectedAt: number | undefined;
  // Its question may still be on its way to us: the next tick decides.
  const suspect = () => {
    if (suspectedAt === running.printed.at) settle("waiting");
    suspectedAt = running.printed.at;
    nextLook = activeAt;
  };
  return () => {
    const now = Date.now();
    const grown = output.size() - size;
    size += grown;
    if (grown !== 0) activeAt = now;
    if (size > maxBytes) settle("too_large");
    const behind = grown !== 0 && output.advance();
    if (activeAt > shownAt && now - shownAt >= 2 * tickMs && size > 0) {
      shownAt = now;
      onProgress(output.tail(progressLines));
    }
    const silence = now - Math.max(activeAt, running.printed.at);
    if (silence >= readSilence && now >= nextLook) {
      nextLook = now + Math.min(500, readSilence);
      if (givenBack) wake(running);
      else if (waitsForPerson(running, silence)) suspect();
    }
    return behind || grown > floodBytes;
  };
}

/** Returns true when a process of the command, or the shell itself in a `read`, reads from the terminal. */
function waitsForPerson(
  { bash, terminal, ownProcesses, processes, timing }: RunningCommand,
  silence: number,
): boolean {
  if (!terminal) return false;
  const uses = [bash, ...ownProcesses()].map(({ pid }) => processes.terminalUse(pid, terminal.path));
  return uses.includes("reads") || (silence >= timing.waitSilence && uses.includes("waits"));
}

/** Wakes a program that Ctrl-Z stopped: without job control in the shell nobody else could. */
function wake({ ownProcesses }: RunningCommand): void {
  for (const { pid, state } of ownProcesses()) if (state === "T") signal(pid, "SIGCONT");
}

/** Returns the last lines on the terminal, for the model. */
export async function lastScreen({ screen, printed }: RunningCommand): Promise<string> {
  const text = screen ? await screen.visible() : cleanText(printed.text);
  return text.trimEnd().split("\n").slice(-30).join("\n");
}

/**
 * Waits until the terminal output of the programs has arrived; it travels separately from the end mark. Silence is two
 * rounds of our own event loop without a byte: on a busy machine time may pass while nobody reads.
 */
export async function drainTerminal({ screen, printed }: RunningCommand): Promise<void> {
  if (!screen) return;
  for (let silent = 0, round = 0; silent < 2 && round < 200; round++) {
    const { at } = printed;
    await sleep(15);
    silent = printed.at === at ? silent + 1 : 0;
  }
}

/** Looks, 40 ms apart, for a shell that was told to give up: it may wait for a busy processor, and dies with its state. */
const patientRounds = 100;

/**
 * Stops the command and everything it started: SIGINT, after `graceMs` SIGKILL, at last the shell itself. The shell is
 * first told to abandon the rest of the command, so that nothing after a killed program is run.
 */
export async function stop(running: RunningCommand, graceMs: number): Promise<void> {
  const { bash, processes } = running;
  const isOver = () => running.ended && running.ownProcesses().length === 0;
  if (!running.ended) {
    withhold(running.staged);
    giveUp(processes, bash.pid);
  }
  for (const { pid, state } of running.ownProcesses()) {
    signal(pid, "SIGINT");
    if (state === "T") signal(pid, "SIGCONT");
  }
  await until(isOver, graceMs);
  for (let round = 0; round < patientRounds && !isOver(); round++) {
    processes.refresh();
    if (!running.ended) signal(bash.pid, giveUpSignal);
    for (const { pid } of running.ownProcesses()) signal(pid, "SIGKILL");
    if (!running.ended && round > 0) signal(bash.pid, "SIGINT");
    await until(isOver, 40);
  }
  if (running.ended) return;
  signal(bash.pid, "SIGKILL");
  await running.end;
}

/** Empties the staged file: a shell that has not read the command yet, and ignores the signal, finds nothing to run. */
function withhold(staged: string): void {
  try {
    truncateSync(staged);
  } catch {
    // The command may have removed it.
  }
}

/**
 * Kills a shell that ignores the signal, because it would continue the command; a new one comes back with its state.
 */
function giveUp(processes: ProcessTable, pid: number): void {
  signal(pid, processes.ignores(pid, constants.signals[giveUpSignal]) ? "SIGKILL" : giveUpSignal);
  if (processes.find(pid)?.state === "T") signal(pid, "SIGCONT");
}

async function until(isTrue: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 5; !isTrue() && Date.now() < deadline; pause = Math.min(50, pause * 2)) await sleep(pause);
}
