/** `sawtooth batch`: runs a file of tasks, one process and one workspace each. An interrupted batch can be resumed. */

import { existsSync, readdirSync, realpathSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { duration } from "../../config/values.ts";
import { UsageError } from "../../core/errors.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { taskDefaults } from "../arguments/task-options.ts";
import { type Stop, stopOnSignals } from "../headless/headless.ts";
import { removeFolder } from "./copy.ts";
import { type BatchProgress, batchProgress, printSummary } from "./progress.ts";
import { costOf, enterFolder, openResults, type Results, runsOf, type TaskState } from "./results.ts";
import type { Halt } from "./summary.ts";
import { type BatchPorts, batchMark, blank, runTask } from "./task-run.ts";
import { readTasks, resolved, type Task } from "./tasks.ts";
import type { Mirrors } from "./tree.ts";

/** States that are not run again. With --retry only done tasks are kept. */
const settled: readonly TaskState[] = ["done", "failed", "limit", "blocked"];
const usualJobs = 4;

type Batch = {
  tasks: readonly Task[];
  queue: Task[];
  results: Results;
  flags: FlagsOf<"batch">;
  ports: BatchPorts;
  out: string;
  stop: Stop;
  progress: BatchProgress;
  mirrors: Mirrors;
  /** Dollars that running tasks may still spend. */
  reserved: number;
  halt?: Halt;
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
  const shown = flags.out ?? "";
  enterFolder(resolve(shown), shown, options);
  const out = realpathSync(resolve(shown));
  const release = ports.claim(out, shown);
  try {
    const results = openResults(out);
    refuseAnother(all, out, shown);
    // Processes left by a killed batch would continue to spend.
    ports.endFamily(batchMark, out);
    const tasks = all.filter((_, index) => inShard(index, flags.shard));
    const progress = batchProgress({ all: tasks.length, flags, out: shown });
    for (const warning of results.warnings) progress.warn(warning);
    await settleInterrupted(all, out, results, ports);
    const queue = waiting(tasks, results, flags, progress);
    const stop = stopOnSignals();
    stop.stopAt(flags.maxTimeMs === undefined ? undefined : Date.now() + flags.maxTimeMs);
    const whole: Batch = {
      tasks,
      queue,
      results,
      flags,
      ports,
      out,
      stop,
      progress,
      mirrors: new Map(),
      reserved: 0,
    };
    progress.begin(results, tasks, queue.length);
    await work(whole);
    const signal = stop.by();
    return progress.end({
      tasks,
      results,
      queue,
      ...(whole.halt ? { halt: whole.halt } : {}),
      ...(signal ? { signal } : {}),
    });
  } finally {
    release();
  }
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
  const folder = join(out, "tasks");
  const there = existsSync(folder) ? readdirSync(folder) : [];
  const ids = new Set(tasks.map(({ id }) => id));
  if (there.length > 0 && !there.some((id) => ids.has(id)))
    throw new UsageError(
      `${shown} holds the results of another batch (with the task ${there[0]}): name another folder with --out`,
    );
}

function inShard(index: number, shard: FlagsOf<"batch">["shard"]): boolean {
  return shard === undefined || index % shard.of === shard.part - 1;
}

/** Writes a result for each run that was interrupted with its batch, so that its cost counts, and removes its files. */
async function settleInterrupted(
  tasks: readonly Task[],
  out: string,
  results: Results,
  ports: BatchPorts,
): Promise<void> {
  for (const task of tasks) {
    const known = new Set(results.tallies.get(task.id)?.runs);
    for (const run of runsOf(out, task.id)) {
      if (known.has(run)) continue;
      const { turns, cost, sessionId } = ports.spent(join(out, run, "session"));
      await removeFolder(join(out, run, "tree"));
      results.append({
        ...blank(task, run, Date.now()),
        errors: ["the batch was killed"],
        num_turns: turns,
        total_cost_usd: cost,
        session_id: sessionId,
      });
    }
  }
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
  const { queue, flags, stop, progress } = whole;
  const jobs = flags.jobs ?? Math.min(usualJobs, availableParallelism());
  const running = new Set<Promise<void>>();
  for (;;) {
    if (stop.signal.aborted) whole.halt ??= stop.signal.reason === "max_time" ? "max_time" : "signal";
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
  const { out, ports, results, stop, flags, progress } = whole;
  const runs = runsOf(out, task.id);
  const number = 1 + Number(/\d+$/.exec(runs.at(-1) ?? "")?.[0] ?? 0);
  const time = task.options.max_time;
  whole.reserved += ceilingOf(task);
  const line = await runTask(
    task,
    `tasks/${task.id}/run-${number}`,
    time === undefined ? undefined : duration("max_time", String(time)),
    {
      ports,
      out,
      mirrors: whole.mirrors,
      keepTrees: flags.keepTrees,
      signal: stop.signal,
      onStart: (prepared) => progress.started(task.id, prepared),
      onWarning: (text) => progress.warn(`${task.id}: ${text}`),
      onTurns: (turns) => progress.turns(task.id, turns),
    },
  );
  whole.reserved -= ceilingOf(task);
  results.append(line);
  progress.ended(line);
  if (line.state === "credentials") whole.halt ??= "credentials";
}
