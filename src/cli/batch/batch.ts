/** `sawtooth batch`: runs a file of tasks, one process and one workspace each. An interrupted batch can be resumed. */

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { duration } from "../../config/values.ts";
import { StartError, UsageError } from "../../core/errors.ts";
import { type Claim, claimFolder } from "../../disk/claim.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { taskDefaults } from "../arguments/task-options.ts";
import { type Stop, stopOnSignals } from "../headless/headless.ts";
import { removeFolder } from "./copy.ts";
import { type Mirrors, openMirrors } from "./mirror.ts";
import { openPlaces, type Places, removedFrom } from "./places.ts";
import { type BatchProgress, batchProgress, printSummary } from "./progress.ts";
import {
  costOf,
  enterFolder,
  openResults,
  type ResultLine,
  type Results,
  runsOf,
  type TaskState,
} from "./results.ts";
import { forgetEnd, keptLine, statesOf } from "./run-end.ts";
import { type Halt, runTime } from "./summary.ts";
import { type BatchPorts, batchMark, blank, runTask } from "./task-run.ts";
import { readTasks, resolved, type Task } from "./tasks.ts";

/** States that are not run again. With --retry only done tasks are kept. */
const settled: readonly TaskState[] = ["done", "failed", "limit", "blocked"];
const usualJobs = 4;
/** Milliseconds between two tries to write a result, and how many there are: ten minutes in all. */
const recordMs = 2_000;
const recordTries = 300;

type Batch = {
  tasks: readonly Task[];
  queue: Task[];
  results: Results;
  flags: FlagsOf<"batch">;
  ports: BatchPorts;
  out: string;
  stop: Stop;
  /** Aborts by a signal, the clock, or when the folder is no longer ours. */
  signal: AbortSignal;
  claim: Claim;
  progress: BatchProgress;
  places: Places;
  mirrors: Mirrors;
  /** Dollars that running tasks may still spend. */
  reserved: number;
  halt?: Halt;
  /** Keeps this machine from running tasks: `cannot write to /tmp: ENOSPC`. */
  fault?: string;
};

/** Runs all tasks without a result. Returns the exit code (design §5). Throws `UsageError` before anything is run. */
export async function runBatch(
  operands: readonly string[],
  flags: FlagsOf<"batch">,
  ports: BatchPorts,
): Promise<number> {
  if (flags.summary) return printSummary(operands, flags);
  const [file = ""] = operands;
  const options = resolved(taskDefaults(flags), process.cwd());
  const all = readTasks(file, options);
  checkBudgets(all, file, flags);
  if (flags.keepTrees && flags.trees !== undefined)
    throw new UsageError("--keep-trees keeps the files in --out: leave --trees away");
  const shown = flags.out ?? "";
  enterFolder(resolve(shown), shown, options);
  const out = realpathSync(resolve(shown));
  const tasks = all.filter((_, index) => inShard(index, flags.shard));
  const progress = batchProgress({ all: tasks.length, flags, out: shown });
  const claim = await claimed(out, shown, progress);
  try {
    refuseAnother(all, out, shown);
    return await runClaimed({ tasks, flags, ports, out, claim, progress }, all);
  } finally {
    claim.release();
  }
}

/** Runs the tasks in a folder that is ours. Returns the exit code. */
async function runClaimed(
  given: Pick<Batch, "tasks" | "flags" | "ports" | "out" | "claim" | "progress">,
  all: readonly Task[],
): Promise<number> {
  const { tasks, flags, ports, out, claim, progress } = given;
  const places = openPlaces(out, flags);
  try {
    const results = openResults(out);
    // Processes left by a killed batch would continue to spend.
    ports.endFamily(batchMark, out);
    for (const warning of results.warnings) progress.warn(warning);
    await settleInterrupted(all, { out, results, ports, flags });
    await places.tidy();
    const queue = waiting(tasks, results, flags, progress);
    const stop = stopOnSignals();
    stop.stopAt(flags.maxTimeMs === undefined ? undefined : Date.now() + flags.maxTimeMs);
    const whole: Batch = {
      ...given,
      ...{ queue, results, stop, places },
      signal: AbortSignal.any([stop.signal, claim.lost]),
      mirrors: openMirrors(places.mirrors, { ...ports.processes.environment("batch"), [batchMark]: out }),
      reserved: 0,
    };
    progress.begin(results, tasks, queue.length);
    await work(whole);
    return ended(whole);
  } finally {
    places.close();
  }
}

