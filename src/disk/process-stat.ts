/** Reads what the kernel says of a process in /proc/<pid>/stat. */

import { readFileSync } from "node:fs";

/** `startTime`: clock ticks since boot; together with the pid it identifies a process until the next boot. */
export type ProcessStat = { state: string; parent: number; session: number; startTime: number };

/** Reads one process, even a zombie; undefined when it is gone, or without /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name before it may hold blanks and parentheses.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return {
      state: fields[0] ?? "?",
      parent: Number(fields[1]),
      session: Number(fields[3]),
      startTime: Number(fields[19]),
    };
  } catch {
    return undefined;
  }
}
