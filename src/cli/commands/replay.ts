/** `sawtooth replay`: passes the command line to the lab, and shows its result. */

import { availableParallelism } from "node:os";
import { UsageError } from "../../core/errors.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { showHidden } from "../../core/text/hidden-characters.ts";
import type { Replays } from "../../lab/replay/jobs.ts";
import { recordingsIn, replayFiles } from "../../lab/replay/jobs.ts";
import type { ReplayRequest } from "../../lab/replay/run.ts";
import { defaultStacks, priceCard, stackOf } from "../../lab/replay/stack.ts";
import { brokenText, csvText, jsonText, tableText } from "../../lab/replay/table.ts";
import type { Command } from "../arguments/arguments.ts";
import { writeError, writeOut } from "../terminal-output.ts";

type ReplayCommand = Extract<Command, { name: "replay" }>;
type Plan = ReplayRequest & { files: string[]; jobs: number; format: Format };
type Format = ReplayCommand["flags"]["tableFormat"];

const defaultPrices = "anthropic/claude-sonnet-5-5";

/** Replays the operands. Exit code 0; 1 when a file could not be replayed or a request would be refused. */
export async function runReplay(command: ReplayCommand): Promise<number> {
  const plan = planOf(command);
  if (command.flags.reuse) return (await import("./replay-reuse.ts")).replayReuse(plan.files, command.flags);
  if (command.flags.permissions)
    return (await import("./replay-permissions.ts")).replayPermissions(plan.files, command.flags);
  if (command.flags.tune) return tune(plan);
  const replays = await replayFiles({ ...plan, ...progress(process.stderr) });
  printProblems(replays);
  if (replays.rows.length === 0) throw new UsageError("none of the files could be replayed");
  const broken = brokenText(replays.rows);
  for (const line of broken) complain(line);
  writeOut(`${shown(replays, plan.format)}\n`);
  if (command.flags.html !== undefined) {
    const { writeReplayPage } = await import("./replay-reuse.ts");
    await writeReplayPage(command.flags.html, replays.rows, plan.files);
  }
  return replays.problems.length + broken.length > 0 ? 1 : 0;
}

async function tune(plan: Plan): Promise<number> {
  const [prices = defaultPrices, other] = plan.prices;
  if (other !== undefined) throw new UsageError("--tune takes one model at a time: name one with --prices");
  const { tuneFor } = await import("../../lab/replay/tune.ts");
  const { text, problems } = await tuneFor({ ...plan, prices, ...progress(process.stderr) });
  for (const problem of problems) complain(problem);
  if (text === "") throw new UsageError("none of the files could be replayed");
  writeOut(`${text}\n`);
  return problems.length > 0 ? 1 : 0;
}

/** Plans a replay. Throws `UsageError` for an invalid command line, before anything is read. */
function planOf({ operands, flags }: ReplayCommand): Plan {
  const others = (["tune", "permissions", "reuse"] as const).filter((flag) => flags[flag]);
  if (others.length > 1) throw new UsageError(`--${others.join(" and --")}: take one at a time`);
  if (operands.length === 0)
    throw new UsageError("replay needs recordings: sawtooth replay <files or folders> (see sawtooth --help)");
  const contexts = flags.contexts ?? defaultStacks;
  const prices = flags.prices ?? [defaultPrices];
  for (const context of contexts) usable(() => stackOf(context));
  for (const price of prices) usable(() => priceCard(price));
  const files = [...new Set(recordingsIn(operands))];
  if (files.length === 0)
    throw new UsageError(`no recordings in ${operands.join(", ")}: .jsonl, .traj, .traj.json`);
  return {
    files,
    // The baseline is always included.
    contexts: [...new Set(["raw", ...contexts])],
    prices: [...new Set(prices)],
    gaps: flags.gaps,
    format: flags.tableFormat,
    jobs: jobsOf(flags.threads, files.length),
    ...(flags.window === undefined ? {} : { window: flags.window }),
  };
}

function usable(check: () => unknown): void {
  try {
    check();
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const mostJobs = 8;

function jobsOf(threads: number | undefined, files: number): number {
  if (threads !== undefined && threads > 99)
    throw new UsageError(`--jobs ${threads}: must be a number of threads from 1 to 99`);
  return threads ?? Math.min(mostJobs, availableParallelism(), 2 * files);
}

function shown({ rows }: Replays, format: Format): string {
  switch (format) {
    case "table":
      return tableText(rows);
    case "json":
      return jsonText(rows);
    case "csv":
      return csvText(rows);
  }
}

function printProblems({ problems, warnings }: Replays): void {
  for (const line of [...problems, ...warnings]) complain(line);
}

function complain(line: string): void {
  writeError(`sawtooth: ${line}\n`);
}

const barWidth = 24;

/** Draws a progress bar in place; nothing where stderr is no terminal. */
function progress(out: NodeJS.WriteStream): {
  onProgress?: (done: number, all: number, label: string) => void;
} {
  if (!out.isTTY) return {};
  return {
    onProgress(done, all, label) {
      const full = Math.round((done / all) * barWidth);
      const bar = "█".repeat(full) + "░".repeat(barWidth - full);
      const room = Math.max(0, (out.columns || 80) - barWidth - 12);
      const what = showHidden(cleanLine(label)).slice(-room);
      out.write(`\r\x1b[K${bar} ${done}/${all} ${what}${done === all ? "\r\x1b[K" : ""}`);
    },
  };
}
