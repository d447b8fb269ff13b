/** What only `sawtooth batch` takes on the command line. Pure. */

import { amount, duration, given, UsageError, wholeNumber } from "./values.ts";

export type BatchFlags = {
  /** Folder of the results. */
  out?: string;
  /** Tasks at the same time. */
  jobs?: number;
  /** This part of the tasks: from 1 to `of`. */
  shard?: { part: number; of: number };
  /** Only add up what lies in the folders that the operands name. */
  summary: boolean;
  /** Run again what ended, but was not done. */
  retry: boolean;
  keepTrees: boolean;
  /** Ceilings of a task whose line has none. */
  taskBudgetUsd?: number;
  taskTimeMs?: number;
};

export const batchOptions = {
  out: { type: "string" },
  shard: { type: "string" },
  summary: { type: "boolean" },
  retry: { type: "boolean" },
  "keep-trees": { type: "boolean" },
  "task-budget-usd": { type: "string" },
  "task-time": { type: "string" },
} as const;

type Values = { jobs?: string | undefined } & {
  [K in keyof typeof batchOptions]?: (typeof batchOptions)[K]["type"] extends "string"
    ? string | undefined
    : boolean | undefined;
};

/** More agents than this on one machine wait for each other. */
const mostJobs = 64;

/** Throws `UsageError`. `operands`: the file of tasks, or with --summary the folders. */
export function batchFlagsOf(values: Values, operands: readonly string[]): BatchFlags {
  const { summary = false, retry = false, "keep-trees": keepTrees = false, out } = values;
  const jobs = wholeNumber("--jobs", values.jobs);
  if (jobs !== undefined && jobs > mostJobs)
    throw new UsageError(`--jobs ${jobs}: at most ${mostJobs} on one machine; share the rest with --shard`);
  if (summary) {
    const stray = Object.keys(values).find((name) => name in batchOptions && name !== "summary");
    if (stray) throw new UsageError(`--summary only reads results: leave out --${stray}`);
    if (operands.length === 0)
      throw new UsageError("--summary needs the folders of results: sawtooth batch --summary out");
  } else if (operands.length !== 1)
    throw new UsageError("batch needs one file of tasks: sawtooth batch tasks.jsonl --out results");
  else if (!out) throw new UsageError("batch needs a folder for the results: --out results");
  return {
    summary,
    retry,
    keepTrees,
    ...given("out", out),
    ...given("jobs", jobs),
    ...given("shard", shardOf(values.shard)),
    ...given("taskBudgetUsd", amount("--task-budget-usd", values["task-budget-usd"])),
    ...given("taskTimeMs", duration("--task-time", values["task-time"])),
  };
}

function shardOf(value: string | undefined): BatchFlags["shard"] {
  if (value === undefined) return undefined;
  const [, part, of] = /^(\d{1,6})\/(\d{1,6})$/.exec(value) ?? [];
  const shard = { part: Number(part), of: Number(of) };
  if (!(shard.part >= 1 && shard.part <= shard.of))
    throw new UsageError(`--shard ${value}: must be part/parts, from 1/4 to 4/4 for four machines`);
  return shard;
}
