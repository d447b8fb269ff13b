/** The session's shell: one bash that lives as long as the session, and comes back with its state when it dies. */

import { join } from "node:path";
import type { KeepOutcome } from "../../../core/ports.ts";
import type { Sandbox } from "../../../core/sandbox.ts";
import { makeFolders } from "../../../disk/make-folders.ts";
import type { OutputReader } from "../output-file.ts";
import { createHandover, type Handover, type OnWaiting, watchWithPerson } from "./handover.ts";
import { clip, createJobs, type Job } from "./jobs.ts";
import { createLifecycle } from "./lifecycle.ts";
import { openProcessTable } from "./open-process-table.ts";
import { type ProcessTable, signal } from "./process-table.ts";
import type { ShellFolders } from "./protocol.ts";
import { drainTerminal, lastScreen, type RunningCommand, stop, type Verdict } from "./running-command.ts";
import { createSessionProcesses, type FoundProcess } from "./session-processes.ts";
import { removeStaged, type Session, startBackground, startForeground } from "./start.ts";
import { type ShellTiming, usualTiming } from "./timing.ts";

export type ShellOptions = {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  sessionId: string;
  /** Absolute, exists, 0700. The shell keeps its files in folders in it (see `shellPlaces`). */
  stateFolder: string;
  /** Returns the way into the sandbox; without one commands run on the machine as they are. */
  sandbox?: () => Promise<Sandbox | undefined>;
  /** `auto` uses a terminal where possible; with `pipe` programs find no /dev/tty. */
  backend?: "pty" | "pipe" | "auto";
  /** Reader of the machine's processes; by default the one that fits the machine. */
  processes?: ProcessTable;
  /** Grace periods and waits; the usual ones by default. */
  timing?: ShellTiming;
  /** A command that writes more bytes is stopped; 200 MB by default. */
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
  /** Absolute path of an existing file, to which the output is appended. */
  outputPath: string;
  /** Standard input of the command; empty by default. */
  stdin?: string | undefined;
  /** Runs the command on the terminal itself. */
  tty?: boolean | undefined;
};

export type CommandResult = {
  verdict: Verdict;
  /** Exit status, if the command ended. */
  status?: number;
  /** Terminal content of a command that waits for input, or that ran on the terminal. */
  screen?: string;
  /** True when it runs on the terminal itself, so that its screen shows its output. */
  onTerminal?: boolean;
  /** Processes that the command left running. */
  left: FoundProcess[];
  /** Facts about the shell for the model: that it was restarted, and what was lost. */
  notes: string[];
};

export type Shell = {
  /** Starts the session's first shell before there is a command for it. A failure shows with the first command. */
  warm(): void;
  /** Runs one command; a command that waits for input is stopped first. Throws when there is no bash. */
  run(command: string, options: CommandOptions): Promise<CommandResult>;
  /** Returns the command that waits for input, and its output file. */
  waiting(): { command: string; output: string } | undefined;
  /** Types `text` for the waiting command and continues to watch it. */
  answer(text: string, io: CommandIo): Promise<CommandResult>;
  /** Starts a command in the background; its output goes to `outputPath`. */
  background(command: string, outputPath: string, stdin?: string): Promise<{ job: Job; notes: string[] }>;
  /** Ends the shell and its foreground command; the next one starts fresh, in the same folder. */
  restart(): Promise<string[]>;
  jobs(): Job[];
  stopJob(pid: number): Promise<boolean>;
  /** Lets a background job outlive the session, where it does not run in a sandbox that ends with it. */
  keepJob(pid: number): KeepOutcome;
  /** Returns one line for each background event since the last call. */
  takeNotices(): string[];
  /** Returns the shell's folder. */
  cwd(): string;
  /** Returns true when commands can have a terminal; undefined before the first command. */
  terminal(): boolean | undefined;
  /** Ends every process of the session except kept jobs. Later calls do nothing. */
  close(): Promise<void>;
  /** Ends the same processes at once, for the exit of our process. */
  killAll(): void;
};

