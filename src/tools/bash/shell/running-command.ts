/** One command while it runs in the shell: waits for its end, its limits or its questions, and ends it by force. */

import { truncateSync } from "node:fs";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { cleanText } from "../../../core/clean-text.ts";
import type { OutputReader } from "../output-file.ts";
import type { BashProcess, Death } from "./bash-process.ts";
import { type Process, type ProcessTable, signal } from "./process-table.ts";
import { type End, giveUpSignal } from "./protocol.ts";
import type { Screen } from "./screen.ts";
import type { Terminal } from "./terminal.ts";
import type { ShellTiming } from "./timing.ts";

export type RunningCommand = {
  command: string;
  /** The file that its output goes to. */
  output: string;
  /** The file that the shell sources it from. */
  staged: string;
  bash: BashProcess;
  terminal: Terminal | undefined;
  /** Set for a command that runs on the terminal itself. */
  screen: Screen | undefined;
  /** What was printed on the terminal since the last report. */
  printed: { text: string; at: number };
  /** Hears the same, as bytes. */
  onPrinted: ((bytes: Buffer) => void) | undefined;
  end: Promise<End | Death>;
  ended: boolean;
  /** Whether its input lies in a file of ours. */
  hasStdin: boolean;
  processes: ProcessTable;
  timing: ShellTiming;
  /** The newest pid of the machine when it started. */
  lastPid: number;
  /** The processes that belong to it. */
  members(): Process[];
};

export type Verdict = "ended" | "timeout" | "interrupted" | "too_large" | "waiting";

export type WatchOptions = {
  /** Undefined: however long it takes. */
  timeoutMs: number | undefined;
  maxBytes: number;
  signal: AbortSignal;
  output: OutputReader;
  onProgress(text: string): void;
  /** Set while a person has the terminal: it waits again when this resolves, and not before. */
  givenBack?: Promise<void> | undefined;
};

const firstTickMs = 10;
const tickMs = 50;
/** While output comes faster than this between two looks. */
const floodBytes = 1024 * 1024;
const floodTickMs = 2;
const progressLines = 12;

/** What comes first: the end of the command, a limit, the user's interrupt, or a question on the terminal. */
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

/** Looks at the command once; says whether its output comes so fast that it is worth reading along. */
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
      else if (waitsForPerson(running, silence)) settle("waiting");
    }
    return behind || grown > floodBytes;
  };
}

/** Whether a process of the command, or the shell itself in a `read`, has the terminal to read from. */
function waitsForPerson(
  { bash, terminal, members, processes, timing }: RunningCommand,
  silence: number,
): boolean {
  if (!terminal) return false;
  const uses = [bash, ...members()].map(({ pid }) => processes.terminalUse(pid, terminal.path));
  return uses.includes("reads") || (silence >= timing.waitSilence && uses.includes("waits"));
}

/** Ctrl-Z stops a program that nobody could bring back: the shell has no job control. */
function wake({ members }: RunningCommand): void {
  for (const { pid, state } of members()) if (state === "T") signal(pid, "SIGCONT");
}

/** The last lines on the terminal, for the model. */
export async function lastScreen({ screen, printed }: RunningCommand): Promise<string> {
  const text = screen ? await screen.visible() : cleanText(printed.text);
  return text.trimEnd().split("\n").slice(-30).join("\n");
}

/** Waits until what the programs wrote on the terminal has arrived; it goes another way than the end mark. */
export async function drainTerminal({ screen, printed }: RunningCommand): Promise<void> {
  if (screen) await until(() => Date.now() - printed.at > 20, 500);
}

/**
 * Ends the command and everything it started: SIGINT, after `graceMs` SIGKILL, at last the shell itself. The shell
 * is first told to give up the rest of the command, so that nothing that comes after a killed program is run.
 */
export async function stop(running: RunningCommand, graceMs: number): Promise<void> {
  const { bash, processes } = running;
  const isOver = () => running.ended && running.members().length === 0;
  if (!running.ended) {
    withhold(running.staged);
    giveUp(processes, bash.pid);
  }
  for (const { pid, state } of running.members()) {
    signal(pid, "SIGINT");
    if (state === "T") signal(pid, "SIGCONT");
  }
  await until(isOver, graceMs);
  for (let round = 0; round < 20 && !isOver(); round++) {
    processes.refresh();
    if (!running.ended) signal(bash.pid, giveUpSignal);
    for (const { pid } of running.members()) signal(pid, "SIGKILL");
    if (!running.ended && round > 0) signal(bash.pid, "SIGINT");
    await until(isOver, 40);
  }
  if (running.ended) return;
  signal(bash.pid, "SIGKILL");
  await running.end;
}

/** A shell that has not taken the command up yet, and passes the signal over, finds nothing to run. */
function withhold(staged: string): void {
  try {
    truncateSync(staged);
  } catch {
    // The command may have removed it.
  }
}

/** A shell that was told to ignore the signal would go on with the command: it dies, and comes back with its state. */
function giveUp(processes: ProcessTable, pid: number): void {
  signal(pid, processes.ignores(pid, constants.signals[giveUpSignal]) ? "SIGKILL" : giveUpSignal);
  if (processes.find(pid)?.state === "T") signal(pid, "SIGCONT");
}

async function until(isTrue: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  for (let pause = 5; !isTrue() && Date.now() < deadline; pause = Math.min(50, pause * 2)) await sleep(pause);
}
