/** The process table of Linux, read from /proc. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { processStat } from "../../../disk/process-stat.ts";
import { clipWords, type Process, type ProcessTable } from "./process-table.ts";

/** Creates a process table that reads /proc for every question. */
export function procTable(): ProcessTable {
  return {
    all: () => running(pids()),
    find,
    lastPid,
    startedSince,
    variableOf(pid, name) {
      const environment = readText(`/proc/${pid}/environ`) ?? "";
      const entry = environment.split("\0").find((line) => line.startsWith(`${name}=`));
      return entry?.slice(name.length + 1);
    },
    commandLine(pid) {
      const words = (readText(`/proc/${pid}/cmdline`) ?? "").split("\0").join(" ").trim();
      return clipWords(words || (readText(`/proc/${pid}/comm`) ?? "?"));
    },
    workingFolder(pid) {
      const cwd = readLink(`/proc/${pid}/cwd`);
      return cwd?.endsWith(" (deleted)") ? undefined : cwd;
    },
    ignores(pid, number) {
      const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
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

function pids(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function lastPid(): number {
  return Number(readText("/proc/loadavg")?.split(" ").at(-1) ?? Number.NaN);
}

function startedSince(before: number): Process[] {
  const now = lastPid();
  if (now === before) return [];
  const span = now - before;
  if (!(span > 0)) return running(pids());
  return running(
    span <= 64
      ? Array.from({ length: span }, (_, index) => before + 1 + index)
      : pids().filter((pid) => pid > before && pid <= now),
  );
}

/** Returns the pids of a process, from the machine's to the one in its innermost pid namespace. */
function namespacePids(pid: number): number[] {
  const line = /^NSpid:\s*(.*)$/m.exec(readText(`/proc/${pid}/status`) ?? "")?.[1];
  return (line ?? "").split(/\s+/).filter(Boolean).map(Number);
}

function outerPid(inner: number, first: number): number | undefined {
  const namespace = readLink(`/proc/${first}/ns/pid`);
  const isIt = (pid: number) =>
    namespacePids(pid).at(-1) === inner && readLink(`/proc/${pid}/ns/pid`) === namespace;
  return childrenOf(first).find(isIt) ?? pids().find(isIt);
}

/** Lists the children of a process, where the kernel lists them. */
function childrenOf(pid: number): number[] {
  return (readText(`/proc/${pid}/task/${pid}/children`) ?? "").split(" ").filter(Boolean).map(Number);
}

/** System calls that read or wait for input, by number. */
const inputCalls: Partial<Record<string, { read: number[]; wait: number[] }>> = {
  x64: { read: [0], wait: [7, 23, 232, 270, 271, 281, 441] },
  arm64: { read: [63], wait: [22, 72, 73, 441] },
};

function terminalUse(pid: number, terminalPath: string): "reads" | "waits" | "none" {
  const call = readText(`/proc/${pid}/syscall`)?.split(" ") ?? [];
  const numbers = inputCalls[process.arch];
  const isTerminal = (link: string | undefined) => link === "/dev/tty" || link === terminalPath;
  if (!numbers || call.length < 2) {
    const channel = readText(`/proc/${pid}/wchan`) ?? "";
    return /tty_read|wait_woken/.test(channel) && openFiles(pid).some(isTerminal) ? "reads" : "none";
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
