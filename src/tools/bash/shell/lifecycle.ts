/** The lifecycle of the session's shell: starts it, restores the state of the previous one, and ends it. */

import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type BashProcess, startBash } from "./bash-process.ts";
import { childEnvironment } from "./environment.ts";
import { agentMark } from "./orphans.ts";
import { type ProcessTable, signal } from "./process-table.ts";
import { type End, endLine, files, giveUpSignal } from "./protocol.ts";
import { clearLeft, lastExisting, type Restoration, readShellState, restoration } from "./shell-state.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import type { ShellTiming } from "./timing.ts";

export type LiveShell = { bash: BashProcess; terminal: Terminal | undefined };
export type ShellLifecycle = ReturnType<typeof createLifecycle>;

export type LifecycleOptions = {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  sessionId: string;
  /** The shell's own folder. */
  folder: string;
  backend: "pty" | "pipe" | "auto";
  processes: ProcessTable;
  timing: ShellTiming;
};

type State = LifecycleOptions & {
  childEnv: Record<string, string>;
  living: LiveShell | undefined;
  /** Folders the shell was in, the newest last. */
  cwds: string[];
  /** Number of the last command, over all shells of the session. */
  number: number;
  flags: string;
  hasTerminal: boolean | undefined;
  /** The reason for the next start. */
  next: "first" | "resumed" | "died";
  closed: boolean;
};

/** Creates the lifecycle. No shell runs before the first `ensure`. */
export function createLifecycle(options: LifecycleOptions) {
  const { folder, sessionId, processes } = options;
  const before = readShellState(folder);
  const mark = { sessionId, stateFolder: folder, agent: agentMark(processes) };
  const state: State = {
    ...options,
    childEnv: childEnvironment(options.env, mark),
    living: undefined,
    cwds: [options.cwd],
    number: before?.number ?? 0,
    flags: "",
    hasTerminal: undefined,
    next: before ? "resumed" : "first",
    closed: false,
  };
  return {
    current: () => state.living,
    /** True when an earlier process left the state of this session's shell. */
    resumed: before !== undefined,
    /** Starts a shell if none runs. Returns one line for the model when it replaced an earlier one. */
    ensure: () => ensure(state),
    /** Starts a shell after a command that may have ended it; a failure is returned as a line instead of thrown. */
    revive: () => ensure(state).catch((error: Error) => [`the shell has ended: ${error.message}`]),
    /** Waits until the shell is idle after a command was stopped; ends one that does not answer. */
    settle: () => settle(state),
    async restart(): Promise<string[]> {
      if (state.living) await end(state.living.bash, state.timing);
      clearLeft(folder);
      await start(state, "fresh");
      return [
        `new shell in ${currentFolder(state)}: exports, functions and options are as at the start of the session`,
      ];
    },
    nextNumber: () => ++state.number,
    /** `$-` after the last command, and D when it has a DEBUG trap. */
    flags: () => state.flags,
    noteEnd(event: End): void {
      state.flags = event.flags;
      noteCwd(state);
    },
    cwd: () => currentFolder(state),
    hasTerminal: () => state.hasTerminal,
    /** Stops any further start of a shell; one that is being started is ended. */
    startNoMore(): void {
      state.closed = true;
    },
    close: () => close(state),
    kill(): void {
      if (state.living) signal(state.living.bash.pid, "SIGKILL");
    },
  };
}

async function ensure(state: State): Promise<string[]> {
  if (state.living && !state.living.bash.death()) return [];
  const reason = state.next;
  const restored = await start(state, "restore");
  return restored && reason !== "first" ? [describe(restored, reason)] : [];
}

async function start(state: State, mode: "restore" | "fresh"): Promise<Restoration | undefined> {
  const { folder, cwds } = state;
  if (state.closed) throw new Error("the shell is closed");
  state.living?.terminal?.close();
  state.living?.bash.release();
  state.living = undefined;
  const snapshot = mode === "restore" ? readShellState(folder) : undefined;
  const restored = snapshot ? restoration(folder, snapshot, cwds) : undefined;
  prepareFiles(folder);
  const terminal = state.backend === "pipe" ? undefined : await openTerminal(state.env);
  const cwd = restored?.cwd ?? lastExisting(cwds);
  const number = ++state.number;
  const restore = restored?.script ?? "";
  const bash = await startBash({ cwd, env: state.childEnv, folder, terminal, restore, number });
  if (state.closed) {
    signal(bash.pid, "SIGKILL");
    terminal?.close();
    bash.release();
    throw new Error("the shell is closed");
  }
  clearLeft(folder);
  Object.assign(state, {
    living: { bash, terminal },
    flags: "",
    next: "died",
    hasTerminal: terminal !== undefined,
  });
  noteCwd(state);
  return restored;
}

/** Records the shell's folder, unless it is gone. */
function noteCwd({ living, cwds, processes, folder }: State): void {
  const cwd = living && (processes.workingFolder(living.bash.pid) ?? reportedFolder(processes, folder));
  if (cwd === undefined || cwd === cwds.at(-1)) return;
  cwds.push(cwd);
  if (cwds.length > 50) cwds.shift();
}

function currentFolder(state: State): string {
  noteCwd(state);
  return lastExisting(state.cwds);
}

async function settle(state: State): Promise<void> {
  const bash = state.living?.bash;
  if (!bash || bash.death()) return;
  const idle = new Promise<true>((resolve) => bash.onNext(() => resolve(true)));
  bash.send(endLine(++state.number));
  if (await Promise.race([idle, sleep(state.timing.settle, false)])) return;
  signal(bash.pid, "SIGKILL");
  await idle;
}

async function close(state: State): Promise<void> {
  if (!state.living) return;
  const { bash, terminal } = state.living;
  await end(bash, state.timing);
  terminal?.close();
  bash.release();
  for (const file of [files.command, files.stdin]) rmSync(join(state.folder, file), { force: true });
}

/** Ends a shell that may be busy: first by closing its input, which unlike SIGHUP spares its jobs, then by force. */
async function end(bash: BashProcess, { hangUp }: ShellTiming): Promise<void> {
  bash.hangUp();
  signal(bash.pid, giveUpSignal);
  for (let waited = 0; waited < hangUp && !bash.death(); waited += 5) await sleep(5);
  if (!bash.death()) signal(bash.pid, "SIGKILL");
  for (let waited = 0; waited < 1000 && !bash.death(); waited += 5) await sleep(5);
}

/** Creates the files that the shell writes into, so that they are 0600 whatever its umask. */
function prepareFiles(folder: string): void {
  const names = [files.baseline, ...files.snapshots, files.debugTrap, files.functions, files.left];
  for (const name of names) closeSync(openSync(join(folder, name), "a", 0o600));
}

/** Returns the folder that the shell reported after its last command, where no process's folder can be read. */
function reportedFolder(processes: ProcessTable, folder: string): string | undefined {
  return processes.workingFolder(process.pid) === undefined ? readShellState(folder)?.cwd : undefined;
}

function describe({ cwd, names, functions }: Restoration, reason: "resumed" | "died"): string {
  const cause = reason === "resumed" ? "the session was resumed" : "the shell before it has ended";
  const restoredParts = [
    `folder ${cwd}`,
    ...(names.length > 0 ? [`exports ${names.join(" ")}`] : []),
    ...(functions === "restored" ? ["functions and aliases"] : []),
  ];
  const lost = [
    "unexported variables",
    "shell options",
    ...(functions === "lost" ? ["functions", "aliases"] : []),
  ];
  return `new shell, because ${cause}. Restored: ${restoredParts.join(", ")}. Lost: ${lost.join(", ")}`;
}
