/** Reads the two sides of a comparison: a batch, or a folder of repetitions of it. */

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UsageError } from "../../core/errors.ts";
import { readResults, resultsName, type TaskTally } from "../batch/results.ts";

/** Batches of the same tasks under the same options: repetitions, or parts of one (`--shard`). */
export type Side = {
  /** As it was typed. */
  name: string;
  /** Options that the first was started with; empty where only lines of results are there. */
  options: Readonly<Record<string, unknown>>;
  /** For each task its newest result in each repetition that has one, in the order of their names. */
  tasks: ReadonlyMap<string, readonly Readonly<TaskTally>[]>;
  warnings: string[];
};

/** Reads results.jsonl, a folder that has it, or a folder of such folders. Throws `UsageError`. */
export function readSide(name: string): Side {
  const batches = batchesIn(name);
  const tasks = new Map<string, Readonly<TaskTally>[]>();
  const warnings: string[] = [];
  for (const { folder, file } of batches) {
    const read = readResults(folder, file);
    warnings.push(...read.warnings);
    for (const [id, tally] of read.tallies) tasks.set(id, [...(tasks.get(id) ?? []), tally]);
  }
  if (tasks.size === 0)
    throw new UsageError(
      `${name} has no result of a task${warnings[0] ? `: ${warnings[0]}` : " yet: run the batch first"}`,
    );
  return { name, options: optionsOf(batches[0]?.folder ?? name), tasks, warnings };
}

type Batch = { folder: string; file?: string };

function batchesIn(name: string): Batch[] {
  const found = statSync(name, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`${name} does not exist: name the folder that --out of a batch named`);
  if (!found.isDirectory()) return [{ folder: dirname(name), file: basename(name) }];
  if (isBatch(name)) return [{ folder: name }];
  const inside = readdirSync(name)
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((each) => join(name, each))
    .filter(isBatch);
  if (inside.length > 0) return inside.map((folder) => ({ folder }));
  throw new UsageError(
    `${name} contains no batch results: neither ${resultsName} nor folders that have one (see docs/batch.md)`,
  );
}

function isBatch(folder: string): boolean {
  return existsSync(join(folder, resultsName)) || existsSync(join(folder, "batch.json"));
}

function optionsOf(folder: string): Side["options"] {
  try {
    const { options } = JSON.parse(readFileSync(join(folder, "batch.json"), "utf8")) as { options?: object };
    return { ...options };
  } catch {
    // Lines that were put together from several folders have no options beside them.
    return {};
  }
}