/** Reports how it ended. Returns the exit code. */
function ended({ tasks, results, queue, halt, fault, stop, progress }: Batch): number {
  const signal = stop.by();
  return progress.end({
    ...{ tasks, results, queue },
    ...(halt ? { halt } : {}),
    ...(fault === undefined ? {} : { fault }),
    ...(signal ? { signal } : {}),
  });
}

/** Claims the folder. Throws `UsageError` when another process has it. */
async function claimed(out: string, shown: string, progress: BatchProgress): Promise<Claim> {
  const claim = await claimFolder(out, (host, ms) =>
    progress.warn(
      `${shown} was in use on ${host}: if it is silent for ${runTime(ms)}, this batch takes over`,
    ),
  );
  if (!("host" in claim)) return claim;
  throw new UsageError(
    `${shown} is in use by process ${claim.pid} on ${claim.host}: wait for it to end, or choose another --out`,
  );
}

/** Checks the budgets: a limit over all tasks can only be kept when each has one. */
function checkBudgets(tasks: readonly Task[], file: string, { maxBudgetUsd }: FlagsOf<"batch">): void {
  if (maxBudgetUsd === undefined) return;
  const open = tasks.find(({ options }) => options.max_budget_usd === undefined);
  if (open)
    throw new UsageError(
      `${file} line ${open.line}: with --max-budget-usd each task needs a ceiling: max_budget_usd in its line, or --task-budget-usd for all`,
    );
}

function refuseAnother(tasks: readonly Task[], out: string, shown: string): void {
  const there = tasksIn(out);
  const ids = new Set(tasks.map(({ id }) => id));
  if (there.length > 0 && !there.some((id) => ids.has(id)))
    throw new UsageError(
      `${shown} holds the results of another batch (with the task ${there[0]}): name another folder with --out`,
    );
}

function inShard(index: number, shard: FlagsOf<"batch">["shard"]): boolean {
  return shard === undefined || index % shard.of === shard.part - 1;
}

/**
 * Writes a result for each run that was interrupted with its batch, so that its cost counts, and removes its files. One
 * whose agent had ended has its own result. Only tasks that were begun are looked at: of thousands, a part runs few.
 */
async function settleInterrupted(tasks: readonly Task[], batch: Settling): Promise<void> {
  const begun = new Set(tasksIn(batch.out));
  for (const task of tasks.filter(({ id }) => begun.has(id))) {
    const known = new Set(batch.results.tallies.get(task.id)?.runs);
    for (const run of runsOf(batch.out, task.id)) await settle(task, run, known.has(run), batch);
  }
}

type Settling = Pick<Batch, "out" | "results" | "ports" | "flags">;

async function settle(task: Task, run: string, isKnown: boolean, batch: Settling): Promise<void> {
  const { out, results, ports, flags } = batch;
  const [folder, tree] = [join(out, run), join(out, run, "tree")];
  const kept = isKnown ? undefined : await keptLine(out, run, ports.processes.environment("batch"));
  if (!isKnown) results.append(kept ?? killed(task, run, batch));
  const ended = isKnown || (kept && flags.keepTrees);
  for (const left of [removedFrom(tree), statesOf(tree), ...(ended ? [] : [tree])])
    if (existsSync(left)) await removeFolder(left);
  forgetEnd(folder);
}

function killed(task: Task, run: string, { out, ports }: Settling): ResultLine {
  const { turns, cost, sessionId } = ports.spent(join(out, run, "session"));
  return {
    ...blank(task, run, Date.now()),
    errors: ["the batch was killed"],
    num_turns: turns,
    total_cost_usd: cost,
    session_id: sessionId,
  };
}

/** Returns the ids of the tasks that have a folder. */
function tasksIn(out: string): string[] {
  const folder = join(out, "tasks");
  return existsSync(folder) ? readdirSync(folder) : [];
}

