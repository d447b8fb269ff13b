/** The lifecycle of the session's shell: starts it, restores the state of the previous one, and ends it. */

import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Box, Sandbox } from "../../../core/sandbox.ts";
import { emptyUntrusted, prepareUntrusted, readUntrusted } from "../../../disk/untrusted-file.ts";
import { type BashProcess, startBash } from "./bash-process.ts";
import { childEnvironment } from "./environment.ts";
import { agentMark } from "./orphans.ts";
import { type ProcessTable, sessionProcesses, signal } from "./process-table.ts";
import { type End, endLine, files, giveUpSignal, type ShellFolders } from "./protocol.ts";
import { lastExisting, onlyFolder, type Restoration, readShellState, restoration } from "./shell-state.ts";
import { openTerminal, type Terminal } from "./terminal.ts";
import type { ShellTiming } from "./timing.ts";

/** `box`: the sandbox that it runs in. */
export type LiveShell = { bash: BashProcess; terminal: Terminal | undefined; box: Box | undefined };
export type ShellLifecycle = ReturnType<typeof createLifecycle>;

export type LifecycleOptions = {
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  sessionId: string;
  folders: ShellFolders;
  /** The folder of what no command sees. Its name in their environment is how processes are found again. */
  mark: string;
  /** Returns the way into the sandbox, asked for at each start; without one commands run on the machine. */
  sandbox: (() => Promise<Sandbox | undefined>) | undefined;
  backend: "pty" | "pipe" | "auto";
  processes: ProcessTable;
  timing: ShellTiming;
};

type State = LifecycleOptions & {
  childEnv: Record<string, string>;
  living: LiveShell | undefined;
  /** The sandbox that shells are started in, and its terminal, which outlives them. */
  boxed: Boxed | undefined;
  /** Folders the shell was in, the newest last. */
  cwds: string[];
  /** Number of the last command, over all shells of the session. */
  number: number;
  flags: string;
  debugTrap: string;
  hasTerminal: boolean | undefined;
  /** The reason for the next start. */
  next: "first" | "resumed" | "died";
  closed: boolean;
};

type Boxed = { box: Box; terminal: Terminal | undefined; sandbox: Sandbox };

/** Creates the lifecycle. No shell runs before the first `ensure`. */
export function createLifecycle(options: LifecycleOptions) {
  const { folders, sessionId, processes } = options;
  const before = readShellState(folders.state);
  const mark = { sessionId, stateFolder: options.mark, agent: agentMark(processes) };
  const state: State = {
    ...options,
    childEnv: childEnvironment(options.env, mark),
    living: undefined,
    boxed: undefined,
    cwds: [options.cwd],
    number: before?.number ?? 0,
    flags: "",
    debugTrap: "",
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
    /** Keeps the walls closed against what appears on the machine. */
    walls: wallsOf(state),
    /** Waits until the shell is idle after a command was stopped; ends one that does not answer. */
    settle: () => settle(state),
    async restart(): Promise<string[]> {
      if (state.living) await end(state.living.bash, state.timing);
      await start(state, "fresh");
      return [
        `new shell in ${currentFolder(state)}: exports, functions and options are as at the start of the session`,
      ];
    },
    nextNumber: () => ++state.number,
    /** `$-` after the last command, and D when it has a DEBUG trap. */
    flags: () => state.flags,
    /** Line that sets the DEBUG trap of the last command again. */
    debugTrap: () => state.debugTrap,
    noteEnd: (event: End) => noteEnd(state, event),
    cwd: () => currentFolder(state),
    hasTerminal: () => state.hasTerminal,
    /** Pid on the machine of the first process of the sandbox. */
    keeper: () => (state.boxed?.box.isAlive() ? state.boxed.box.pid : undefined),
    /** True when all that the commands start ends with the session, as in a sandbox with processes of its own. */
    endsAll: () => state.boxed?.sandbox.endsAll === true,
    /** Stops any further start of a shell; one that is being started is ended. */
    startNoMore(): void {
      state.closed = true;
    },
    close: () => close(state),
    kill(): void {
      if (state.living) signal(state.living.bash.pid, "SIGKILL");
      state.boxed?.box.kill();
    },
  };
}

