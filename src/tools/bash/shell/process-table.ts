/** The processes of a machine as the shell sees them: a port, and functions that work with any reader of it. */

import { setTimeout as sleep } from "node:timers/promises";

export type Process = {
  pid: number;
  parent: number;
  /** The process group. */
  group: number;
  /** The kernel session; the process group where the machine does not show the session. */
  session: number;
  /** R, S, D, T, Z … as in ps(1). */
  state: string;
  /** Grows with time, in a unit of the reader's own; together with the pid it identifies a process for ever. */
  startTime: number;
};

/** A process table. Nothing here throws: a process that is gone, or another user's, has no answer. */
export type ProcessTable = {
  /** Returns all running processes of the machine that we may see, without zombies. */
  all(): Process[];
  /** Returns one process, even a zombie; undefined when it is gone. */
  find(pid: number): Process | undefined;
  /** Returns the pid that the kernel gave out last: equal values mean that nothing was started. NaN where unknown. */
  lastPid(): number;
  /** Returns the running processes with pids after `before`; all of them when that is unknown. */
  startedSince(before: number): Process[];
  /**
   * Returns the value of a variable in the environment that a process was started with; null while it becomes another
   * program or ends, and has no environment that could be read.
   */
  variableOf(pid: number, name: string): string | null | undefined;
  /** Returns the command line on one line, at most 80 characters. */
  commandLine(pid: number): string;
  /** Returns its working folder; undefined where unknown, or when the folder is gone. */
  workingFolder(pid: number): string | undefined;
  /** Returns true when a process is known to ignore the signal of this number. */
  ignores(pid: number, number: number): boolean;
  /**
   * Tells how a process uses the terminal: stopped in a read of it (`reads`), or waiting for several things while it
   * holds it open (`waits`).
   */
  terminalUse(pid: number, terminalPath: string): "reads" | "waits" | "none";
  /** Returns the pid that a process has where it lives: another one inside of a sandbox. */
  innerPid(pid: number): number;
  /** Returns the pid on the machine of a process with `inner` in the sandbox whose first process is `first`. */
  outerPid(inner: number, first: number): number | undefined;
  /** Discards cached data, for a question about now. */
  refresh(): void;
};

/** Returns true when a process with this pid runs (a zombie does not). */
export function isRunning(processes: ProcessTable, pid: number): boolean {
  const state = processes.find(pid)?.state;
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Returns the `processes` that descend from one of `roots`, without the roots, parents before children. */
export function descendants(processes: readonly Process[], roots: ReadonlySet<number>): Process[] {
  const children = Map.groupBy(processes, (process) => process.parent);
  const found: Process[] = [];
  const queue = [...roots];
  const seen = new Set(roots);
  for (let pid = queue.shift(); pid !== undefined; pid = queue.shift()) {
    for (const child of children.get(pid) ?? []) {
      if (seen.has(child.pid)) continue;
      seen.add(child.pid);
      found.push(child);
      queue.push(child.pid);
    }
  }
  return found;
}

/** Pids on the machine: of the shell, and of the keeper of its sandbox. Undefined while there is none. */
export type ShellPids = { shell?: number | undefined; keeper?: number | undefined };

/** A pid that no process ever has: the kernel's highest is one less. */
export const noPid = 4_194_305;

/**
 * Returns every process of the session `sessionId` but its shell: descendants, members of the shell's kernel session,
 * and processes with the mark in their environment, with their descendants. Parents come before children.
 */
export function sessionProcesses(
  processes: ProcessTable,
  all: readonly Process[],
  sessionId: string,
  { shell: shellPid, keeper }: ShellPids,
): Process[] {
  const roots = new Set([shellPid, keeper].filter((pid) => pid !== undefined));
  const started = new Set(keeper === undefined ? [] : ancestors(processes, keeper));
  const marked = all.filter(
    ({ pid, session }) =>
      !roots.has(pid) &&
      !started.has(pid) &&
      (session === shellPid || processes.variableOf(pid, "SAWTOOTH_SESSION") === sessionId),
  );
  for (const process of marked) roots.add(process.pid);
  const below = descendants(all, roots);
  const known = new Set(below.map((process) => process.pid));
  return [...marked.filter((process) => !known.has(process.pid)), ...below];
}

/** Lists the processes above one: for a keeper, the programs that the sandbox was started with. */
export function ancestors({ find }: ProcessTable, pid: number): number[] {
  const found: number[] = [];
  for (let at = find(pid)?.parent; at !== undefined && at > 1; at = find(at)?.parent) found.push(at);
  return found;
}

/** Sends a signal; a process that is gone or not ours is skipped. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Already gone, or another user's.
  }
}

/** Rounds of `killAll`, 10 ms each: on a busy machine a process that is killed ends late. */
const killRounds = 100;

/**
 * Kills what `look` finds until it finds nothing twice: what is killed may have started something since it was found, and
 * a process that becomes another program just then is not known as one of ours.
 */
export async function killAll(look: () => readonly Process[]): Promise<void> {
  let before = 0;
  for (let round = 0; round < killRounds; round++) {
    const found = look();
    if (found.length + before === 0) return;
    before = found.length;
    for (const { pid } of found) signal(pid, "SIGKILL");
    await sleep(10);
  }
}

/** Puts words on one line, at most 80 characters. */
export function clipWords(words: string): string {
  const text = words.replace(/\s+/g, " ").trim();
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text;
}
