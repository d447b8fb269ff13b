/** Sorts the processes of a session: those of the running command, of an earlier one, and of a background job. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Jobs } from "./jobs.ts";
import {
  ancestors,
  descendants,
  isRunning,
  killAll,
  type Process,
  type ProcessTable,
  type ShellPids,
  sessionProcesses,
  signal,
} from "./process-table.ts";

export type FoundProcess = { pid: number; command: string };
export type SessionProcesses = ReturnType<typeof createSessionProcesses>;

/** Milliseconds between looks while processes end, or a fork of the shell becomes a program. */
const lookMs = 25;

export type MembersOptions = {
  sessionId: string;
  jobs: Jobs;
  processes: ProcessTable;
  /** Milliseconds from SIGTERM to SIGKILL at the end of the session. */
  graceMs: number;
  /** Milliseconds that a process which a command left has to end, or to become a program. */
  beginMs: number;
  shellPids: () => ShellPids;
};

type State = MembersOptions & {
  /** Processes left running by earlier commands: pid and start time. */
  left: Map<number, number>;
};

export function createSessionProcesses(options: MembersOptions) {
  const state: State = { ...options, left: new Map() };
  return {
    /** Returns every process of the session except its shell and kept jobs. */
    all: () => endable(state),
    /** Returns the processes that the running command started, parents before children. */
    foreground: () => foreground(state),
    /**
     * Returns the processes that the command which began after `lastPid` left running; from now on they count as
     * earlier.
     */
    leftBy: (lastPid: number) => leftBy(state, lastPid),
    /** Marks processes of an earlier agent, present before the first command, as not ours to end. */
    adopt(): void {
      for (const { pid, startTime } of endable(state)) state.left.set(pid, startTime);
    },
    /** Ends everything except kept jobs. */
    endAll: () => endAll(state),
  };
}

function endable({ processes, sessionId, jobs, shellPids }: State): Process[] {
  const everything = processes.all();
  const keptPids = jobs.pids("kept", everything);
  return sessionProcesses(processes, everything, sessionId, shellPids()).filter(
    ({ pid }) => !keptPids.has(pid),
  );
}

function foreground({ processes, sessionId, jobs, shellPids, left }: State): Process[] {
  const everything = processes.all();
  for (const [pid, startTime] of left) if (processes.find(pid)?.startTime !== startTime) left.delete(pid);
  const roots = new Set([...left.keys(), ...jobs.pids("all", everything)]);
  const others = new Set([...roots, ...descendants(everything, roots).map(({ pid }) => pid)]);
  return sessionProcesses(processes, everything, sessionId, shellPids()).filter(
    ({ pid }) => !others.has(pid),
  );
}

async function leftBy(state: State, lastPid: number): Promise<FoundProcess[]> {
  const { processes } = state;
  const { commandLine } = processes;
  processes.refresh();
  const { shell } = state.shellPids();
  const shellCommand = shell === undefined ? "" : commandLine(shell);
  let found: Process[] = [];
  /** Looks; returns true while one of them may yet end or become another program. */
  const look = (): boolean => {
    const started = Map.groupBy(processes.startedSince(lastPid), (process) => membership(state, process));
    found = started.get("new") ?? [];
    const isBecoming = (pid: number) =>
      commandLine(pid) === shellCommand || processes.variableOf(pid, "SAWTOOTH_JOB") === null;
    return started.has("unclear") || found.some(({ pid }) => isBecoming(pid));
  };
  // What is found at once may be about to end with the command.
  let isOpen = look() || found.length > 0;
  for (let waited = 0; waited < state.beginMs && isOpen; waited += lookMs) {
    await sleep(lookMs);
    processes.refresh();
    isOpen = look();
  }
  // One may have ended since.
  found = found.filter(({ pid, startTime }) => processes.find(pid)?.startTime === startTime);
  for (const { pid, startTime } of found) state.left.set(pid, startTime);
  return found.map(({ pid }) => {
    const command = commandLine(pid);
    return { pid: processes.innerPid(pid), command: command === shellCommand ? "(subshell)" : command };
  });
}

/**
 * Returns "new" for a process of the session that belongs neither to a job nor to an earlier command, and "unclear" for one
 * that cannot be asked now. The candidates can be all processes of the machine: when the kernel has begun again at low
 * pids, the newest are not known from the rest.
 */
function membership(
  { processes, sessionId, shellPids, left }: State,
  candidate: Process,
): "new" | "other" | "unclear" {
  const { find, variableOf } = processes;
  const { shell, keeper } = shellPids();
  const own = [shell, keeper, ...(keeper === undefined ? [] : ancestors(processes, keeper))];
  if (own.includes(candidate.pid)) return "other";
  const [job, session] = ["SAWTOOTH_JOB", "SAWTOOTH_SESSION"].map((name) => variableOf(candidate.pid, name));
  if (typeof job === "string") return "other";
  const isOurs = candidate.session === (keeper ?? shell) || session === sessionId;
  if (!isOurs && (keeper === undefined || !descends(find, candidate, keeper)))
    return job === null || session === null ? "unclear" : "other";
  for (let at: Process | undefined = candidate; at && at.pid > 1; at = find(at.parent)) {
    if (left.get(at.pid) === at.startTime) return "other";
  }
  return "new";
}

function descends(find: ProcessTable["find"], process: Process, ancestor: number): boolean {
  let at: Process | undefined = process;
  while (at && at.pid > 1 && at.pid !== ancestor) at = find(at.parent);
  return at?.pid === ancestor;
}

/** Sends SIGTERM, then SIGKILL to the processes that are left after the grace period. */
async function endAll(state: State): Promise<void> {
  const { processes, graceMs } = state;
  const isThere = (pid: number) => isRunning(processes, pid);
  const ending = endable(state).map(({ pid }) => pid);
  for (const pid of ending) signal(pid, "SIGTERM");
  for (let waited = 0; waited < graceMs && ending.some(isThere); waited += 20) await sleep(20);
  await killAll(() => {
    processes.refresh();
    return endable(state);
  });
}