function wallsOf(state: State) {
  return {
    /** Before a command goes on. A sandbox whose walls cannot be closed is ended; returns a line for the model then. */
    async close(): Promise<string[]> {
      const { boxed } = state;
      if (!boxed?.box.isAlive()) return [];
      await boxed.sandbox.closeLate(boxed.box);
      return boxed.box.isAlive() ? [] : ensure(state);
    },
    /** When none goes on. */
    calm: () => state.boxed?.sandbox.calm(state.boxed.box),
  };
}

async function ensure(state: State): Promise<string[]> {
  const current = await isCurrent(state);
  const { living } = state;
  if (living && !living.bash.death() && living.box?.isAlive() !== false && current) return [];
  const reason = current ? state.next : "changed";
  const restored = await start(state, "restore");
  return restored && reason !== "first" ? [describe(restored, reason)] : [];
}

/** Returns true while the shell, if any, runs in the sandbox that the plan of now asks for. */
async function isCurrent({ living, boxed, sandbox }: State): Promise<boolean> {
  if (!living) return true;
  const wanted = await sandbox?.();
  if (!wanted || !boxed) return !wanted && !boxed;
  return boxed.sandbox === wanted && wanted.isCurrent(boxed.box);
}

async function start(state: State, mode: "restore" | "fresh"): Promise<Restoration | undefined> {
  const { folders, cwds, processes } = state;
  if (state.closed) throw new Error("the shell is closed");
  state.living?.bash.release();
  if (!state.living?.box) state.living?.terminal?.close();
  state.living = undefined;
  const place = await placeOf(state);
  const hostPath = hostPathOf(state);
  const all = mode === "restore" ? restoration(folders.state, cwds, hostPath) : undefined;
  const restored = all && leavesSandbox(state, place) ? onlyFolder(all) : all;
  prepareFiles(folders.state);
  const terminal = place ? place.terminal : await terminalOf(state);
  const cwd = restored?.cwd ?? lastExisting(cwds, hostPath);
  const number = ++state.number;
  const starting = startBash({
    ...{ cwd, env: state.childEnv, folders, number, terminal: terminal?.path, box: place?.box },
    ...{ restore: restored?.script ?? "", outerPid: processes.outerPid, limit: state.timing.answer },
  });
  const bash = await starting.catch((error: Error) => {
    closePlace(state);
    throw error;
  });
  if (state.closed) {
    signal(bash.pid, "SIGKILL");
    closePlace(state);
    terminal?.close();
    bash.release();
    throw new Error("the shell is closed");
  }
  for (const name of [files.functions, files.left]) emptyUntrusted(join(folders.state, name));
  Object.assign(state, {
    living: { bash, terminal, box: place?.box },
    flags: "",
    debugTrap: "",
    next: "died",
    hasTerminal: terminal !== undefined,
  });
  noteCwd(state);
  return restored;
}

/**
 * Returns true when the state comes from a sandbox and the new shell has none: nothing of it but the folder is taken.
 */
function leavesSandbox({ mark }: State, place: Boxed | undefined): boolean {
  const file = join(mark, sandboxedFile);
  if (place || !existsSync(file)) return false;
  rmSync(file, { force: true });
  return true;
}

/** Says, where no command can write, that the state of the shell comes from a sandbox. */
const sandboxedFile = "sandboxed";

/** Returns the sandbox for a new shell: the one that runs, while it fits the plan, else a new one. */
async function placeOf(state: State): Promise<Boxed | undefined> {
  const sandbox = await state.sandbox?.();
  const { boxed } = state;
  if (boxed && boxed.sandbox === sandbox && boxed.box.isAlive() && sandbox.isCurrent(boxed.box)) return boxed;
  endLeft(state);
  closePlace(state);
  if (!sandbox) return undefined;
  const terminal = await terminalOf(state);
  const env = sandbox.endsAll ? withoutPlace(state.childEnv) : state.childEnv;
  // Nothing else may keep our process alive meanwhile.
  const awake = setInterval(() => {}, 1000);
  const opened = sandbox.open({ terminal: terminal?.path, env }).finally(() => clearInterval(awake));
  const box = await opened.catch((error: Error) => {
    terminal?.close();
    throw new Error(`the sandbox cannot be started: ${error.message}`);
  });
  writeFileSync(join(state.mark, sandboxedFile), "", { mode: 0o600 });
  const seen = terminal && box.terminal !== undefined ? { ...terminal, path: box.terminal } : undefined;
  state.boxed = { box, terminal: seen, sandbox };
  return state.boxed;
}

