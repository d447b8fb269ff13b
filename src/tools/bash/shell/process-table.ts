/** The processes of a machine as the shell sees them: a port, and the questions that any reader of it can answer. */

export type Process = {
  pid: number;
  parent: number;
  /** The kernel session; the process group where the machine does not tell the session. */
  session: number;
  /** R, S, D, T, Z … as in ps(1). */
  state: string;
  /** Grows with time, in a unit of the reader; with the pid it names a process for ever. */
  startTime: number;
};

/** Nothing here throws: a process that is gone, or another user's, has no answer. */
export type ProcessTable = {
  /** All running processes of the machine that we may see, zombies left out. */
  all(): Process[];
  /** One process, a zombie too; undefined when it is gone. */
  find(pid: number): Process | undefined;
  /** The pid that the kernel gave out last: equal values mean that nothing was started. NaN where it does not tell. */
  lastPid(): number;
  /** Running processes with pids after `before`, up to now; all of them when that cannot be told. */
  startedSince(before: number): Process[];
  /** Value of a variable in the environment that a process was started with. */
  variableOf(pid: number, name: string): string | undefined;
  /** The command line on one line, at most 80 characters. */
  commandLine(pid: number): string;
  /** Its working folder; undefined where the machine does not tell, or when the folder is gone. */
  workingFolder(pid: number): string | undefined;
  /** Whether a process is known to ignore the signal of this number. */
  ignores(pid: number, number: number): boolean;
  /**
   * Whether a process is stopped in a read of the terminal (`reads`), or waits for several things while it holds the
   * terminal open (`waits`).
   */
  terminalUse(pid: number, terminalPath: string): "reads" | "waits" | "none";
  /** Forgets what was read before, for a question about now. */
  refresh(): void;
};

/** Whether a process with this pid runs (a zombie does not). */
export function isRunning(processes: ProcessTable, pid: number): boolean {
  const state = processes.find(pid)?.state;
  return state !== undefined && state !== "Z" && state !== "X";
}

/** Those of `processes` that descend from one of `roots`, the roots not included, parents before children. */
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

/**
 * Every process of the session `sessionId` but its shell: descendants, members of the shell's kernel session, and
 * whoever carries the mark in its environment, with their descendants. Parents come before children.
 */
export function sessionProcesses(
  processes: ProcessTable,
  all: readonly Process[],
  sessionId: string,
  shellPid: number | undefined,
): Process[] {
  const roots = new Set(shellPid === undefined ? [] : [shellPid]);
  const marked = all.filter(
    ({ pid, session }) =>
      pid !== shellPid &&
      (session === shellPid || processes.variableOf(pid, "SAWTOOTH_SESSION") === sessionId),
  );
  for (const process of marked) roots.add(process.pid);
  const below = descendants(all, roots);
  const known = new Set(below.map((process) => process.pid));
  return [...marked.filter((process) => !known.has(process.pid)), ...below];
}

/** Sends a signal; a process that is gone or not ours is passed over. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already, or another user's.
  }
}

/** Words on one line, at most 80 characters. */
export function clipWords(words: string): string {
  const text = words.replace(/\s+/g, " ").trim();
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text;
}
