/** The processes of a session, read from /proc. Where there is no /proc, nothing is found and nothing throws. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

export type Process = {
  pid: number;
  parent: number;
  session: number;
  /** R, S, D, T, Z … as in proc(5). */
  state: string;
  /** Clock ticks since boot; with the pid it names a process for ever. */
  startTime: number;
};

/** One process, undefined when it is gone. */
export function readProcess(pid: number): Process | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return {
    pid,
    state: fields[0] ?? "?",
    parent: Number(fields[1]),
    session: Number(fields[3]),
    startTime: Number(fields[19]),
  };
}

/** Whether a process with this pid runs (a zombie does not). */
export function isRunning(pid: number): boolean {
  const process = readProcess(pid);
  return process !== undefined && process.state !== "Z" && process.state !== "X";
}

/** All running processes of the machine that we may see. */
export function allProcesses(): Process[] {
  return pids()
    .map(readProcess)
    .filter((process): process is Process => process !== undefined && process.state !== "Z");
}

function pids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** The pid that the kernel gave out last: equal values before and after mean that nothing was started. */
export function lastPid(): number {
  return Number(readText("/proc/loadavg")?.split(" ").at(-1) ?? Number.NaN);
}

/** Processes with pids after `before`, up to now; all of them when that cannot be told. */
export function startedSince(before: number): Process[] {
  const now = lastPid();
  if (now === before) return [];
  const span = now - before;
  if (!(span > 0)) return allProcesses();
  const candidates =
    span <= 64
      ? Array.from({ length: span }, (_, index) => before + 1 + index)
      : pids().filter((pid) => pid > before && pid <= now);
  return candidates
    .map(readProcess)
    .filter((process): process is Process => process !== undefined && process.state !== "Z");
}

/** Value of a variable in the environment that a process was started with. */
export function variableOf(pid: number, name: string): string | undefined {
  const environment = readText(`/proc/${pid}/environ`) ?? "";
  const entry = environment.split("\0").find((line) => line.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

/** The command line on one line, at most 80 characters. */
export function commandLine(pid: number): string {
  const words = (readText(`/proc/${pid}/cmdline`) ?? "").split("\0").join(" ").replace(/\s+/g, " ").trim();
  const text = words || (readText(`/proc/${pid}/comm`)?.trim() ?? "?");
  return text.length > 80 ? `${text.slice(0, 79).toWellFormed()}…` : text;
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
  all: readonly Process[],
  sessionId: string,
  shellPid: number | undefined,
): Process[] {
  const roots = new Set(shellPid === undefined ? [] : [shellPid]);
  const marked = all.filter(
    (process) =>
      process.pid !== shellPid &&
      (process.session === shellPid || variableOf(process.pid, "SAWTOOTH_SESSION") === sessionId),
  );
  for (const process of marked) roots.add(process.pid);
  const below = descendants(all, roots);
  const known = new Set(below.map((process) => process.pid));
  return [...marked.filter((process) => !known.has(process.pid)), ...below];
}

/** Whether a process ignores the signal of this number. */
export function ignores(pid: number, number: number): boolean {
  const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
}

/** Sends a signal; a process that is gone or not ours is passed over. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // Gone already, or another user's.
  }
}

/** System calls that read or wait for input, by number. */
const inputCalls: Partial<Record<string, { read: number[]; wait: number[] }>> = {
  x64: { read: [0], wait: [7, 23, 232, 270, 271, 281, 441] },
  arm64: { read: [63], wait: [22, 72, 73, 441] },
};

/**
 * Whether a process is stopped in a read of the terminal (`reads`), or waits for several things while it holds the
 * terminal open (`waits`).
 */
export function terminalUse(pid: number, terminalPath: string): "reads" | "waits" | "none" {
  const call = readText(`/proc/${pid}/syscall`)?.split(" ") ?? [];
  const numbers = inputCalls[process.arch];
  const isTerminal = (link: string | undefined) => link === "/dev/tty" || link === terminalPath;
  if (!numbers || call.length < 2) {
    const place = readText(`/proc/${pid}/wchan`) ?? "";
    return /tty_read|wait_woken/.test(place) && openFiles(pid).some(isTerminal) ? "reads" : "none";
  }
  const number = Number(call[0]);
  if (numbers.read.includes(number)) {
    return isTerminal(readLink(`/proc/${pid}/fd/${Number(call[1])}`)) ? "reads" : "none";
  }
  return numbers.wait.includes(number) && openFiles(pid).some(isTerminal) ? "waits" : "none";
}

function openFiles(pid: number): (string | undefined)[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((file) => readLink(`/proc/${pid}/fd/${file}`));
  } catch {
    return [];
  }
}

function readLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
