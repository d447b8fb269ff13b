/** The session's shell: one bash that lives as long as the session, and comes back with its state when it dies. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { makeFolders } from "../../../core/make-folders.ts";
import type { OutputReader } from "../output-file.ts";
import { createHandover, type Handover, type OnWaiting, watchWithPerson } from "./handover.ts";
import { clip, createJobs, type Job } from "./jobs.ts";
import { createLifecycle } from "./lifecycle.ts";
import { openProcessTable } from "./open-process-table.ts";
import { type ProcessTable, signal } from "./process-table.ts";
import { drainTerminal, lastScreen, type RunningCommand, stop, type Verdict } from "./running-command.ts";
import { createSessionProcesses, type FoundProcess } from "./session-processes.ts";
import { type Session, startBackground, startForeground, unstage } from "./start.ts";
import { type ShellTiming, usualTiming } from "./timing.ts";

export type ShellOptions = {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  sessionId: string;
  /** Absolute, exists, 0700. The shell keeps its files in the folder `shell` in it. */
  stateFolder: string;
  /** `auto` takes a terminal where there can be one; with `pipe` programs find no /dev/tty. */
  backend?: "pty" | "pipe" | "auto";
  /** Reader of the machine's processes; the one that fits the machine by default. */
  processes?: ProcessTable;
  /** Graces and waits; the usual ones by default. */
  timing?: ShellTiming;
  /** A command that writes more is stopped; 200 MB by default. */
  maxOutputBytes?: number;
};

export type CommandIo = {
  /** Follows the output file, which exists. */
  output: OutputReader;
  timeoutMs: number;
  signal: AbortSignal;
  onProgress(text: string): void;
  /** As `ToolContext.onWaiting`. */
  onWaiting?: OnWaiting | undefined;
};

export type CommandOptions = CommandIo & {
  /** Absolute path of an existing file, which the output is appended to. */
  outputPath: string;
  /** What the command reads; nothing by default. */
  stdin?: string | undefined;
  /** Run it on the terminal itself. */
  tty?: boolean | undefined;
};

export type CommandResult = {
  verdict: Verdict;
  /** Exit status, when the command ended. */
  status?: number;
  /** What is on the terminal: of a command that waits for input, or that ran on the terminal. */
  screen?: string;
  /** Whether it runs on the terminal itself, so that its screen shows its output. */
  onTerminal?: boolean;
  /** Processes that the command left running. */
  left: FoundProcess[];
  /** What the model must know about the shell: it was restarted, what is lost. */
  notes: string[];
};

export type Shell = {
  /** Runs one command; one that waits for input is stopped first. Throws when there is no bash. */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** The command that waits for input, and its output file. */
  waiting(): { command: string; output: string } | undefined;
  /** Types `text` for the waiting command and goes on watching it. */
  answer(text: string, io: CommandIo): Promise<CommandResult>;
  /** Starts a command in the background; its output goes to `outputPath`. */
  background(command: string, outputPath: string, stdin?: string): Promise<{ job: Job; notes: string[] }>;
  /** Ends the shell and its foreground command; the next one starts fresh, in the same folder. */
  restart(): Promise<string[]>;
  jobs(): Job[];
  stopJob(pid: number): Promise<boolean>;
  /** Lets a background job outlive the session. */
  keepJob(pid: number): boolean;
  /** One line each for what happened in the background since the last call. */
  takeNotices(): string[];
  /** The shell's folder. */
  cwd(): string;
  /** Whether commands can have a terminal; unknown before the first command. */
  terminal(): boolean | undefined;
  /** Ends every process of the session but kept jobs. Later calls do nothing. */
  close(): Promise<void>;
  /** The same at once, for the exit of our process. */
  killAll(): void;
};

const usualOutputBytes = 200 * 1024 * 1024;

type State = Session & {
  maxOutputBytes: number;
  /** The newest command, which may have ended. */
  newest: RunningCommand | undefined;
  waiting: RunningCommand | undefined;
  /** Of the command that waits, where a person may still take it over. */
  offer: Handover | undefined;
  /** What a person did with a waiting command after the model was told of it. */
  notices: string[];
  /** Whether processes of an earlier agent were looked for. */
  adopted: boolean;
  /** Calls run one after the other, whoever makes them. */
  queue: Promise<unknown>;
  closing: Promise<void> | undefined;
};

/** A shell that starts with its first command. */
export function createShell(options: ShellOptions): Shell {
  const state = createState(options);
  const { jobs, life, members } = state;
  const inTurn = <T>(action: () => Promise<T>) => takeTurn(state, action);
  return {
    run: (command, request) =>
      inTurn(async () => {
        const notes = await ready(state);
        if (request.signal.aborted) return { verdict: "interrupted", left: [], notes };
        state.newest = await startForeground(state, command, request);
        return finish(state, state.newest, request, notes);
      }),
    waiting() {
      return state.waiting && { command: state.waiting.command, output: state.waiting.output };
    },
    answer: (text, io) => inTurn(() => answer(state, text, io)),
    background: (command, outputPath, stdin) =>
      inTurn(async () => {
        const notes = await ready(state);
        return { job: await startBackground(state, command, { outputPath, stdin }), notes };
      }),
    restart: () =>
      inTurn(async () => {
        await dropWaiting(state);
        return life.restart();
      }),
    jobs: jobs.list,
    stopJob: jobs.stop,
    keepJob: jobs.keep,
    takeNotices: () => [...state.notices.splice(0), ...jobs.takeNotices()],
    cwd: life.cwd,
    terminal: life.hasTerminal,
    close() {
      state.closing ??= closeAll(state);
      return state.closing;
    },
    killAll() {
      if (life.hasTerminal() === undefined) return;
      life.kill();
      // Again for what was being started meanwhile.
      for (let round = 0; round < 5; round++) {
        state.processes.refresh();
        for (const { pid } of members.all()) signal(pid, "SIGKILL");
      }
    },
  };
}

