/**
 * Background jobs: commands started in the background on purpose. Lists, stops, announces and, on request, keeps them.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { machineName } from "../../../disk/process-name.ts";
import { replaceFile } from "../../../disk/replace-file.ts";
import { readUntrusted, removeUntrusted } from "../../../disk/untrusted-file.ts";
import { descendants, isRunning, killAll, type Process, type ProcessTable, signal } from "./process-table.ts";

export type Job = {
  /** As the commands of the session see it. */
  pid: number;
  command: string;
  /** File with the whole output. */
  log: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  state: "running" | "ended";
  /** Exit status, when the job lived to report it. */
  status?: number;
  /** True when it may outlive the session. */
  kept: boolean;
};

/**
 * A job on disk. `mark` is the value of SAWTOOTH_JOB in its programs; `startTime` and `session`, the kernel's, distinguish
 * its leader and its process group from later ones with that pid. `machine`: where the pids are. `machinePid`: its pid
 * there, where that differs.
 */
export type JobRecord = Job & {
  mark: string;
  startTime: number;
  session?: number | undefined;
  announced: boolean;
  machine: string;
  machinePid?: number;
};

export type Jobs = ReturnType<typeof createJobs>;

const maxLogBytes = 200 * 1024 * 1024;
/** Looks for what a job has started while it was killed, where none can be waited for. */
const killLooks = 5;

export type JobsOptions = {
  /** Folder that holds the records. */
  folder: string;
  /** Folder where the jobs leave their status. */
  stateFolder: string;
  sessionId: string;
  processes: ProcessTable;
  /** Milliseconds from SIGTERM to SIGKILL for a job that is stopped. */
  graceMs: number;
};

/** `elsewhere`: jobs of other machines, of which nothing is known here. */
type State = JobsOptions & { records: JobRecord[]; elsewhere: JobRecord[] };
type NewJob = Pick<JobRecord, "pid" | "command" | "log" | "mark" | "machinePid">;

/** Creates the background jobs of one session, including kept jobs of an earlier process. */
export function createJobs(options: JobsOptions) {
  const { folder, processes } = options;
  const kept = readJobRecords(folder).filter((job) => job.kept);
  const machine = kept.length > 0 ? machineName() : "";
  const records = kept.filter((job) => job.machine === machine && isSame(processes, job));
  const elsewhere = kept.filter((job) => job.machine !== machine);
  const state: State = { ...options, records, elsewhere };
  return {
    add: (job: NewJob): Job => addJob(state, job),
    list(): Job[] {
      refresh(state);
      return records.map(publicPart);
    },
    /** Ends a job and everything that it started. False when there is no such running job. */
    stop: (pid: number) => stopJob(state, pid),
    /** Lets a job outlive the session. False when there is no such running job. */
    keep(pid: number): boolean {
      const job = findRunning(state, pid);
      if (!job) return false;
      job.kept = true;
      save(state);
      return true;
    },
    /** Returns the pids of the processes of all running jobs, or only of the kept ones. */
    pids(which: "all" | "kept", all: readonly Process[]): Set<number> {
      const running = records.filter((job) => job.state === "running" && (which === "all" || job.kept));
      if (running.length === 0) return new Set();
      return new Set(running.flatMap((job) => processesOf(state, job, { all })).map(({ pid }) => pid));
    },
    /** Returns one line for each job that ended since the last call. */
    takeNotices(): string[] {
      if (records.every((job) => job.announced)) return [];
      refresh(state);
      const news = records.filter((job) => job.state === "ended" && !job.announced);
      for (const job of news) job.announced = true;
      if (news.length > 0) save(state);
      return news.map(describeEnd);
    },
  };
}

function addJob(state: State, job: NewJob): Job {
  state.processes.refresh();
  const { startTime = 0, session } = state.processes.find(job.machinePid ?? job.pid) ?? {};
  const began = { startedAt: Date.now(), state: "running", kept: false } as const;
  const facts = { announced: false, startTime, session, machine: machineName() };
  const record: JobRecord = { ...job, ...began, ...facts };
  state.records.push(record);
  save(state);
  return publicPart(record);
}

function publicPart({ mark, startTime, session, announced, machine, machinePid, ...job }: JobRecord): Job {
  return job;
}

function findRunning(state: State, pid: number): JobRecord | undefined {
  refresh(state);
  return state.records.find((job) => job.pid === pid && job.state === "running");
}

