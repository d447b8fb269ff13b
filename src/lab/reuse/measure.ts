/** Reuse of observations in recordings, by kind and age: shares that are still used, chances of a step. Pure. */

import { type ObservationKind, observationKinds } from "../../context/reuse/kind.ts";
import { type Observation, reuseReader } from "../../context/reuse/uses.ts";
import type { Recording } from "../recordings/import.ts";

/** An observation, with the replies that came after it in its session. */
export type Seen = Pick<Observation, "kind" | "tokens" | "uses"> & { left: number };
/** The observations of one recording. */
export type Sample = { file: string; agent: string; seen: readonly Seen[] };

/** Ages in replies that the tables show, and the first age of each span that chances are given for. */
export const tableAges = [0, 3, 10, 30] as const;
const spanStarts = [1, 2, 4, 11, 31, 101] as const;

/** The share of observations, and of their tokens, that are used at an age above this; undefined without any. */
export type Above = { age: number; share: number; tokenShare: number };
/** `steps`: replies at such an age after any observation; `used`: those that used it; `chance`: one over the other. */
export type Span = { from: number; to: number | undefined; steps: number; used: number; chance: number };

/** One kind in one group of recordings. */
export type Reuse = {
  by: "all" | "agent" | "recording";
  group: string;
  kind: ObservationKind;
  observations: number;
  tokens: number;
  /** At each age from 0 up to the oldest use of all recordings. */
  above: Above[];
  spans: Span[];
};

/** Reads the observations of a recording. */
export function sampleOf({ file, format, events }: Recording): Sample {
  const reader = reuseReader();
  for (const event of events) reader.take(event);
  const seen = reader.observations.map(({ kind, tokens, uses, step }) => ({
    ...{ kind, tokens, uses },
    left: reader.steps() - step,
  }));
  return { file, agent: format, seen };
}

/**
 * Adds up all recordings, then those of each agent, then each of them, each kind that occurs there. A group of one
 * recording stands for nothing that the recording does not: it is left out. `nameOf`: how a file is shown.
 */
export function reuseOf(samples: readonly Sample[], nameOf: (file: string) => string): Reuse[] {
  const all = samples.flatMap(({ seen }) => seen);
  const oldest = Math.max(0, ...all.map(({ uses }) => uses.at(-1) ?? 0));
  const agents = [...Map.groupBy(samples, ({ agent }) => agent)];
  const groups: [Reuse["by"], string, readonly Seen[]][] = [
    ["all", plural(samples.length), all],
    ...agents.map(([agent, own]): [Reuse["by"], string, readonly Seen[]] => [
      "agent",
      agent,
      own.flatMap(({ seen }) => seen),
    ]),
    ...samples.map(({ file, seen }): [Reuse["by"], string, readonly Seen[]] => [
      "recording",
      nameOf(file),
      seen,
    ]),
  ];
  return groups.flatMap(([by, group, seen]) =>
    observationKinds.flatMap((kind) => {
      const own = seen.filter((each) => each.kind === kind);
      return own.length === 0 ? [] : [{ by, group, kind, ...figuresOf(own, oldest) }];
    }),
  );
}

function plural(recordings: number): string {
  return recordings === 1 ? "1 recording" : `${recordings} recordings`;
}

function figuresOf(own: readonly Seen[], oldest: number): Omit<Reuse, "by" | "group" | "kind"> {
  const tokens = own.reduce((sum, each) => sum + each.tokens, 0);
  return {
    observations: own.length,
    tokens,
    above: aboveOf(own, tokens, oldest),
    spans: spanStarts.map((from, index) => spanOf(own, from, nextStart(index))),
  };
}

function nextStart(index: number): number | undefined {
  const next = spanStarts[index + 1];
  return next === undefined ? undefined : next - 1;
}

/** From the oldest age down, so that each observation is added once: at its last use. */
function aboveOf(own: readonly Seen[], tokens: number, oldest: number): Above[] {
  const byLast = Map.groupBy(own, ({ uses }) => uses.at(-1) ?? 0);
  const found: Above[] = [];
  let [count, size] = [0, 0];
  for (let age = oldest; age >= 0; age--) {
    found.push({ age, share: count / own.length, tokenShare: tokens === 0 ? 0 : size / tokens });
    for (const each of byLast.get(age) ?? []) {
      count += 1;
      size += each.tokens;
    }
  }
  return found.reverse();
}

function spanOf(own: readonly Seen[], from: number, to: number | undefined): Span {
  const last = to ?? Number.POSITIVE_INFINITY;
  let [steps, used] = [0, 0];
  for (const { left, uses } of own) {
    steps += Math.max(0, Math.min(left, last) - from + 1);
    used += uses.filter((age) => age >= from && age <= last).length;
  }
  return { from, to, steps, used, chance: steps === 0 ? 0 : used / steps };
}

/** Returns the row of an age; the last one where the curve ends before. */
export function aboveAge({ above }: Pick<Reuse, "above">, age: number): Above {
  return above[age] ?? { age, share: 0, tokenShare: 0 };
}
