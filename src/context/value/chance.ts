/** How likely it is that later replies use something again: learned from recordings, by kind, idle time and size. Pure. */

import { learned } from "./learned.ts";
import type { Kind, Lift, Table } from "./table.ts";

/** The greatest age of each class, in replies since a thing was shown or last used; older things are a class of their own. */
export const ageClasses: readonly number[] = [1, 3, 6, 10, 20, 40, 80, 160];
/** The most tokens of each class; larger things are a class of their own. */
export const sizeClasses: readonly number[] = [100, 400, 1_500, 6_000];
/** Calls with fewer tokens hold nothing that is quoted. */
export const leastWritten = 40;
/** Replies for which a file stays fresh after a call named it. */
export const freshReplies = 2;
/** Replies that are looked ahead when something would be written to the cache once more. */
export const aheadReplies = 5;

export type Thing = { kind: Kind; tokens: number; lift: Lift };

/** For each class of age, at its beginning: the chance of a use by the next reply, and by one of the next `aheadReplies`. */
export type Chances = { next: readonly number[]; ahead: readonly number[] };

/** Returns the class of a value: the index of the first bound that is not below it. */
export function classOf(bounds: readonly number[], value: number): number {
  const index = bounds.findIndex((most) => value <= most);
  return index < 0 ? bounds.length : index;
}

/** Returns the smallest age in a class. */
export function beginOf(ageClass: number): number {
  return 1 + (ageClasses[ageClass - 1] ?? 0);
}

const known = new Map<string, Chances>();

/** Returns the chances that a thing is used again. */
export function chancesOf({ kind, tokens, lift }: Thing): Chances {
  const size = classOf(sizeClasses, tokens);
  const key = `${kind} ${size} ${lift}`;
  const earlier = known.get(key);
  if (earlier) return earlier;
  const next = nextUse({ kind, size, lift }, learned);
  const made = { next, ahead: next.map((_, ageClass) => aheadUse(next, beginOf(ageClass))) };
  known.set(key, made);
  return made;
}

/** Returns the chance of a use by the next reply, for each class of age, as a table has it. */
export function nextUse(
  { kind, size, lift }: { kind: Kind; size: number; lift: Lift },
  table: Table,
): number[] {
  const { ages, sizes } = table.kinds[kind];
  return ages.map((chance) => Math.min(1, chance * (sizes[size] ?? 1) * table.lifts[lift]));
}

/** Returns the chance of a use by one of the replies from this age on; 1 at most. */
function aheadUse(next: readonly number[], from: number): number {
  let unused = 1;
  for (let age = from; age < from + aheadReplies; age++) unused *= 1 - (next[classOf(ageClasses, age)] ?? 0);
  return 1 - unused;
}
