/** The context over the steps of a session, as numbers and as a drawing. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { formatTokens } from "./amounts.ts";

/** Input tokens of each answered step, as the API reported them. */
export function contextSizes(events: readonly LogEvent[]): number[] {
  return events.flatMap((event) =>
    event.type === "assistant_message" && inputTotal(event.usage) > 0 ? [inputTotal(event.usage)] : [],
  );
}

/** `width`: total columns. `marks`: indexes of sizes to mark with an edit. `limit`: drawn when near. */
export type CurveOptions = { width?: number; height?: number; marks?: readonly number[]; limit?: number };

const eighths = [" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
const labelWidth = 5;

/** Draws the sizes as a bar chart with axes; the number of the last step is under the last bar. */
export function drawCurve(sizes: readonly number[], options: CurveOptions = {}): string[] {
  const { width = 80, height = 8, marks = [], limit = 0 } = options;
  if (sizes.length === 0) return [];
  const room = width - labelWidth - 2;
  const share = Math.ceil(sizes.length / room);
  const columns = squeeze(sizes, share);
  const wide = Math.max(1, Math.min(4, Math.floor(room / columns.length)));
  const peak = Math.max(1, ...columns);
  const top = peak > limit / 2 ? Math.max(peak, limit) : peak;
  const limitRow = limit > top || limit === 0 ? -1 : height - Math.ceil((limit / top) * height);
  const rows = Array.from({ length: height }, (_, row) => {
    const bars = columns.map((size) => barOf(size, top, height, row).repeat(wide)).join("");
    const drawn = row === limitRow ? bars.replaceAll(" ", "┈") : bars.trimEnd();
    const label = row % (height / 2) === 0 ? formatTokens((top * (height - row)) / height) : "";
    return `${label.padStart(labelWidth)} ${label ? "┤" : "│"}${drawn}`;
  });
  const axis = `${"0".padStart(labelWidth)} └${"─".repeat(columns.length * wide)}`;
  const below = [marksLine(marks, share, wide), stepsLine(sizes.length, columns.length * wide)];
  const indent = " ".repeat(labelWidth + 2);
  return [...rows, axis, ...below.filter((line) => line !== "").map((line) => indent + line)];
}

/** Returns the part of a bar in `row`, counted from the top. */
function barOf(size: number, top: number, height: number, row: number): string {
  const filled = Math.round((size / top) * height * 8) - (height - 1 - row) * 8;
  return eighths[Math.max(0, Math.min(8, filled))] ?? " ";
}

/** Merges neighbours into one column, which shows the largest. */
function squeeze(sizes: readonly number[], share: number): number[] {
  return Array.from({ length: Math.ceil(sizes.length / share) }, (_, index) =>
    Math.max(...sizes.slice(index * share, (index + 1) * share)),
  );
}

function marksLine(marks: readonly number[], share: number, wide: number): string {
  const columns = new Set(marks.map((index) => Math.floor(index / share) * wide));
  const last = Math.max(-1, ...columns);
  return Array.from({ length: last + 1 }, (_, column) => (columns.has(column) ? "▲" : " ")).join("");
}

function stepsLine(steps: number, columns: number): string {
  const last = String(steps);
  return columns < last.length + 3 ? last.padStart(columns) : `1${last.padStart(columns - 1)}`;
}
