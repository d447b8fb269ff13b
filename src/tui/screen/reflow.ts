/** Models how a terminal rewraps the live area when its window changes, so that it can be found again. Pure. */

import type { Size } from "../rows/rows.ts";

/**
 * How a terminal treats its lines when it gets narrower. `exact`: wraps all of them, and the cursor stays at its
 * character. `xterm.js`: leaves the cursor's line alone, and moves the cursor down also for rows that come to stand
 * below it. `none`: cuts them off.
 */
export type Reflow = "exact" | "xterm.js" | "none";

/** Lines as they stand on the screen; the cursor is so many rows below the first one, in row `y` of the window. */
export type Region = { lines: { width: number; rows: number }[]; cursor: number; column: number; y: number };

/** Returns the region after the window changed from one size to another. */
export function reflowed(region: Region, from: Size, to: Size, mode: Reflow): Region {
  const resized = to.rows < from.rows ? lower(region, from, to) : higher(region, from, to);
  if (to.columns === from.columns || mode === "none") return resized;
  return mode === "exact" ? wrapped(resized, to.columns) : wrappedAround(resized, from.columns, to.columns);
}

/** Removes rows below the cursor first, then those at the top, which go into the scrollback. */
function lower(region: Region, from: Size, to: Size): Region {
  const gone = Math.min(from.rows - to.rows, from.rows - 1 - region.y);
  const below = heightOf(region.lines) - 1 - region.cursor;
  const empty = from.rows - 1 - region.y - below;
  return {
    ...region,
    lines: withoutRows(region.lines, Math.max(0, gone - empty)),
    y: Math.min(region.y, to.rows - 1),
  };
}

/** Brings rows back from the scrollback only while the cursor is in the last one. */
function higher(region: Region, from: Size, to: Size): Region {
  return region.y < from.rows - 1 ? region : { ...region, y: region.y + to.rows - from.rows };
}

function wrapped(region: Region, columns: number): Region {
  const at = lineAt(region);
  const lines = region.lines.map(({ width }) => ({ width, rows: rowsOf(width, columns) }));
  const within = Math.floor(region.column / Math.max(1, columns));
  return { ...region, lines, cursor: heightOf(lines.slice(0, at)) + within };
}

/**
 * Wraps from the bottom up, as the library does: the cursor has moved by the rows added below when a line is compared
 * with it, so the line that is left alone may be another one than the cursor's.
 */
function wrappedAround(region: Region, from: number, columns: number): Region {
  const lines = [...region.lines];
  let { cursor } = region;
  let start = heightOf(lines);
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index] ?? { width: 0, rows: 1 };
    start -= line.rows;
    const at = columns < from ? cursor : region.cursor;
    const skipped = at >= start && at < start + line.rows;
    const rows = skipped ? line.rows : rowsOf(line.width, columns);
    lines[index] = { width: skipped ? Math.min(line.width, rows * columns) : line.width, rows };
    cursor += rows - line.rows;
  }
  return { ...region, lines, cursor };
}

/** Returns the index of the line that the cursor is in. */
function lineAt({ lines, cursor }: Region): number {
  let rows = 0;
  const found = lines.findIndex((line) => {
    rows += line.rows;
    return rows > cursor;
  });
  return found < 0 ? lines.length : found;
}

function withoutRows(lines: Region["lines"], count: number): Region["lines"] {
  const kept = [...lines];
  for (let left = count; left > 0 && kept.length > 0; ) {
    const last = kept.pop();
    if (last && last.rows > left) kept.push({ ...last, rows: last.rows - left });
    left -= last?.rows ?? 0;
  }
  return kept;
}

export function heightOf(lines: Region["lines"]): number {
  return lines.reduce((sum, { rows }) => sum + rows, 0);
}

function rowsOf(width: number, columns: number): number {
  return Math.max(1, Math.ceil(width / Math.max(1, columns)));
}
