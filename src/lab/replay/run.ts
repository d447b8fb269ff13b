/** One recording under several stacks and prices: the work of a replay that can be done apart from the rest. */

import { type LineTable, lineTable } from "../../context/reuse/lines.ts";
import type { Recording } from "../recordings/import.ts";
import { importRecording } from "../recordings/import.ts";
import { offlineOptimum } from "./optimum.ts";
import { type Replayed, replay } from "./replay.ts";
import { priceCard, stackOf } from "./stack.ts";

export type ReplayRequest = {
  /** As `--context` and `--prices` name them. */
  contexts: readonly string[];
  prices: readonly string[];
  gaps: "recorded" | "ignore";
  /** Soft window in tokens. */
  window?: number;
};

/** One file under one stack, at all prices. */
export type Job = Pick<ReplayRequest, "prices" | "gaps" | "window"> & { file: string; context: string };

export type ReplayRow = Replayed & {
  file: string;
  format: Recording["format"];
  context: string;
  prices: string;
  history: "free" | "prefix_bound";
  /** For masking: dollars that it costs at least, whenever it flushes. */
  optimum?: number;
};

export type JobResult = { rows: ReplayRow[]; warnings: string[] };

/** Runs jobs; the recording of the newest one is kept with its optima, since the next job is mostly about the same. */
export function jobRunner(): (job: Job) => JobResult {
  let recording: Recording | undefined;
  let lines: LineTable = lineTable();
  const optima = new Map<string, number>();
  return (job) => {
    if (recording?.file !== job.file) {
      recording = importRecording(job.file);
      lines = lineTable();
      optima.clear();
    }
    const { events, format, warnings, file } = recording;
    const optimumOf = (options: Parameters<typeof offlineOptimum>[1], key: string): number => {
      const cost = optima.get(key) ?? offlineOptimum(events, options).cost;
      optima.set(key, cost);
      return cost;
    };
    const stack = stackOf(job.context);
    if (job.window !== undefined) stack.engine = { ...stack.engine, window: job.window };
    const rows = job.prices.map((prices): ReplayRow => {
      const card = priceCard(prices);
      const { gaps, context } = job;
      const row = { file, format, context, prices, history: card.contract.history };
      const maskKeep = stack.engine.maskKeep ?? 10;
      const bound =
        stack.base === "masking" && !stack.ingests
          ? { optimum: optimumOf({ card, gaps, maskKeep }, `${prices} ${gaps} ${maskKeep}`) }
          : {};
      return { ...row, ...replay(events, { card, stack, gaps, lines }), ...bound };
    });
    return { rows, warnings: warnings.map((warning) => `${file}: ${warning}`) };
  };
}
