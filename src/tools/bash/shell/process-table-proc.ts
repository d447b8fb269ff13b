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
    variableOf(pid, name) {
      const environment = procText(`${pid}/environ`) ?? "";
      const entry = environment.split("\0").find((line) => line.startsWith(`${name}=`));
      return entry?.slice(name.length + 1);
    },
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

function find(pid: number): Process | undefined {
  const found = processStat(pid);
  return found && { pid, ...found };
}

function running(candidates: readonly number[]): Process[] {
  return candidates
    .map(find)
    .filter((process): process is Process => process !== undefined && process.state !== "Z");
}

function lastPid(): number {
  return Number(procText("loadavg")?.split(" ").at(-1) ?? Number.NaN);
}

function startedSince(before: number): Process[] {
  const now = lastPid();
  if (now === before) return [];
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
