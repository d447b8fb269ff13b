/** Finds processes that a killed agent left behind, by the mark in their environment. */

import { setTimeout as sleep } from "node:timers/promises";
import { machineName } from "../../../disk/process-name.ts";
import { readJobRecords } from "./jobs.ts";
import { openProcessTable } from "./open-process-table.ts";
import { isRunning, type ProcessTable, signal } from "./process-table.ts";
import { usualTiming } from "./timing.ts";

export type Orphan = { pid: number; command: string; sessionId: string };

/**
 * Returns the value of SAWTOOTH_AGENT for child processes: it identifies this process, not a later one with the same
 * pid, nor one of a container.
 */
export function agentMark(processes: ProcessTable = openProcessTable()): string {
  return `${machineName()}.${process.pid}.${processes.find(process.pid)?.startTime ?? 0}`;
}

/**
 * Finds processes of sessions whose state lies in or below `stateFolder` and whose agent is gone. Background jobs that
 * the user kept are excluded.
 */
export function findOrphans(stateFolder: string, processes: ProcessTable = openProcessTable()): Orphan[] {
  const machine = machineName();
  return processes.all().flatMap(({ pid }) => {
    const variable = (name: string) => processes.variableOf(pid, name) ?? undefined;
    const state = variable("SAWTOOTH_STATE");
    if (state === undefined || !(state === stateFolder || state.startsWith(`${stateFolder}/`))) return [];
    const isGone = isGoneAgent(processes, machine, variable("SAWTOOTH_AGENT") ?? "");
    if (!isGone || isKept(state, variable("SAWTOOTH_JOB"))) return [];
    const command = processes.commandLine(pid);
    return [{ pid, command, sessionId: variable("SAWTOOTH_SESSION") ?? "" }];
  });
}

/** Ends orphans: SIGTERM, then SIGKILL for those still there half a second later. */
export async function endOrphans(
  orphans: readonly Orphan[],
  processes: ProcessTable = openProcessTable(),
): Promise<void> {
  const isThere = ({ pid }: Orphan) => isRunning(processes, pid);
  for (const { pid } of orphans) signal(pid, "SIGTERM");
  for (const { pid } of orphans) signal(pid, "SIGHUP");
  for (let waited = 0; waited < usualTiming.terminate && orphans.some(isThere); waited += 20) await sleep(20);
  for (const { pid } of orphans.filter(isThere)) signal(pid, "SIGKILL");
}

/** Returns true for the mark of an agent that ran here and is gone. One in a container counts its pids from 1. */
function isGoneAgent(processes: ProcessTable, machine: string, agent: string): boolean {
  const [of, pid, startTime] = agent.split(".");
  return of === machine && processes.find(Number(pid))?.startTime !== Number(startTime);
}

function isKept(folder: string, mark: string | undefined): boolean {
  return mark !== undefined && readJobRecords(folder).some((job) => job.kept && job.mark === mark);
}
