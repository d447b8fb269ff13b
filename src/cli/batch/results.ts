/** The folder of a batch: its options, and one line for each run of a task, never rewritten. */

import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { StartError, UsageError } from "../../core/errors.ts";
import { isClaim } from "../../disk/claim.ts";
import { makeFolders } from "../../disk/make-folders.ts";
import { appendLine, replaceFile } from "../../disk/replace-file.ts";
import type { TaskOptions } from "./tasks.ts";

/** The outcome of a run. The last four do not depend on the task, which is run again. */
export type TaskState =
  | "done"
  | "failed"
  | "limit"
  | "blocked"
  | "credentials"
  | "model"
  | "error"
  | "interrupted";

/** The origin of the files. `bytes` and `files`: for a copy. */
export type Origin = { kind: "clone" | "copy" | "empty"; commit?: string; files?: number; bytes?: number };

/** A line of results.jsonl. Paths are inside the folder of the batch. */
export type ResultLine = {
  id: string;
  hash: string;
  state: TaskState;
  exit_code: number | null;
  terminal_reason: string | null;
  errors: string[];
  result: string;
  structured_output: unknown;
  run: string;
  patch: string | null;
  changed_files: string[];
  origin: Origin | null;
  model: string | null;
  session_id: string | null;
  num_turns: number;
  total_cost_usd: number;
  usage: object | null;
  /** Milliseconds since 1970. */
  started_at: number;
  duration_ms: number;
};

export const resultsName = "results.jsonl";

/** The newest run of a task, reduced to the fields that resuming and the table need. */
export type LastRun = Pick<ResultLine, "hash" | "state" | "num_turns" | "total_cost_usd" | "duration_ms"> & {
  changedFiles: number;
  /** At most 300 characters of the first error. */
  error: string | undefined;
};

/** The totals of all runs of a task. */
export type TaskTally = {
  id: string;
  last: LastRun;
  /** Folders of its runs, oldest first. */
  runs: string[];
  turns: number;
  /** Dollars. */
  cost: number;
  durationMs: number;
  /** Milliseconds since 1970: when its first and its newest run began. */
  firstAt: number;
  lastAt: number;
};

/** Tallies by task, in the order of their first results. Their size does not grow with the model's answers. */
export type Tallies = Map<string, TaskTally>;

const mostError = 300;

function lastRunOf(line: ResultLine): LastRun {
  const { hash, state, num_turns, total_cost_usd, duration_ms, changed_files: changed } = line;
  // A substring would keep the whole text alive; a copy does not.
  const error = line.errors[0] === undefined ? undefined : copyOf(line.errors[0].slice(0, mostError));
  return { hash, state, num_turns, total_cost_usd, duration_ms, changedFiles: changed.length, error };
}

function copyOf(text: string): string {
  return Buffer.from(text).toString();
}

function count(tallies: Tallies, line: ResultLine): void {
  const { id, run, num_turns: turns, total_cost_usd: cost, duration_ms: durationMs, started_at: at } = line;
  const last = lastRunOf(line);
  const tally = tallies.get(id);
  if (!tally) {
    tallies.set(id, { id, last, runs: [run], turns, cost, durationMs, firstAt: at, lastAt: at });
    return;
  }
  Object.assign(tally, { last, lastAt: at });
  tally.runs.push(run);
  tally.turns += turns;
  tally.cost += cost;
  tally.durationMs += durationMs;
}

/** Merges the tallies of several folders; the newest run of a task is the one that began last. */
export function merged(all: readonly ReadonlyMap<string, Readonly<TaskTally>>[]): Tallies {
  const found: Tallies = new Map();
  for (const tally of all.flatMap((tallies) => [...tallies.values()])) {
    const other = found.get(tally.id);
    found.set(tally.id, other ? sumOf(other, tally) : tally);
  }
  const order = [...found.values()].sort((a, b) => a.firstAt - b.firstAt);
  return new Map(order.map((tally) => [tally.id, tally]));
}

function sumOf(a: TaskTally, b: TaskTally): TaskTally {
  const newer = b.lastAt >= a.lastAt ? b : a;
  return {
    id: a.id,
    last: newer.last,
    runs: [...a.runs, ...b.runs],
    turns: a.turns + b.turns,
    cost: a.cost + b.cost,
    durationMs: a.durationMs + b.durationMs,
    firstAt: Math.min(a.firstAt, b.firstAt),
    lastAt: newer.lastAt,
  };
}

/** Reads the results of an existing folder by task, with warnings about its file. Throws `UsageError`. */
export function readResults(folder: string, name = resultsName): { tallies: Tallies; warnings: string[] } {
  const file = join(folder, name);
  const tallies: Tallies = new Map();
  const warnings: string[] = [];
  let number = 0;
  try {
    for (const text of linesOf(file)) {
      number += 1;
      const line = text === "" ? undefined : resultIn(text);
      if (line) count(tallies, line);
      // The beginning of a line that was being written when the machine went down.
      else if (text !== "") warnings.push(`${file} line ${number} is damaged and does not count`);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && existsSync(join(folder, "batch.json"))) return { tallies, warnings };
    throw new UsageError(`${folder} contains no batch results: cannot read ${resultsName} (${code})`);
  }
  return { tallies, warnings };
}

