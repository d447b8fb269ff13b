/**
 * Gives a folder to one process at a time, also among machines that share it. Each process claims under a name of its
 * own and then looks for the claims of others. One of this machine lives as long as its process; one of another machine
 * as long as its file changes, because clocks differ and `kill -9` tells nobody.
 */

import { closeSync, openSync, readdirSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isOrphan, machineName, ownName } from "./process-name.ts";
import { errorCode } from "./real-path.ts";

/** `host` and `pid`: of the process that has the folder. */
export type Holder = { host: string; pid: number };

export type Claim = {
  release(): void;
  /** Aborts when another machine took the folder, because we were silent for too long. */
  lost: AbortSignal;
  /**
   * Looks again: returns true when the folder is still ours. Opens the file, which NFS does not answer from memory.
   * `sure`: does not look where the last look is so recent that nobody can have taken the folder since.
   */
  isHeld(sure?: boolean): boolean;
};

/** Milliseconds between two changes of a claim. */
const beatMs = 4_000;
/** A claim of another machine that did not change for this long is one of the dead. */
const silentMs = 5 * beatMs;
/** Milliseconds between two looks at the claims of others: of machines, and of this one alone. */
const lookMs = 500;
const lookHereMs = 20;
/** Bytes of a claim: always the same, so that a full disk takes each beat. */
const claimBytes = 400;

/**
 * Claims the folder, or returns the process that has it, which may be this one. `onWait`: called once when claims of other
 * machines must be watched, with the host of one and the most milliseconds that it takes. Throws the system's error.
 */
export async function claimFolder(
  folder: string,
  onWait: (host: string, ms: number) => void = () => {},
): Promise<Claim | Holder> {
  const mine = begin(folder);
  if (!mine) return { host: hostname(), pid: process.pid };
  const watch = watchClaims(folder);
  try {
    for (let looks = 0; ; looks++) {
      const others = watch.look(mine.name);
      if (others.length === 0) return mine.hold();
      // Two that ask at once: the one whose name comes first stays.
      const winner = others.find(({ name, beats, held }) => beats && (held || name < mine.name));
      if (winner) {
        mine.release();
        return winner;
      }
      const far = others.find(({ isHere }) => !isHere);
      if (looks === 0 && far) onWait(far.host, silentMs);
      await sleep(others.every(({ isHere }) => isHere) ? lookHereMs : lookMs);
    }
  } catch (error) {
    mine.release();
    throw error;
  }
}

/** Waits until nobody claims the folder; claims of the dead are removed. */
export async function freed(folder: string): Promise<void> {
  const watch = watchClaims(folder);
  while (watch.look().length > 0) await sleep(lookMs / 2 + Math.random() * lookMs);
}

/** Returns true for the name of a claim. */
export function isClaim(name: string): boolean {
  return /^claim\.[0-9a-f]{12}\.\d+\.\d+$/.test(name);
}

/**
 * Returns the other process that seems to have the folder, for what is only shown: one of another machine has it while
 * its claim is as fresh as the clock of this one tells.
 */
export function holderOf(folder: string): Holder | undefined {
  const names = claimsIn(folder);
  if (names.length === 0) return undefined;
  const [here, mine] = [machineName(), `claim.${ownName()}`];
  for (const name of names) {
    const isHere = isOf(name, here);
    if (name === mine || (isHere && isDead(name, here))) continue;
    const text = textOf(join(folder, name));
    const age = Date.now() - (statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (text !== undefined && (isHere || age < silentMs)) return factsIn(text, name, isHere);
  }
  return undefined;
}

/** Says which process it is, as in "in use by process 7 on host". */
export function inWords({ host, pid }: Holder): string {
  return host === hostname() ? `process ${pid}` : `process ${pid} on ${host}`;
}

/** Returns the absolute paths of the claims of processes of this machine that are gone. */
export function deadClaims(folder: string): string[] {
  const names = claimsIn(folder);
  const here = names.length > 0 ? machineName() : "";
  return names.flatMap((name) => (isDead(name, here) ? [join(folder, name)] : []));
}

function claimsIn(folder: string): string[] {
  return readdirSync(folder).filter(isClaim);
}

function isOf(claim: string, machine: string): boolean {
  return claim.startsWith(`claim.${machine}.`);
}

function isDead(claim: string, machine: string): boolean {
  return isOrphan(claim.slice("claim.".length), machine);
}

/** Returns undefined where this process has a claim already. */
function begin(folder: string) {
  const name = `claim.${ownName()}`;
  const file = join(folder, name);
  const lost = new AbortController();
  let [held, beats, beatAt] = [false, 0, 0];
  const write = (flags: "wx" | "r+"): void => {
    const fd = openSync(file, flags, 0o600);
    try {
      const text = JSON.stringify({ host: hostname().slice(0, 200), pid: process.pid, held, beat: ++beats });
      writeSync(fd, `${text.padEnd(claimBytes - 1)}\n`, 0);
    } finally {
      closeSync(fd);
    }
    beatAt = Date.now();
  };
  const beat = (): void => {
    try {
      write("r+");
    } catch (error) {
      // Any other failure shows as silence to the others, and may pass.
      if (errorCode(error) === "ENOENT") lost.abort();
    }
  };
  try {
    write("wx");
  } catch (error) {
    if (errorCode(error) === "EEXIST") return undefined;
    rmSync(file, { force: true });
    throw error;
  }
  const timer = setInterval(beat, beatMs);
  timer.unref();
  const claim: Claim = {
    lost: lost.signal,
    isHeld(sure = false) {
      const age = Date.now() - beatAt;
      if (!lost.signal.aborted && !(sure && age >= 0 && age < 2 * beatMs)) beat();
      return !lost.signal.aborted;
    },
    release() {
      clearInterval(timer);
      rmSync(file, { force: true });
    },
  };
  return {
    name,
    release: claim.release,
    hold(): Claim {
      held = true;
      beat();
      return claim;
    },
  };
}

/** `isHere`: it is of this machine. `beats`: it is known to live. */
type Seen = Holder & { name: string; held: boolean; isHere: boolean; beats: boolean };

/** Remembers what it saw of each claim, to find those that no longer change. */
function watchClaims(folder: string) {
  const known = new Map<string, { text: string; since: number; beats: boolean }>();
  const here = machineName();
  const look = (name: string): Seen[] => {
    const text = textOf(join(folder, name));
    if (text === undefined) return [];
    const now = performance.now();
    const last = known.get(name);
    const isHere = isOf(name, here);
    if (isHere ? isDead(name, here) : last?.text === text && now - last.since > silentMs) {
      rmSync(join(folder, name), { force: true });
      return [];
    }
    const beats = isHere || (last !== undefined && (last.beats || last.text !== text));
    if (last?.text !== text) known.set(name, { text, since: now, beats });
    return [{ ...factsIn(text, name, isHere), name, isHere, beats }];
  };
  return {
    /** Returns the claims of others that are not known to be dead, and removes those that are. */
    look: (mine?: string): Seen[] =>
      claimsIn(folder)
        .filter((name) => name !== mine)
        .flatMap(look),
  };
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Reads a claim; one that is just being written says nothing yet. */
function factsIn(text: string, name: string, isHere: boolean): Holder & { held: boolean } {
  try {
    const { host, pid, held } = JSON.parse(text) as Holder & { held: boolean };
    return { host, pid, held };
  } catch {
    return { host: isHere ? hostname() : "?", pid: Number(name.split(".")[2]), held: false };
  }
}
