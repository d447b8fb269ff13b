/** Names a process so that neither another machine nor a later process takes it for one of its own. */

import { createHash } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { processStat } from "./process-stat.ts";
import { errorCode } from "./real-path.ts";

/** Returns a name for what only this process uses; `isOrphan` tells it once the process is gone. */
export function ownName(): string {
  return `${machineName()}.${process.pid}.${startOf(process.pid) ?? 0}`;
}

/** Returns true for the `ownName` of a process of this machine that is gone. `machine`: this one. */
export function isOrphan(name: string, machine = machineName()): boolean {
  const [of, pid, start] = name.split(".");
  return of === machine && startOf(Number(pid)) !== start;
}

/** Names what a pid belongs to: this boot of this machine, and the pid namespace of this container in it. */
export function machineName(): string {
  return createHash("sha256")
    .update(`${hostname()}\n`)
    .update(orNone(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8")))
    .update(orNone(() => readlinkSync("/proc/self/ns/pid")))
    .digest("hex")
    .slice(0, 12);
}

function orNone(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** Returns the start of a process in clock ticks since boot; "0" where there is no /proc; undefined when it is gone. */
function startOf(pid: number): string | undefined {
  const found = processStat(pid);
  if (found) return "ZX".includes(found.state) ? undefined : String(found.startTime);
  if (process.platform === "linux") return undefined;
  try {
    process.kill(pid, 0);
    return "0";
  } catch (error) {
    return errorCode(error) === "EPERM" ? "0" : undefined;
  }
}
