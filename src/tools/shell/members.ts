/** Which processes of a session belong to what: to the running command, to an earlier one, to a background job. */

import { setTimeout as sleep } from "node:timers/promises";
import type { Jobs } from "./jobs.ts";
import {
  allProcesses,
  commandLine,
  descendants,
  isRunning,
  type Process,
  readProcess,
  sessionProcesses,
  signal,
  startedSince,
  variableOf,
} from "./process-table.ts";

export type FoundProcess = { pid: number; command: string };
export type Members = ReturnType<typeof createMembers>;

/** Processes have so long to end by themselves, and a fork of the shell some looks more to become a program. */
const lookMs = 25;
const looks = 5;

type State = {
  sessionId: string;
  jobs: Jobs;
  /** Undefined while there is no shell. */
  shellPid: () => number | undefined;
  /** Left running by earlier commands: pid and start time. */
  left: Map<number, number>;
};

export function createMembers(sessionId: string, jobs: Jobs, shellPid: () => number | undefined) {
  const state: State = { sessionId, jobs, shellPid, left: new Map() };
  return {
    /** Every process of the session but its shell, and but kept jobs. */
    all: () => endable(state),
    /** What the running command has started, parents before children. */
    foreground: () => foreground(state),
    /** What the command that began after `lastPid` left running; from now on it counts as earlier. */
    leftBy: (lastPid: number) => leftBy(state, lastPid),
    /** Processes that are there before the first command, from an agent before us, are none of ours to end. */
    adopt(): void {
      for (const { pid, startTime } of endable(state)) state.left.set(pid, startTime);
    },
    /** Ends everything but kept jobs. */
    endAll: () => endAll(state),
  };
}

function endable({ sessionId, jobs, shellPid }: State): Process[] {
  const everything = allProcesses();
  const kept = jobs.pids("kept", everything);
  return sessionProcesses(everything, sessionId, shellPid()).filter(({ pid }) => !kept.has(pid));
}

function foreground({ sessionId, jobs, shellPid, left }: State): Process[] {
  const everything = allProcesses();
  for (const [pid, startTime] of left) if (readProcess(pid)?.startTime !== startTime) left.delete(pid);
  const roots = new Set([...left.keys(), ...jobs.pids("all", everything)]);
  const others = new Set([...roots, ...descendants(everything, roots).map(({ pid }) => pid)]);
  return sessionProcesses(everything, sessionId, shellPid()).filter(({ pid }) => !others.has(pid));
}

async function leftBy(state: State, lastPid: number): Promise<FoundProcess[]> {
  const shell = state.shellPid();
  const shellCommand = shell === undefined ? "" : commandLine(shell);
  const find = () => startedSince(lastPid).filter((one) => isNew(state, one));
  let found = find();
  for (let look = 0; look < looks && found.length > 0; look++) {
    await sleep(lookMs);
    found = find();
    if (found.every(({ pid }) => commandLine(pid) !== shellCommand)) break;
  }
  for (const { pid, startTime } of found) state.left.set(pid, startTime);
  return found.map(({ pid }) => {
    const command = commandLine(pid);
    return { pid, command: command === shellCommand ? "(subshell)" : command };
  });
}

/** Whether a process is the session's, and neither of a job nor of an earlier command. */
function isNew({ sessionId, shellPid, left }: State, one: Process): boolean {
  const shell = shellPid();
  if (one.pid === shell || variableOf(one.pid, "SAWTOOTH_JOB") !== undefined) return false;
  if (one.session !== shell && variableOf(one.pid, "SAWTOOTH_SESSION") !== sessionId) return false;
  for (let at: Process | undefined = one; at && at.pid > 1; at = readProcess(at.parent)) {
    if (left.get(at.pid) === at.startTime) return false;
  }
  return true;
}

/** SIGTERM, then SIGKILL for what is there half a second later. */
async function endAll(state: State): Promise<void> {
  const ending = endable(state).map(({ pid }) => pid);
  for (const pid of ending) signal(pid, "SIGTERM");
  for (let waited = 0; waited < 500 && ending.some(isRunning); waited += 20) await sleep(20);
  for (let round = 0; round < 5; round++) {
    const rest = endable(state);
    if (rest.length === 0) return;
    for (const { pid } of rest) signal(pid, "SIGKILL");
    await sleep(10);
  }
}