async function stopJob(state: State, pid: number): Promise<boolean> {
  const job = findRunning(state, pid);
  if (!job) return false;
  job.announced = true;
  let members = processesOf(state, job);
  for (const process of members) signal(process.pid, "SIGTERM");
  for (let waited = 0; waited < state.graceMs && members.length > 0; waited += 20) {
    await sleep(20);
    members = processesOf(state, job, { known: members });
  }
  await killAll(() => {
    state.processes.refresh();
    members = processesOf(state, job, { known: members });
    return members;
  });
  refresh(state);
  return true;
}

/** Updates the records, and stops jobs that write without end. */
function refresh(state: State): void {
  const running = state.records.filter((job) => job.state === "running");
  for (const job of running) {
    if (logSize(job.log) > maxLogBytes) killProcesses(state, job);
    noteEnd(state, job);
  }
  if (running.some((job) => job.state === "ended")) save(state);
}

/** Records the end of a job. A leader killed before it could report a status means that the whole job was killed. */
function noteEnd(state: State, job: JobRecord): void {
  const file = join(state.stateFolder, `job-${job.mark}.status`);
  const status = readStatus(file);
  if (status === undefined && isSame(state.processes, job)) return;
  if (status === undefined) killProcesses(state, job);
  else job.status = status;
  job.state = "ended";
  removeUntrusted(file);
}

/** Kills at once, and looks again: one of them may have started something while the table was read. */
function killProcesses(state: State, job: JobRecord): void {
  let members: Process[] = [];
  for (let look = 0; look < killLooks; look++) {
    const before = new Set(members.map(({ pid }) => pid));
    members = processesOf(state, job, { known: members });
    if (members.every(({ pid }) => before.has(pid))) return;
    for (const { pid } of members) signal(pid, "SIGKILL");
    state.processes.refresh();
  }
}

/**
 * Returns the processes of a job. A program has the mark, a fork of the shell is found by its group or by descent. `known`:
 * found before, and still of it when their parents have ended.
 */
function processesOf(
  { processes, sessionId }: State,
  job: JobRecord,
  { known = [], all = processes.all() }: { known?: readonly Process[]; all?: readonly Process[] } = {},
): Process[] {
  const { machinePid = job.pid, startTime, session } = job;
  const isMarked = ({ pid }: Process) =>
    processes.variableOf(pid, "SAWTOOTH_JOB") === job.mark &&
    processes.variableOf(pid, "SAWTOOTH_SESSION") === sessionId;
  const isRoot = (process: Process) =>
    (process.pid === machinePid && process.startTime === startTime) ||
    (process.group === machinePid && process.session === session) ||
    known.some((one) => one.pid === process.pid && one.startTime === process.startTime) ||
    isMarked(process);
  const roots = new Set(all.filter(isRoot).map(({ pid }) => pid));
  return [...all.filter(({ pid }) => roots.has(pid)), ...descendants(all, roots)];
}

function save({ folder, records, elsewhere }: State): void {
  replaceFile(join(folder, "jobs.json"), JSON.stringify([...elsewhere, ...records]));
}

function describeEnd(job: Job): string {
  const ending = job.status === undefined ? "was killed" : `ended with exit ${job.status}`;
  const seconds = Math.round((Date.now() - job.startedAt) / 1000);
  const tooLong = logSize(job.log) > maxLogBytes ? " (it had written more than 200 MB)" : "";
  return `background job ${job.pid} (${clip(job.command)}) ${ending} after ${seconds} s${tooLong}; output: ${job.log}`;
}

/** Returns the first line of a command, at most 80 characters. */
export function clip(command: string): string {
  const line = command.trim().split("\n", 1)[0] ?? "";
  return line.length > 80 || line.length < command.trim().length
    ? `${line.slice(0, 79).toWellFormed()}…`
    : line;
}

/** Reads the jobs that an earlier process recorded in the folder. */
export function readJobRecords(folder: string): JobRecord[] {
  try {
    return JSON.parse(readFileSync(join(folder, "jobs.json"), "utf8")) as JobRecord[];
  } catch {
    return [];
  }
}

function isSame(processes: ProcessTable, { pid, machinePid = pid, startTime }: JobRecord): boolean {
  return isRunning(processes, machinePid) && processes.find(machinePid)?.startTime === startTime;
}

function readStatus(path: string): number | undefined {
  const text = readUntrusted(path) ?? "";
  return /^\d{1,3}$/.test(text) ? Number(text) : undefined;
}

function logSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