const usualOutputBytes = 200 * 1024 * 1024;

/** Returns the folders of a shell in a session's folder; `folder` holds those that nothing inside of a sandbox sees. */
export function shellPlaces(stateFolder: string): ShellFolders & { folder: string; outFolder: string } {
  const folder = join(stateFolder, "shell");
  return {
    folder,
    in: join(folder, "in"),
    state: join(folder, "state"),
    outFolder: join(stateFolder, "out"),
  };
}

type State = Session & {
  maxOutputBytes: number;
  /** The newest command, which may have ended. */
  newest: RunningCommand | undefined;
  waiting: RunningCommand | undefined;
  /** The offer for the command that waits, while a person may take it over. */
  handover: Handover | undefined;
  /** Notes for the model about what a person did with a waiting command. */
  notices: string[];
  /** True once processes of an earlier agent were looked for. */
  adopted: boolean;
  /** Calls run one after the other, whoever makes them. */
  queue: Promise<unknown>;
  closing: Promise<void> | undefined;
};

/** Creates a shell, which starts with its first command. */
export function createShell(options: ShellOptions): Shell {
  const state = createState(options);
  const { jobs, lifecycle, sessionProcesses } = state;
  const inTurn = <T>(action: () => Promise<T>) => takeTurn(state, action);
  return {
    warm() {
      if (lifecycle.resumed || lifecycle.current() || state.closing) return;
      void inTurn(() => lifecycle.ensure()).catch(() => {});
    },
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
        return lifecycle.restart();
      }),
    jobs: jobs.list,
    stopJob: jobs.stop,
    keepJob: (pid) => (lifecycle.endsAll() ? "ends_with_sandbox" : jobs.keep(pid) ? "kept" : "not_running"),
    takeNotices: () => [...state.notices.splice(0), ...jobs.takeNotices()],
    cwd: lifecycle.cwd,
    terminal: lifecycle.hasTerminal,
    close() {
      state.closing ??= closeAll(state);
      return state.closing;
    },
    killAll() {
      if (lifecycle.hasTerminal() === undefined) return;
      lifecycle.kill();
      // Repeated for processes that were being started meanwhile.
      for (let round = 0; round < 5; round++) {
        state.processes.refresh();
        for (const { pid } of sessionProcesses.all()) signal(pid, "SIGKILL");
      }
    },
  };
}

function createState(options: ShellOptions): State {
  const { folder, outFolder, ...folders } = shellPlaces(options.stateFolder);
  for (const path of [folders.in, folders.state, outFolder]) makeFolders(path, 0o700);
  const { sessionId, backend = "auto", processes = openProcessTable(), timing = usualTiming } = options;
  const jobs = createJobs({
    folder,
    stateFolder: folders.state,
    sessionId,
    processes,
    graceMs: timing.stopJob,
  });
  const { sandbox } = options;
  const lifecycle = createLifecycle({
    ...options,
    folders,
    mark: folder,
    backend,
    processes,
    timing,
    sandbox,
  });
  const shellPids = () => ({ shell: lifecycle.current()?.bash.pid, keeper: lifecycle.keeper() });
  const sessionProcesses = createSessionProcesses({
    sessionId,
    jobs,
    processes,
    graceMs: timing.terminate,
    beginMs: timing.begin,
    shellPids,
  });
  const { maxOutputBytes = usualOutputBytes } = options;
  const session = {
    maxOutputBytes,
    folders,
    outFolder,
    lifecycle,
    sessionProcesses,
    jobs,
    processes,
    timing,
  };
  const nothing = { newest: undefined, waiting: undefined, handover: undefined, closing: undefined };
  return { ...session, ...nothing, notices: [], adopted: false, queue: Promise.resolve() };
}

