/** Compares two batches of the same tasks pair by pair, with the check of each task as the verdict. Pure. */

import { isDeepStrictEqual } from "node:util";
import { UsageError } from "../../core/errors.ts";
import { differenceInterval, exactMcNemar } from "../../lab/statistics/paired.ts";
import type { TaskState, TaskTally } from "../batch/results.ts";
import type { Side } from "./sides.ts";

/** One side over the pairs that have a verdict. `cost`: dollars of all their runs. */
export type Score = { name: string; solved: number; cost: number; turns: number };

export type Comparison = {
  a: Score;
  b: Score;
  /** Options with which the two were started and that differ, each as a and b have it. */
  differing: Record<string, [unknown, unknown]>;
  tasks: number;
  /** Results of a task on each side: the least and the most of any task. */
  repetitions: [least: number, most: number];
  /** Pairs with a verdict on both sides, and those without, for which the API or the machine is the reason. */
  pairs: number;
  withoutVerdict: number;
  both: number;
  neither: number;
  onlyA: number;
  onlyB: number;
  /** Success of b minus that of a, -1 to 1, with its interval of 95 % (Tango). */
  difference: number;
  interval: { low: number; high: number };
  /** The p of McNemar's exact test over the pairs. */
  p: number;
  /** Tasks that one side solved more often, and the sign test over them: repetitions of a task are not independent. */
  oftenerA: number;
  oftenerB: number;
  taskP: number;
};

/** States that say something about the task; the others do not depend on it. */
const verdicts: readonly TaskState[] = ["done", "failed", "limit", "blocked"];

type Pair = { id: string; a: Readonly<TaskTally>; b: Readonly<TaskTally> };

/** Compares the sides. Throws `UsageError` where they are not of the same tasks, or nothing is left to compare. */
export function compare(a: Side, b: Side): Comparison {
  refuseOthers(a, b);
  const all = [...a.tasks].flatMap(([id, ofA]) => pairsOf(id, ofA, b.tasks.get(id) ?? [], [a.name, b.name]));
  const pairs = all.filter(({ a: one, b: other }) =>
    [one, other].every(({ last }) => verdicts.includes(last.state)),
  );
  if (pairs.length === 0)
    throw new UsageError(
      `no pair of results has a verdict (${stateList(all)}): run both batches again, which repeats what the API or the machine ended`,
    );
  const solvedBy = (one: boolean, other: boolean) =>
    pairs.filter((pair) => isSolved(pair.a) === one && isSolved(pair.b) === other).length;
  const [onlyA, onlyB] = [solvedBy(true, false), solvedBy(false, true)];
  const often = oftener(pairs);
  const counts = [...a.tasks.values()].map(({ length }) => length);
  return {
    a: scoreOf(
      a.name,
      pairs.map((pair) => pair.a),
    ),
    b: scoreOf(
      b.name,
      pairs.map((pair) => pair.b),
    ),
    differing: differingOptions(a, b),
    tasks: a.tasks.size,
    repetitions: [Math.min(...counts), Math.max(...counts)],
    pairs: pairs.length,
    withoutVerdict: all.length - pairs.length,
    both: solvedBy(true, true),
    neither: solvedBy(false, false),
    onlyA,
    onlyB,
    difference: (onlyB - onlyA) / pairs.length,
    interval: differenceInterval({ onlyA, onlyB, pairs: pairs.length }),
    p: exactMcNemar(onlyA, onlyB),
    ...{ oftenerA: often.a, oftenerB: often.b, taskP: exactMcNemar(often.a, often.b) },
  };
}

const mostNamed = 5;

/** A task that only one side has would be a pair with nothing in it. */
function refuseOthers(a: Side, b: Side): void {
  for (const [has, lacks] of [
    [a, b],
    [b, a],
  ] as const) {
    const alone = [...has.tasks.keys()].filter((id) => !lacks.tasks.has(id));
    if (alone.length === 0) continue;
    const named = alone.slice(0, mostNamed).join(", ");
    const more = alone.length > mostNamed ? ` and ${alone.length - mostNamed} more` : "";
    throw new UsageError(
      `${lacks.name} has no result of ${named}${more}, which ${has.name} has: both must be batches of the same tasks, run to their end`,
    );
  }
}

function pairsOf(
  id: string,
  ofA: readonly Readonly<TaskTally>[],
  ofB: readonly Readonly<TaskTally>[],
  names: readonly [string, string],
): Pair[] {
  if (ofA.length !== ofB.length)
    throw new UsageError(
      `task ${id} has ${ofA.length} results in ${names[0]} and ${ofB.length} in ${names[1]}: repeat both as often`,
    );
  const hashes = new Set([...ofA, ...ofB].map(({ last }) => last.hash));
  if (hashes.size > 1)
    throw new UsageError(
      `task ${id} is not the same line everywhere: use one file of tasks, and set what is compared on the command line (--context, --model)`,
    );
  return ofA.flatMap((one, index) => {
    const other = ofB[index];
    return other ? [{ id, a: one, b: other }] : [];
  });
}

function isSolved({ last }: Readonly<TaskTally>): boolean {
  return last.state === "done";
}

function scoreOf(name: string, tallies: readonly Readonly<TaskTally>[]): Score {
  return {
    name,
    solved: tallies.filter(isSolved).length,
    cost: tallies.reduce((sum, { cost }) => sum + cost, 0),
    turns: tallies.reduce((sum, { turns }) => sum + turns, 0),
  };
}

function oftener(pairs: readonly Pair[]): { a: number; b: number } {
  const wins = [...Map.groupBy(pairs, ({ id }) => id).values()].map((own) =>
    Math.sign(own.reduce((sum, { a, b }) => sum + Number(isSolved(b)) - Number(isSolved(a)), 0)),
  );
  return { a: wins.filter((win) => win < 0).length, b: wins.filter((win) => win > 0).length };
}

function differingOptions(a: Side, b: Side): Comparison["differing"] {
  const keys = [...new Set([...Object.keys(a.options), ...Object.keys(b.options)])];
  const differ = keys.filter((key) => !isDeepStrictEqual(a.options[key], b.options[key]));
  return Object.fromEntries(differ.map((key) => [key, [a.options[key], b.options[key]]]));
}

function stateList(pairs: readonly Pair[]): string {
  return [...new Set(pairs.flatMap(({ a, b }) => [a.last.state, b.last.state]))].join(", ");
}
