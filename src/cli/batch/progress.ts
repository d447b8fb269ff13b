/** The output of a batch: a line for each event on stderr, one redrawn line on a terminal, and a table at its end. */

import { resolve } from "node:path";
import { money, plural } from "../../context/report/amounts.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";
import { cut } from "../../report/text/columns.ts";
import type { Flags } from "../arguments/options.ts";
import { writeError, writeLine, writeOut } from "../terminal-output.ts";
import { costOf, merged, type ResultLine, type Results, readResults } from "./results.ts";
import { type BatchOutcome, exitCodeOf, type Halt, runTime, summaryOf, summaryText } from "./summary.ts";
import type { Task } from "./tasks.ts";

export type BatchProgress = ReturnType<typeof batchProgress>;

/** `fault`: what is wrong with this machine. */
type Ending = Omit<BatchOutcome, "tallies"> & { results: Results; queue: readonly Task[]; fault?: string };

const redrawMs = 250;
/** Milliseconds between progress lines where nothing is redrawn. */
const heartbeatMs = 60_000;

/** Writes lines on stderr, and below them the state, redrawn in place; without a terminal repeated now and then. */
function liveLine(state: () => string, isBusy: () => boolean) {
  const { stderr } = process;
  // A closed terminal takes no more lines; the batch still ends in order.
  stderr.on("error", () => {});
  const say = (text: string): void => {
    stderr.write(`${stderr.isTTY ? "\r\x1b[K" : ""}${showHidden(cleanLine(text))}\n`);
  };
  const draw = (): void => {
    if (stderr.isTTY)
      stderr.write(`\r\x1b[K${cut(showHidden(cleanLine(state())), (stderr.columns || 80) - 1)}`);
    else if (isBusy()) say(state());
  };
  const timer = setInterval(draw, stderr.isTTY ? redrawMs : heartbeatMs);
  timer.unref();
  return {
    say,
    stop(): void {
      clearInterval(timer);
      if (stderr.isTTY) stderr.write("\r\x1b[K");
    },
  };
}

/** Creates the reporter. `all`: number of tasks; `out`: the folder as the user named it. */
export function batchProgress({ all, flags, out }: { all: number; flags: Flags; out: string }) {
  /** Model calls of the running tasks. */
  const live = new Map<string, number>();
  const began = Date.now();
  let ended = 0;
  let cost = 0;
  const state = (): string => {
    const running = [...live].map(([id, turns]) => `${id} (${turns})`).join(", ");
    return `${ended}/${all} finished, ${live.size} running${running ? `: ${running}` : ""}, ${money(cost)}, ${runTime(Date.now() - began)}`;
  };
  const { say, stop } = liveLine(state, () => live.size > 0);
  return {
    warn: (text: string) => say(`sawtooth: ${text}`),
    again: (id: string, why: string) => say(`${id}: running again (${cut(why, 120)})`),
    begin(results: Results, tasks: readonly Task[], waiting: number): void {
      const ids = new Set(tasks.map(({ id }) => id));
      const gone = [...results.tallies.keys()].filter((id) => !ids.has(id)).length;
      if (gone > 0) say(`${out} also contains ${plural(gone, "result")} of tasks that are not in this run`);
      ended = all - waiting;
      cost = costOf(results.tallies);
      say(`${plural(all, "task")}${ended > 0 ? `, ${ended} already finished` : ""}; results in ${out}`);
    },
    started(id: string, prepared: string): void {
      live.set(id, 0);
      say(`${id}: started, ${prepared}`);
    },
    turns(id: string, turns: number): void {
      live.set(id, turns);
    },
    ended(line: ResultLine): void {
      live.delete(line.id);
      if (line.state !== "interrupted") ended += 1;
      cost += line.total_cost_usd;
      const why = line.state === "done" ? "" : `: ${line.errors[0] ?? line.terminal_reason ?? ""}`;
      const facts = `${plural(line.num_turns, "call")}, ${money(line.total_cost_usd)}, ${runTime(line.duration_ms)}`;
      say(`${line.id}: ${line.state}, ${facts}${cut(why, 300)} [${ended}/${all}]`);
    },
    /** Stops redrawing. */
    quiet: stop,
    end(ending: Ending): number {
      const { results, halt } = ending;
      const whole: BatchOutcome = { ...ending, tallies: results.tallies };
      write(whole, flags, out);
      if (halt) say(haltText(halt, ending));
      return exitCodeOf(whole);
    },
  };
}

function write(ending: BatchOutcome, { outputFormat }: Flags, out: string): void {
  const summary = summaryOf(ending);
  if (outputFormat === "text") writeOut(summaryText(ending, process.stdout.columns || 80));
  else writeLine({ ...summary, out });
}

function haltText(halt: Halt, { queue, signal, fault = "" }: Ending): string {
  const left = queue.length;
  const again = `sawtooth ${process.argv.slice(2).map(quoted).join(" ")}`;
  const why: Record<Halt, string> = {
    signal: `stopped${signal ? ` by ${signal}` : ""}`,
    max_time: "stopped: the batch reached its time limit",
    max_budget: `stopped: the next task could exceed --max-budget-usd`,
    credentials: "stopped: the API key is missing or was rejected",
    machine: `stopped: ${fault}`,
    taken: "stopped: this batch was silent for too long, and another machine took its folder",
  };
  const todo = left > 0 ? `; ${plural(left, "task")} not started` : "";
  const advice: Partial<Record<Halt, string>> = {
    max_budget: "resume with a higher limit",
    machine: "make room, or resume on another machine with",
  };
  return `sawtooth: ${why[halt]}${todo} (${advice[halt] ?? "resume with"}: ${again})`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Runs `--summary`: reports the results in these folders as one batch. Returns the exit code. Throws `UsageError`. */
export function printSummary(folders: readonly string[], flags: Flags): number {
  const read = folders.map((folder) => readResults(resolve(folder)));
  for (const warning of read.flatMap(({ warnings }) => warnings)) writeError(`sawtooth: ${warning}\n`);
  const tallies = merged(read.map(({ tallies }) => tallies));
  const ending: BatchOutcome = { tallies, tasks: [...tallies.values()] };
  write(ending, flags, folders.join(" "));
  return exitCodeOf(ending);
}
