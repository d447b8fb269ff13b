/** Processes that a killed agent left behind, found by the mark in their environment. */

import { setTimeout as sleep } from "node:timers/promises";
import { readJobRecords } from "./jobs.ts";
import { allProcesses, commandLine, isRunning, readProcess, signal, variableOf } from "./process-table.ts";

export type Leftover = { pid: number; command: string; sessionId: string };

/** The value of SAWTOOTH_AGENT for processes that this process starts: it names us, not a later one with our pid. */
export function agentMark(): string {
  return `${process.pid}.${readProcess(process.pid)?.startTime ?? 0}`;
}

/**
 * Processes of sessions whose state lies in `stateFolder` (or below it) and whose agent is gone. Background jobs
 * that the user kept are not among them.
 */
export function findLeftovers(stateFolder: string): Leftover[] {
  return allProcesses().flatMap(({ pid }) => {
    const state = variableOf(pid, "SAWTOOTH_STATE");
    if (state === undefined || !(state === stateFolder || state.startsWith(`${stateFolder}/`))) return [];
    if (isAlive(variableOf(pid, "SAWTOOTH_AGENT") ?? "") || isKept(state, variableOf(pid, "SAWTOOTH_JOB")))
      return [];
    return [{ pid, command: commandLine(pid), sessionId: variableOf(pid, "SAWTOOTH_SESSION") ?? "" }];
  });
}

/** Ends them: SIGTERM, and SIGKILL for those that are still there half a second later. */
export async function removeLeftovers(leftovers: readonly Leftover[]): Promise<void> {
  for (const { pid } of leftovers) signal(pid, "SIGTERM");
  for (const { pid } of leftovers) signal(pid, "SIGHUP");
  for (let waited = 0; waited < 500 && leftovers.some(({ pid }) => isRunning(pid)); waited += 50)
    await sleep(50);
  for (const { pid } of leftovers) if (isRunning(pid)) signal(pid, "SIGKILL");
}

function isAlive(agent: string): boolean {
  const [pid, startTime] = agent.split(".").map(Number);
  return pid !== undefined && readProcess(pid)?.startTime === startTime;
}

function isKept(folder: string, mark: string | undefined): boolean {
  return mark !== undefined && readJobRecords(folder).some((job) => job.kept && job.mark === mark);
}
