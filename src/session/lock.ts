/**
 * Allows one writer per session, on any file system. Each process claims under a name of its own (`lock.<pid>.<start>`)
 * and then looks for the claims of others, so removing the claim of a dead process can never remove a live one.
 */

import { closeSync, openSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { processStat } from "../disk/process-stat.ts";
import { isErrno, SessionLocked } from "./errors.ts";

const attempts = 5;

/** Claims the folder and returns the release. Throws `SessionLocked` when another live process holds it. */
export function lockFolder(folder: string, id: string): () => void {
  for (let attempt = 1; ; attempt++) {
    const mine = claim(folder, id);
    const other = liveClaims(folder).find((name) => name !== mine);
    if (!other) return () => rmSync(join(folder, mine), { force: true });
    rmSync(join(folder, mine), { force: true });
    if (attempt === attempts) throw new SessionLocked(id, claimOf(other).pid);
    // Two that claim at the same instant both withdraw; chance decides who comes back first.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1 + Math.random() * 20);
  }
}

function claim(folder: string, id: string): string {
  const name = `lock.${process.pid}.${startOf(process.pid) ?? 0}`;
  try {
    closeSync(openSync(join(folder, name), "wx", 0o600));
  } catch (error) {
    if (isErrno(error) && error.code === "EEXIST") throw new SessionLocked(id, process.pid);
    throw error;
  }
  return name;
}

/** Returns the names of the claims of live processes, and removes those of dead ones. */
function liveClaims(folder: string): string[] {
  const claims = claimsIn(folder);
  const [live, dead] = [claims.filter(isLive), claims.filter((name) => !isLive(name))];
  for (const name of dead) rmSync(join(folder, name), { force: true });
  return live;
}

function claimsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => /^lock\.\d+\.\d+$/.test(name));
}

/** Returns the pid of the other live process that writes the session in this folder; undefined when there is none. */
export function holderOf(folder: string): number | undefined {
  const claims = claimsIn(folder).filter(isLive).map(claimOf);
  return claims.find(({ pid }) => pid !== process.pid)?.pid;
}

/** Returns the absolute paths of the locks in a session's folder whose processes are gone. */
export function staleLocks(folder: string): string[] {
  return claimsIn(folder).flatMap((name) => (isLive(name) ? [] : [join(folder, name)]));
}

function claimOf(name: string): { pid: number; start: string } {
  const [, pid, start] = name.split(".");
  return { pid: Number(pid), start: start ?? "" };
}

function isLive(name: string): boolean {
  const { pid, start } = claimOf(name);
  return startOf(pid) === start;
}

/** Returns the start of a process in clock ticks since boot; "0" where there is no /proc; undefined when it is gone. */
function startOf(pid: number): string | undefined {
  const found = processStat(pid);
  if (found) return "ZX".includes(found.state) ? undefined : String(found.startTime);
  return process.platform === "linux" ? undefined : startWithoutProc(pid);
}

function startWithoutProc(pid: number): string | undefined {
  try {
    process.kill(pid, 0);
    return "0";
  } catch (error) {
    return isErrno(error) && error.code === "EPERM" ? "0" : undefined;
  }
}
