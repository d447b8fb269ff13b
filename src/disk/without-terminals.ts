/**
 * Keeps our ends of terminals from programs that are started: the module that opens terminals lets each child inherit
 * them, and who has one reads and types in the session that it belongs to, and keeps its terminal from hanging up.
 */

import type { IOType } from "node:child_process";
import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";

type Ends = readonly (IOType | number)[];

/**
 * Starts a program through `start`, with the null device in the place of each of our ends of a terminal. `ends`: its
 * standard input, output and error.
 */
export function withoutTerminals<Child>(ends: Ends, start: (ends: (IOType | number)[]) => Child): Child {
  const terminals = ourEnds();
  if (terminals.length === 0) return start([...ends]);
  const nothing = openSync("/dev/null", "r+");
  const all = Array.from({ length: Math.max(...terminals) + 1 }, (_, number) =>
    terminals.includes(number) ? nothing : (ends[number] ?? "ignore"),
  );
  try {
    return start(all);
  } finally {
    closeSync(nothing);
  }
}

/** Lists the descriptors of terminals that we hold from the side of their program; none where /proc does not tell. */
function ourEnds(): number[] {
  try {
    return readdirSync("/proc/self/fd").map(Number).filter(isOurEnd);
  } catch {
    return [];
  }
}

function isOurEnd(descriptor: number): boolean {
  try {
    return descriptor > 2 && /^\/dev\/(?:pts\/)?ptmx$/.test(readlinkSync(`/proc/self/fd/${descriptor}`));
  } catch {
    return false;
  }
}
