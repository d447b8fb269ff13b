/** Tracks the tokens of each kind before a position of the prompt, over the steps of a session. Pure. */

import type { LogEvent } from "../../core/events.ts";
import type { View } from "../view/view.ts";
import { kinds, type Part, partsReader } from "./kinds.ts";

/** Uncalibrated tokens of each kind, in the order of `kinds`. */
export type KindTokens = readonly number[];

export type Contents = {
  /** Updates it to a later view whose first `unchanged` entries are the same. */
  take(view: View, unchanged: number): void;
  /** All tokens of the prompt. */
  tokens(): number;
  /** Tokens of each kind in the first `position` tokens. */
  before(position: number): KindTokens;
};

export const noKinds: KindTokens = kinds.map(() => 0);

/** Sums over the entries of a view, recomputed only from the first change on. */
export function contentsOf(events: readonly LogEvent[]): Contents {
  const { fixed, partsOf } = partsReader(events);
  // Sums before each entry and before the end; the first group is the tools and the system text.
  const groups: (readonly Part[])[] = [fixed];
  const sums: KindTokens[] = [noKinds, withParts(noKinds, fixed)];
  const starts: number[] = [0, totalOf(fixed)];
  return {
    take({ entries }, unchanged) {
      groups.length = unchanged + 1;
      sums.length = unchanged + 2;
      starts.length = unchanged + 2;
      for (let index = unchanged; index < entries.length; index++) {
        const parts = partsOf(entries[index] as View["entries"][number]);
        groups.push(parts);
        sums.push(withParts(sums.at(-1) ?? noKinds, parts));
        starts.push((starts.at(-1) ?? 0) + totalOf(parts));
      }
    },
    tokens: () => starts.at(-1) ?? 0,
    before(position) {
      const group = groupAt(starts, position);
      return withParts(sums[group] ?? noKinds, groups[group] ?? [], position - (starts[group] ?? 0));
    },
  };
}

/** Returns the last group that begins at or before `position`, by bisection. */
function groupAt(starts: readonly number[], position: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns the sums plus the first `most` tokens of `parts`. */
function withParts(sums: KindTokens, parts: readonly Part[], most = Number.POSITIVE_INFINITY): KindTokens {
  const added = [...sums];
  let left = most;
  for (const { kind, tokens } of parts) {
    const index = kinds.indexOf(kind);
    added[index] = (added[index] ?? 0) + Math.min(tokens, left);
    left -= Math.min(tokens, left);
  }
  return added;
}

function totalOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { tokens }) => sum + tokens, 0);
}
