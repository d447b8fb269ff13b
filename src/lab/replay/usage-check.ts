/** Compares the engine's token estimate with the counts of a recording's provider. Pure. */

import { fixedTokens } from "../../context/view/tokens.ts";
import { viewReader } from "../../context/view/view.ts";
import type { LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";

export type UsageCheck = {
  /** Replies that carry usage. */
  replies: number;
  /** Tokens that every prompt has and the recording lacks: the system prompt, the tools. */
  missing: number;
  /** Counted over estimated tokens of what the recording has. */
  factor: number;
  /** Shares by which the calibrated estimate is off. */
  median: number;
  p95: number;
};

/** Undefined when fewer than ten replies carry usage. The calibration is a straight line through all of them. */
export function checkUsage(events: readonly LogEvent[]): UsageCheck | undefined {
  const points = pointsOf(events);
  if (points.length < 10) return undefined;
  const { missing, factor } = lineThrough(points);
  const errors = points
    .map(({ estimated, counted }) => Math.abs(missing + factor * estimated - counted) / counted)
    .sort((a, b) => a - b);
  const at = (share: number) => errors[Math.floor(share * (errors.length - 1))] ?? 0;
  return { replies: points.length, missing: Math.round(missing), factor, median: at(0.5), p95: at(0.95) };
}

type Point = { estimated: number; counted: number };

function pointsOf(events: readonly LogEvent[]): Point[] {
  const fixed = fixedTokens(events);
  const points: Point[] = [];
  const read: LogEvent[] = [];
  const reader = viewReader();
  for (const event of events) {
    const counted = event.type === "assistant_message" ? inputTotal(event.usage) : 0;
    if (counted > 0) points.push({ estimated: fixed + reader.read(read).tokens, counted });
    read.push(event);
  }
  return points;
}

/** Least squares. */
function lineThrough(points: readonly Point[]): { missing: number; factor: number } {
  const mean = (of: (point: Point) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [x, y] = [mean(({ estimated }) => estimated), mean(({ counted }) => counted)];
  const slope =
    mean(({ estimated, counted }) => (estimated - x) * (counted - y)) /
    Math.max(
      1e-9,
      mean(({ estimated }) => (estimated - x) ** 2),
    );
  return { missing: y - slope * x, factor: slope };
}