const pieceBytes = 64 * 1024;
/** True for a line above 32 MB: only its beginning is read, which is no result. */
const isFull = (begun: readonly Buffer[]) => begun.length >= 512;

/** Reads line by line, so that only one is held. Throws the errors of reading a file. */
function* linesOf(file: string): Generator<string> {
  const fd = openSync(file, "r");
  try {
    const piece = Buffer.alloc(pieceBytes);
    let begun: Buffer[] = [];
    for (let length = readSync(fd, piece); length > 0; length = readSync(fd, piece)) {
      let start = 0;
      for (let end = piece.indexOf(10); end >= 0 && end < length; end = piece.indexOf(10, start)) {
        yield Buffer.concat(isFull(begun) ? begun : [...begun, piece.subarray(start, end)]).toString();
        begun = [];
        start = end + 1;
      }
      if (start < length && !isFull(begun)) begun.push(Buffer.from(piece.subarray(start, length)));
    }
    if (begun.length > 0) yield Buffer.concat(begun).toString();
  } finally {
    closeSync(fd);
  }
}

function resultIn(line: string): ResultLine | undefined {
  try {
    const value = JSON.parse(line) as ResultLine;
    const texts = [value.id, value.run, value.hash, value.state];
    const numbers = [value.num_turns, value.total_cost_usd, value.started_at, value.duration_ms];
    const isWhole =
      texts.every((text) => typeof text === "string") &&
      numbers.every((number) => Number.isFinite(number)) &&
      [value.errors, value.changed_files].every((list) => Array.isArray(list));
    return isWhole ? value : undefined;
  } catch {
    return undefined;
  }
}

export type Results = ReturnType<typeof openResults>;

/**
 * Opens the results for durable appends: a line is on the disk when `append` returns. Throws `StartError` when it
 * cannot be written.
 */
export function openResults(folder: string) {
  const { tallies, warnings } = readResults(folder);
  const file = join(folder, resultsName);
  return {
    tallies: tallies as ReadonlyMap<string, Readonly<TaskTally>>,
    warnings,
    append(line: ResultLine): void {
      try {
        appendLine(file, JSON.stringify(line));
      } catch (error) {
        throw new StartError(`cannot write ${file}: ${(error as NodeJS.ErrnoException).code ?? error}`, 1);
      }
      count(tallies, line);
    },
  };
}

/** Returns the dollars of all runs of all tasks. */
export function costOf(tallies: ReadonlyMap<string, Readonly<TaskTally>>): number {
  return [...tallies.values()].reduce((sum, { cost }) => sum + cost, 0);
}

type Begun = { options: TaskOptions };

function makeOut(folder: string, shown: string): void {
  try {
    makeFolders(folder, 0o700);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`--out ${shown} cannot be created (${code}): choose a writable folder`);
  }
}

/** Creates the folder, or checks that it belongs to this batch. Throws `UsageError`. */
export function enterFolder(folder: string, shown: string, options: TaskOptions): void {
  const file = join(folder, "batch.json");
  if (!existsSync(file)) {
    const strange = existsSync(folder) && readdirSync(folder).some((name) => !isClaim(name));
    if (strange) throw new UsageError(`${shown} contains other files: choose a new folder with --out`);
    makeOut(folder, shown);
    // The results may lie in the project, but are not part of it.
    writeFileSync(join(folder, ".gitignore"), "*\n");
    replaceFile(file, `${JSON.stringify({ version: 1, options: lasting(options) })}\n`);
    return;
  }
  const begun = JSON.parse(readFileSync(file, "utf8")) as Begun;
  const [was, is] = [begun.options, lasting(options)];
  for (const key of new Set([...Object.keys(was), ...Object.keys(is)])) {
    const name = key as keyof TaskOptions;
    if (isDeepStrictEqual(was[name], is[name])) continue;
    const flag = `--${key.replaceAll("_", "-")}`;
    throw new UsageError(
      `${shown} was started with ${optionText(flag, was[name])}, not ${optionText(flag, is[name])}: use the same option, or another --out`,
    );
  }
}

function optionText(flag: string, value: unknown): string {
  return value === undefined ? `no ${flag}` : `${flag} ${Array.isArray(value) ? value.join(" ") : value}`;
}

/**
 * Returns the options that must not change between runs, which would mix two batches; limits may be raised. As JSON.
 */
function lasting({ max_turns: _, max_budget_usd: __, max_time: ___, ...options }: TaskOptions): TaskOptions {
  return JSON.parse(JSON.stringify(options)) as TaskOptions;
}

/** Returns the folders of the runs of a task, inside the folder of the batch, oldest first. */
export function runsOf(folder: string, id: string): string[] {
  const taskFolder = join(folder, "tasks", id);
  const names = existsSync(taskFolder)
    ? readdirSync(taskFolder).filter((name) => /^run-\d+$/.test(name))
    : [];
  return names.sort((a, b) => Number(a.slice(4)) - Number(b.slice(4))).map((name) => `tasks/${id}/${name}`);
}