function createState(options: ShellOptions): State {
  const folder = join(options.stateFolder, "shell");
  makeFolders(folder, (path) => mkdirSync(path, { mode: 0o700 }));
  const { sessionId, backend = "auto", processes = openProcessTable(), timing = usualTiming } = options;
  const jobs = createJobs({ folder, sessionId, processes, graceMs: timing.stopJob });
  const life = createLifecycle({ ...options, folder, backend, processes, timing });
  const shellPid = () => life.current()?.bash.pid;
  const members = createSessionProcesses({ sessionId, jobs, processes, graceMs: timing.terminate, shellPid });
  const { maxOutputBytes = usualOutputBytes } = options;
  const session = { maxOutputBytes, folder, life, members, jobs, processes, timing };
  const nothing = { newest: undefined, waiting: undefined, offer: undefined, closing: undefined };
  return { ...session, ...nothing, notices: [], adopted: false, queue: Promise.resolve() };
}

function takeTurn<T>(state: State, action: () => Promise<T>): Promise<T> {
  const turn = state.queue.then(action);
  state.queue = turn.catch(() => {});
  return turn;
}

async function ready(state: State): Promise<string[]> {
  const dropped = await dropWaiting(state);
  if (!state.adopted && state.life.resumed) state.members.adopt();
  state.adopted = true;
  return [...dropped, ...(await state.life.ensure())];
}

async function dropWaiting(state: State): Promise<string[]> {
  const dropped = state.waiting;
  if (!dropped) return [];
  state.waiting = undefined;
  await stop(dropped, state.timing.stop.waiting);
  await state.life.settle();
  return ["the command that waited for input was stopped"];
}

async function answer(state: State, text: string, io: CommandIo): Promise<CommandResult> {
  const running = state.waiting;
  if (!running) throw new Error("no command waits for input");
  state.offer?.withdraw();
  state.waiting = undefined;
  running.printed.at = Date.now();
  running.terminal?.write(text);
  return finish(state, running, io, []);
}

/** Watches the command to its end, or to a question; ends it where a limit or the user says so. */
async function finish(
  state: State,
  running: RunningCommand,
  io: CommandIo,
  notes: string[],
): Promise<CommandResult> {
  const { verdict, offer, answered } = await watchWithPerson(running, {
    ...io,
    maxBytes: state.maxOutputBytes,
  });
  const said = answered ? [...notes, "a person answered at the terminal"] : notes;
  if (verdict !== "waiting") return conclude(state, running, verdict, said);
  state.waiting = running;
  if (offer && io.onWaiting) void attendLater(state, running, offer, io.onWaiting);
  const screen = await lastScreen(running);
  running.printed.text = "";
  return { verdict, screen, onTerminal: running.screen !== undefined, left: [], notes: said };
}

/** Takes stock of a command that is over, or has to be. */
async function conclude(
  state: State,
  running: RunningCommand,
  verdict: Exclude<Verdict, "waiting">,
  notes: string[],
): Promise<CommandResult> {
  const { folder, life, members, timing } = state;
  if (verdict !== "ended") await stop(running, timing.stop[verdict]);
  const { status } = await running.end;
  const left = verdict === "ended" ? await members.leftBy(running.lastPid) : [];
  if (verdict !== "ended") await life.settle();
  await drainTerminal(running);
  const screen = running.screen ? { screen: await running.screen.whole() } : {};
  unstage(folder, running);
  return { verdict, status, ...screen, left, notes: [...notes, ...(await life.revive())] };
}

/**
 * After the model was told that the command waits: should a person take it over all the same, calls of the model wait
 * until it is given back, and the model hears what became of it.
 */
async function attendLater(
  state: State,
  running: RunningCommand,
  offer: Handover,
  onWaiting: OnWaiting,
): Promise<void> {
  state.offer = offer;
  await offer.taken;
  await takeTurn(state, async () => {
    await offer.over;
    const { command, terminal, output } = running;
    if (!running.ended && terminal) {
      state.notices.push(`a person typed for the command that waits (${clip(command)})`);
      const next = createHandover(running, terminal);
      void attendLater(state, running, next, onWaiting);
      onWaiting(next.port);
      return;
    }
    state.waiting = undefined;
    const { status, left, notes } = await conclude(state, running, "ended", []);
    const still = left.length > 0 ? `; left running: ${left.map(({ pid }) => pid).join(" ")}` : "";
    const how = `it ended with exit ${status}${still}; output: ${output}`;
    state.notices.push(`a person answered the command that waited (${clip(command)}): ${how}`, ...notes);
  });
}

/** The command is stopped first: else the shell would run what comes after a program that is ended here. */
async function closeAll({ life, members, newest, timing }: State): Promise<void> {
  life.startNoMore();
  if (newest && !newest.ended) await stop(newest, timing.stop.interrupted);
  // No shell lives while a new one is being started, but processes of the one before may.
  if (life.hasTerminal() !== undefined) await members.endAll();
  await life.close();
}
