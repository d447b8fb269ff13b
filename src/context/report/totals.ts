/** Totals over the answered steps of a session that may still grow. Pure. */

import { inputTotal } from "../../core/model-card.ts";
import { estimateError, type Miss, type StepRow } from "./steps.ts";

export type StepTotals = {
  /** Input tokens over the answered steps. */
  size: { peak: number; mean: number; last: number };
  cache: { hitRate: number; misses: Record<Miss, number> };
  /** Errors of the size estimate, as shares without their sign. */
  estimate: { median: number; p95: number };
};

/** Adds up steps in their order, each once it was answered; `totals` costs the same however many there were. */
export function totalsReader(): { add(row: StepRow): void; totals(): StepTotals } {
  const misses: Record<Miss, number> = { edit: 0, cold: 0, model: 0, unexpected: 0 };
  const size = { peak: 0, mean: 0, last: 0 };
  let [count, sum, read, input] = [0, 0, 0, 0];
  let errors: number[] = [];
  let fresh: number[] = [];
  const add = (row: StepRow): void => {
    const { tokens, usage, miss } = row;
    if (!usage) return;
    count += 1;
    sum += tokens;
    size.peak = Math.max(size.peak, tokens);
    size.last = tokens;
    if (miss) misses[miss] += 1;
    read += usage.cacheReadTokens;
    input += inputTotal(usage);
    fresh.push(Math.abs(estimateError(row) ?? 0));
  };
  const totals = (): StepTotals => {
    if (fresh.length > 0) errors = merged(errors, fresh);
    fresh = [];
    return {
      size: { ...size, mean: Math.round(sum / Math.max(1, count)) },
      cache: { hitRate: input === 0 ? 0 : read / input, misses: { ...misses } },
      estimate: { median: errorAt(errors, 0.5), p95: errorAt(errors, 0.95) },
    };
  };
  return { add, totals };
}

/** Returns both lists in order: many new ones are sorted with the others, a few find their places. */
function merged(sorted: number[], added: readonly number[]): number[] {
  if (added.length > 16) return [...sorted, ...added].sort((a, b) => a - b);
  for (const value of added) {
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) < value) low = middle + 1;
      else high = middle;
    }
    sorted.splice(low, 0, value);
  }
  return sorted;
}

function errorAt(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