/** Leaves the name of our folder out: nothing has to be found again by it where all ends with the sandbox. */
function withoutPlace({ SAWTOOTH_STATE: _, ...env }: Record<string, string>): Record<string, string> {
  return env;
}

/** Ends the processes of a sandbox that do not end with it. */
function endLeft({ boxed, processes, sessionId }: State): void {
  if (!boxed || boxed.sandbox.endsAll) return;
  const left = sessionProcesses(processes, processes.all(), sessionId, { keeper: boxed.box.pid });
  for (const { pid } of left) signal(pid, "SIGKILL");
}

function closePlace(state: State): void {
  state.boxed?.box.kill();
  state.boxed?.terminal?.close();
  state.boxed = undefined;
}

function terminalOf({ backend, env }: State): Promise<Terminal | undefined> {
  return backend === "pipe" ? Promise.resolve(undefined) : openTerminal(env);
}

function hostPathOf({ boxed }: State): (path: string) => string {
  return (path) => boxed?.sandbox.hostPath(path) ?? path;
}

function noteEnd(state: State, { flags }: End): void {
  state.flags = flags;
  state.debugTrap = flags.includes("D") ? takeDebugTrap(state) : "";
  noteCwd(state);
}

/** Records the shell's folder, unless it is gone. */
function noteCwd({ living, cwds, processes, folders }: State): void {
  const cwd =
    living && (processes.workingFolder(living.bash.pid) ?? reportedFolder(processes, folders.state));
  if (cwd === undefined || cwd === cwds.at(-1)) return;
  cwds.push(cwd);
  if (cwds.length > 50) cwds.shift();
}

function currentFolder(state: State): string {
  noteCwd(state);
  return lastExisting(state.cwds, hostPathOf(state));
}

async function settle(state: State): Promise<void> {
  const bash = state.living?.bash;
  if (!bash || bash.death()) return;
  const idle = new Promise<true>((resolve) => bash.onNext(() => resolve(true)));
  bash.send(endLine(++state.number));
  if (await Promise.race([idle, sleep(state.timing.settle, false)])) return;
  signal(bash.pid, "SIGKILL");
  // Its answer may have been on its way: it is dead all the same.
  while (!bash.death()) await new Promise(bash.onNext);
}

async function close(state: State): Promise<void> {
  if (!state.living) return;
  const { bash, terminal } = state.living;
  await end(bash, state.timing);
  closePlace(state);
  terminal?.close();
  bash.release();
  for (const file of [files.command, files.stdin]) rmSync(join(state.folders.in, file), { force: true });
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
  for (const name of names) prepareUntrusted(join(folder, name));
  emptyUntrusted(join(folder, files.debugTrap));
}

/** Returns the DEBUG trap that the shell has put aside; the file is emptied for the next. */
function takeDebugTrap({ folders }: State): string {
  const path = join(folders.state, files.debugTrap);
  const trap = readUntrusted(path) ?? "";
  emptyUntrusted(path);
  return trap;
}

/** Returns the folder that the shell reported after its last command, where no process's folder can be read. */
function reportedFolder(processes: ProcessTable, folder: string): string | undefined {
  return processes.workingFolder(process.pid) === undefined
    ? readShellState(folder)?.snapshot?.cwd
    : undefined;
}

const causes = {
  resumed: "the session was resumed",
  died: "the shell before it has ended",
  changed: "what commands may touch has changed; processes of the one before it were ended",
};

function describe({ cwd, names, exports, functions }: Restoration, reason: keyof typeof causes): string {
  const cause = causes[reason];
  const restoredParts = [
    `folder ${cwd}`,
    ...(names.length > 0 ? [`exports ${names.join(" ")}`] : []),
    ...(functions === "restored" ? ["functions and aliases"] : []),
  ];
  const lost = [
    "unexported variables",
    "shell options",
    ...(exports === "lost" ? ["exports"] : exports === "older" ? ["exports of its last commands"] : []),
    ...(functions === "lost" ? ["functions", "aliases"] : []),
  ];
  return `new shell, because ${cause}. Restored: ${restoredParts.join(", ")}. Lost: ${lost.join(", ")}`;
}
