/** Adds up the results of a batch, as an object and as a table. Pure. */

import { formatDuration, money, plural } from "../../context/report/amounts.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { cut, filled } from "../../report/text/columns.ts";
import type { RunSignal } from "../headless/result.ts";
import type { LastRun, TaskTally } from "./results.ts";

/** The reason why no further task was started. */
export type Halt = "signal" | "max_time" | "max_budget" | "credentials" | "machine" | "taken";

export type BatchOutcome = {
  tasks: readonly { id: string }[];
  tallies: ReadonlyMap<string, Readonly<TaskTally>>;
  halt?: Halt;
  signal?: RunSignal;
};

/** Summarises the newest results of the tasks, with dollars and calls of all their runs. */
export function summaryOf({ tasks, tallies, halt }: BatchOutcome) {
  const ids = new Set(tasks.map(({ id }) => id));
  const states: Record<string, number> = {};
  for (const id of ids) {
    const state = tallies.get(id)?.last.state ?? "not_run";
    states[state] = (states[state] ?? 0) + 1;
  }
  const counted = [...ids].flatMap((id) => tallies.get(id) ?? []);
  const sum = (of: (tally: TaskTally) => number): number =>
    counted.reduce((all, tally) => all + of(tally), 0);
  return {
    type: "batch",
    tasks: tasks.length,
    done: states.done ?? 0,
    states,
    runs: sum(({ runs }) => runs.length),
    num_turns: sum(({ turns }) => turns),
    total_cost_usd: sum(({ cost }) => cost),
    duration_ms: sum(({ durationMs }) => durationMs),
    stopped_by: halt ?? null,
  };
}

/** Returns 0 when all are done; a reason that stopped the batch beats the outcome of its tasks. */
export function exitCodeOf(ending: BatchOutcome): number {
  const { done, tasks } = summaryOf(ending);
  const { halt, signal } = ending;
  if (halt === "signal") return { SIGTERM: 143, SIGHUP: 129, SIGINT: 130 }[signal ?? "SIGINT"];
  if (halt === "max_time" || halt === "max_budget") return 3;
  if (halt === "credentials") return 4;
  if (halt === "machine") return 7;
  return done === tasks ? 0 : 1;
}

/** With more tasks, only those that are not done have a row. */
const mostRows = 40;

/** Returns one row a task and a total, in at most `width` columns. */
export function summaryText(ending: BatchOutcome, width: number): string {
  const { tasks, tallies } = ending;
  const results = tasks.map(({ id }) => ({ id, last: tallies.get(id)?.last }));
  const open = results.length > mostRows ? results.filter(({ last }) => last?.state !== "done") : results;
  const idWidth = Math.min(28, Math.max(4, ...open.map(({ id }) => id.length)));
  const rows = open.slice(0, mostRows).map(({ id, last }) => row(id, last, idWidth));
  const head = `${"task".padEnd(idWidth)}  state        calls       cost      time  `;
  const more = open.length > mostRows ? [`… and ${open.length - mostRows} more not done`] : [];
  return [head, ...rows, ...more, "", totalText(ending)]
    .map((line) => `${cut(line, width).trimEnd()}\n`)
    .join("");
}

function row(id: string, last: LastRun | undefined, idWidth: number): string {
  if (!last) return `${filled(id, idWidth)}  not run`;
  const { state, num_turns: turns, total_cost_usd: cost, duration_ms: ms, error } = last;
  const what = state === "done" ? plural(last.changedFiles, "file") : cleanLine(error ?? "");
  const figures = [String(turns).padStart(5), money(cost).padStart(9), runTime(ms).padStart(8)];
  return `${filled(id, idWidth)}  ${state.padEnd(11)}  ${figures.join("  ")}  ${state === "done" ? `${what} changed` : what}`;
}

function totalText(ending: BatchOutcome): string {
  const { tasks, states, num_turns: turns, total_cost_usd: cost, duration_ms: ms } = summaryOf(ending);
  const parts = Object.entries(states).map(([state, count]) => `${count} ${state.replace("_", " ")}`);
  return `${plural(tasks, "task")}: ${parts.join(", ")}; ${plural(turns, "call")}, ${money(cost)}, ${runTime(ms)} of work`;
}

/** Formats milliseconds, exact enough for a task of a few seconds. */
export function runTime(ms: number): string {
  return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : formatDuration(ms);
}
