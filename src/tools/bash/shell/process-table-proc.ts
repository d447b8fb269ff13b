/** The process table of Linux, read from /proc. */

import {
  childrenOf,
  commandWords,
  namespacePids,
  openFiles,
  processIds,
  processStat,
  procLink,
  procText,
} from "../../../disk/process-stat.ts";
import { clipWords, type Process, type ProcessTable } from "./process-table.ts";

/** Creates a process table that reads /proc for every question. */
export function procTable(): ProcessTable {
  return {
    all: () => running(processIds()),
    find,
    lastPid,
    startedSince,
    variableOf,
    commandLine(pid) {
      return clipWords(commandWords(pid) || (procText(`${pid}/comm`) ?? "?"));
    },
    workingFolder(pid) {
      const cwd = procLink(`${pid}/cwd`);
      return cwd?.endsWith(" (deleted)") ? undefined : cwd;
    },
    ignores(pid, number) {
      const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(procText(`${pid}/status`) ?? "")?.[1];
      return mask !== undefined && ((BigInt(`0x${mask}`) >> BigInt(number - 1)) & 1n) === 1n;
    },
    terminalUse,
    innerPid: (pid) => namespacePids(pid).at(-1) ?? pid,
    outerPid,
    refresh() {},
  };
}

/** The parent of the kernel's own threads, which never have an environment. */
const kernelThreads = 2;

function find(pid: number): Process | undefined {
  const found = processStat(pid);
  return found && { pid, ...found };
}

function variableOf(pid: number, name: string): string | null | undefined {
  const read = () => procText(`${pid}/environ`);
  let environment = read();
  if (environment === "") {
    if (procText(`${pid}/cmdline`) === "") return find(pid)?.parent === kernelThreads ? undefined : null;
    // It has become the program since, or was started with an empty environment.
    environment = read();
  }
  const entry = environment?.split("\0").find((line) => line.startsWith(`${name}=`));
  return entry?.slice(name.length + 1);
}

function running(candidates: readonly number[]): Process[] {
  return candidates
    .map(find)
    .filter((process): process is Process => process !== undefined && process.state !== "Z");
}

function lastPid(): number {
  return Number(procText("loadavg")?.split(" ").at(-1) ?? Number.NaN);
}

/** One may start another and end while they are looked up: looks again as long as the newest pid changes. */
function startedSince(before: number): Process[] {
  let now = lastPid();
  for (let look = 1; ; look++) {
    const found = now === before ? [] : between(before, now);
    const after = lastPid();
    if (after === now || look === mostLooks) return found;
    now = after;
  }
}

/** On a machine that starts programs all the time there is no end to it. */
const mostLooks = 3;

function between(before: number, now: number): Process[] {
  const span = now - before;
  if (!(span > 0)) return running(processIds());
  return running(
    span <= 64
      ? Array.from({ length: span }, (_, index) => before + 1 + index)
      : processIds().filter((pid) => pid > before && pid <= now),
  );
}

function outerPid(inner: number, first: number): number | undefined {
  const namespace = procLink(`${first}/ns/pid`);
  const isIt = (pid: number) =>
    namespacePids(pid).at(-1) === inner && procLink(`${pid}/ns/pid`) === namespace;
  return childrenOf(first).find(isIt) ?? processIds().find(isIt);
}

/** System calls that read or wait for input, by number. */
const inputCalls: Partial<Record<string, { read: number[]; wait: number[] }>> = {
  x64: { read: [0], wait: [7, 23, 232, 270, 271, 281, 441] },
  arm64: { read: [63], wait: [22, 72, 73, 441] },
};

function terminalUse(pid: number, terminalPath: string): "reads" | "waits" | "none" {
  const call = procText(`${pid}/syscall`)?.split(" ") ?? [];
  const numbers = inputCalls[process.arch];
  const isTerminal = (link: string | undefined) => link === "/dev/tty" || link === terminalPath;
  if (!numbers || call.length < 2) {
    const channel = procText(`${pid}/wchan`) ?? "";
    return /tty_read|wait_woken/.test(channel) && openFiles(pid).some(isTerminal) ? "reads" : "none";
  }
  const number = Number(call[0]);
  if (numbers.read.includes(number)) {
    return isTerminal(procLink(`${pid}/fd/${Number(call[1])}`)) ? "reads" : "none";
  }
  return numbers.wait.includes(number) && openFiles(pid).some(isTerminal) ? "waits" : "none";
}
