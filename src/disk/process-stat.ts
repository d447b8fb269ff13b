/** Reads what the kernel says of processes in /proc. Whatever is gone, closed to us or without /proc is empty. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";

/** `startTime`: clock ticks since boot; together with the pid it identifies a process until the next boot. */
export type ProcessStat = {
  state: string;
  parent: number;
  group: number;
  session: number;
  startTime: number;
};

/** Reads one process, even a zombie; undefined when it is gone, or without /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      state: fields[0] ?? "?",
      parent: Number(fields[1]),
      group: Number(fields[2]),
      session: Number(fields[3]),
      startTime: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}

/** Returns the pids of a process, from the machine's to the one in its innermost pid namespace. */
export function namespacePids(pid: number): number[] {
  const line = /^NSpid:\s*(.*)$/m.exec(procText(`${pid}/status`) ?? "")?.[1];
  return (line ?? "").split(/\s+/).filter(Boolean).map(Number);
}

/** Lists the processes of the machine. */
export function processIds(): number[] {
  return procNames("").map(Number).filter(Number.isInteger);
}

/** Lists the children of a process, where the kernel lists them. */
export function childrenOf(pid: number): number[] {
  return procNames(`${pid}/task`).flatMap((thread) =>
    (procText(`${pid}/task/${thread}/children`) ?? "").split(" ").filter(Boolean).map(Number),
  );
}

/** Returns where the open files of a process lead, the lowest descriptor first. */
export function openFiles(pid: number): string[] {
  return procNames(`${pid}/fd`).flatMap((file) => procLink(`${pid}/fd/${file}`) ?? []);
}

/** An open socket of a process. `inode`: the kernel's number of it. */
export type OpenSocket = { descriptor: string; inode: string };

/** Lists the open sockets of a process, the lowest descriptor first. */
export function openSockets(pid: number): OpenSocket[] {
  return procNames(`${pid}/fd`).flatMap((descriptor) => {
    const inode = /^socket:\[(\d+)\]$/.exec(procLink(`${pid}/fd/${descriptor}`) ?? "")?.[1];
    return inode === undefined ? [] : [{ descriptor, inode }];
  });
}

/** Returns true for a socket that only leads to programs of this machine, where the kernel tells (Linux 5.8). */
export function isUnixSocket(pid: number, descriptor: string): boolean {
  return procText(`${pid}/fdinfo/${descriptor}`)?.includes("\nscm_fds:") === true;
}

/** Returns the words of a process with blanks between them. */
export function commandWords(pid: number): string {
  return (procText(`${pid}/cmdline`) ?? "").split("\0").join(" ").trim();
}

/** Reads a file below /proc. */
export function procText(path: string): string | undefined {
  try {
    return readFileSync(`/proc/${path}`, "utf8");
  } catch {
    return undefined;
  }
}

/** Reads a link below /proc. */
export function procLink(path: string): string | undefined {
  try {
    return readlinkSync(`/proc/${path}`);
  } catch {
    return undefined;
  }
}

function procNames(folder: string): string[] {
  try {
    return readdirSync(`/proc/${folder}`);
  } catch {
    return [];
  }
}