function takeTurn<T>(state: State, action: () => Promise<T>): Promise<T> {
  const turn = state.queue.then(action).finally(state.lifecycle.walls.calm);
  state.queue = turn.catch(() => {});
  return turn;
}

async function ready(state: State): Promise<string[]> {
  const dropped = await dropWaiting(state);
  if (!state.adopted && state.lifecycle.resumed) state.sessionProcesses.adopt();
  state.adopted = true;
  const notes = await state.lifecycle.ensure();
  return [...dropped, ...notes, ...(await state.lifecycle.walls.close())];
}

async function dropWaiting(state: State): Promise<string[]> {
  const dropped = state.waiting;
  if (!dropped) return [];
  state.waiting = undefined;
  await stop(dropped, state.timing.stop.waiting);
  await state.lifecycle.settle();
  removeStaged(state.folders, dropped);
  return ["the command that waited for input was stopped"];
}

async function answer(state: State, text: string, io: CommandIo): Promise<CommandResult> {
  const running = state.waiting;
  if (!running) throw new Error("no command waits for input");
  state.handover?.withdraw();
  state.waiting = undefined;
  await state.lifecycle.walls.close();
  running.printed.at = Date.now();
  running.terminal?.write(text);
  return finish(state, running, io, []);
}

/** Watches the command to its end, or to a question; stops it at a limit or when the user interrupts. */
async function finish(
  state: State,
  running: RunningCommand,
  io: CommandIo,
  notes: string[],
): Promise<CommandResult> {
  const { verdict, handover, answered } = await watchWithPerson(running, {
    ...io,
    maxBytes: state.maxOutputBytes,
  });
  const allNotes = answered ? [...notes, "a person answered at the terminal"] : notes;
  if (verdict !== "waiting") return conclude(state, running, verdict, allNotes);
  state.waiting = running;
  if (handover && io.onWaiting) void attendLater(state, running, handover, io.onWaiting);
  const screen = await lastScreen(running);
  running.printed.text = "";
  return { verdict, screen, onTerminal: running.screen !== undefined, left: [], notes: allNotes };
}

/** Collects the result of a command that is over, or has to be. */
async function conclude(
  state: State,
  running: RunningCommand,
  verdict: Exclude<Verdict, "waiting">,
  notes: string[],
): Promise<CommandResult> {
  const { folders, lifecycle, sessionProcesses, timing } = state;
  if (verdict !== "ended") await stop(running, timing.stop[verdict]);
  const { status } = await running.end;
  const left = verdict === "ended" ? await sessionProcesses.leftBy(running.lastPid) : [];
  if (verdict !== "ended") await lifecycle.settle();
  await drainTerminal(running);
  const screen = running.screen ? { screen: await running.screen.whole() } : {};
  removeStaged(folders, running);
  return { verdict, status, ...screen, left, notes: [...notes, ...(await lifecycle.revive())] };
}

/**
 * Handles a person who takes over a command after the model was told that it waits: calls of the model wait until it is
 * given back, and the model gets a note of the outcome.
 */
async function attendLater(
  state: State,
  running: RunningCommand,
  handover: Handover,
  onWaiting: OnWaiting,
): Promise<void> {
  state.handover = handover;
  await handover.taken;
  await takeTurn(state, async () => {
    await handover.over;
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
    const outcome = `it ended with exit ${status}${still}; output: ${output}`;
    state.notices.push(`a person answered the command that waited (${clip(command)}): ${outcome}`, ...notes);
  });
}

/** Stops the command first: otherwise the shell would run the commands after a program that is ended here. */
async function closeAll({ lifecycle, sessionProcesses, newest, timing }: State): Promise<void> {
  lifecycle.startNoMore();
  if (newest && !newest.ended) await stop(newest, timing.stop.interrupted);
  // No shell runs while a new one is being started, but processes of the previous one may.
  if (lifecycle.hasTerminal() !== undefined) await sessionProcesses.endAll();
  await lifecycle.close();
}