function waiting(
  tasks: readonly Task[],
  results: Results,
  { retry }: FlagsOf<"batch">,
  progress: BatchProgress,
): Task[] {
  return tasks.filter(({ id, hash }) => {
    const result = results.tallies.get(id)?.last;
    if (!result) return true;
    const isSettled = retry ? result.state === "done" : settled.includes(result.state);
    if (isSettled && result.hash === hash) return false;
    if (result.hash !== hash) progress.again(id, "its line changed");
    else progress.again(id, result.error ? `${result.state}: ${result.error}` : result.state);
    return true;
  });
}

async function work(whole: Batch): Promise<void> {
  const { queue, flags, progress } = whole;
  const jobs = flags.jobs ?? Math.min(usualJobs, availableParallelism());
  const running = new Set<Promise<void>>();
  for (;;) {
    const halt = whole.halt ?? haltNow(whole);
    if (halt) whole.halt = halt;
    while (running.size < jobs && !whole.halt && mayBegin(whole, running.size)) {
      const task = queue.shift();
      if (!task) break;
      const run = runOne(whole, task).finally(() => running.delete(run));
      running.add(run);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  progress.quiet();
}

/** Returns a reason to start no further task, by what can be seen now. */
function haltNow(whole: Batch): Halt | undefined {
  const { stop, claim, places, queue } = whole;
  if (!claim.isHeld()) return "taken";
  if (stop.signal.aborted) return stop.signal.reason === "max_time" ? "max_time" : "signal";
  if (queue.length === 0) return undefined;
  const fault = places.fault();
  if (fault !== undefined) whole.fault = fault;
  return fault === undefined ? undefined : "machine";
}

/** Returns true when there is money for the next task. The limits of running tasks count as spent. */
function mayBegin(whole: Batch, running: number): boolean {
  const { queue, flags, results, reserved } = whole;
  const [next] = queue;
  if (!next || flags.maxBudgetUsd === undefined) return next !== undefined;
  if (costOf(results.tallies) + reserved + ceilingOf(next) <= flags.maxBudgetUsd) return true;
  // Running tasks may leave something over.
  if (running === 0) whole.halt = "max_budget";
  return false;
}

function ceilingOf({ options }: Task): number {
  return Number(options.max_budget_usd ?? 0);
}

async function runOne(whole: Batch, task: Task): Promise<void> {
  const { out, ports, signal, flags, progress, places } = whole;
  const runs = runsOf(out, task.id);
  const number = 1 + Number(/\d+$/.exec(runs.at(-1) ?? "")?.[0] ?? 0);
  const time = task.options.max_time;
  whole.reserved += ceilingOf(task);
  const { line, fault, remove } = await runTask(
    task,
    `tasks/${task.id}/run-${number}`,
    time === undefined ? undefined : duration("max_time", String(time)),
    {
      ...{ ports, out, places, signal, mirrors: whole.mirrors, keepTrees: flags.keepTrees },
      onStart: (prepared) => progress.started(task.id, prepared),
      onWarning: (text) => progress.warn(`${task.id}: ${text}`),
      onTurns: (turns) => progress.turns(task.id, turns),
    },
  );
  whole.reserved -= ceilingOf(task);
  if (fault !== undefined) Object.assign(whole, { halt: whole.halt ?? "machine", fault });
  if (await record(whole, line)) progress.ended(line);
  await remove();
  if (line.state === "credentials") whole.halt ??= "credentials";
}

/**
 * Writes the line, as soon as it can be written: it may be all that is left of much money. Returns false when the folder
 * is another's by now. Throws `StartError`.
 */
async function record({ results, claim, progress, stop }: Batch, line: ResultLine): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    if (!claim.isHeld()) return false;
    try {
      results.append(line);
      return true;
    } catch (error) {
      if (!(error instanceof StartError) || tries === recordTries || stop.signal.aborted) throw error;
      if (tries === 1)
        progress.warn(`${error.message}; trying again for ${runTime(recordMs * recordTries)}: make room`);
      await sleep(recordMs);
    }
  }
}
