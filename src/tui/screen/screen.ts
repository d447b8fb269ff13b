/**
 * The writer: history is printed above, once and for good, into the terminal's own scrollback; below it a live area is
 * redrawn in place, changed lines only. One write a frame, in synchronized output; nothing above is ever cleared.
 */

import { type Caret, type Size, width } from "../rows/rows.ts";
import { heightOf, type Reflow, type Region, reflowed } from "./reflow.ts";

/** Painted lines, none wider than the window, and fewer than it has rows. */
export type Frame = { lines: readonly string[]; caret: Caret };

export type Screen = {
  /** Prints `history` above for good, and draws `frame` as the live area. */
  draw(history: readonly string[], frame: Frame): void;
  /** Records a new window size: the terminal has rewrapped its content. */
  resized(size: Size): void;
  /** Returns the number of lines at the top of the live area that have scrolled out of the window, whole or in part. */
  lost(): number;
  /** Makes this many lines at the top of the live area permanent. */
  keep(lines: number): void;
  /** Removes the live area; the cursor stands where it began. */
  clear(): void;
  /** Asks the terminal where the cursor is. */
  locate(): void;
  /** Receives the terminal's answer: the row of the window, from 0. */
  located(row: number): void;
};

const begin = "\x1b[?2026h";
const end = "\x1b[?2026l";
const eraseDown = "\x1b[J";
const eraseLine = "\x1b[K";

export type ScreenOptions = {
  write(bytes: string): void;
  size: Size;
  reflow: Reflow;
};

const noFrame: Frame = { lines: [], caret: { row: 0, column: 0 } };

const whereIsTheCursor = "\x1b[6n";

/** Creates a screen whose live area begins at the cursor, assumed in the first row until the terminal reports it. */
export function createScreen({ write, size, reflow }: ScreenOptions): Screen {
  let shown = noFrame;
  /** The window as last drawn for, and as it is now. */
  let [drawnFor, now] = [size, size];
  /** The position of `shown`. */
  let region: Region = { lines: [], cursor: 0, column: 0, y: 0 };
  let requestedAt = 0;
  const toTop = () => `${up(region.cursor)}\r`;
  /** Records that the live area begins `above` rows below where it began, and looks like `frame`. */
  const stands = (frame: Frame, above: number): void => {
    const { lines, caret } = frame;
    const top = Math.max(0, region.y - region.cursor) + above;
    const scrolled = Math.max(0, top + Math.max(1, lines.length) - now.rows);
    const laidOut = lines.map((line) => ({ width: width(withoutStyle(line)), rows: 1 }));
    region = { lines: laidOut, cursor: caret.row, column: caret.column, y: top - scrolled + caret.row };
    [shown, drawnFor] = [frame, now];
  };
  return {
    draw(history, frame) {
      const fresh = history.length > 0 || drawnFor !== now || shown.lines.length === 0;
      const old = heightOf(region.lines);
      const bytes = fresh ? redraw(toTop(), old, history, frame) : update(shown, frame);
      stands(frame, history.length);
      if (bytes !== "") write(begin + bytes + end);
    },
    resized(next) {
      if (next.columns === now.columns && next.rows === now.rows) return;
      region = reflowed(region, now, next, reflow);
      now = next;
    },
    lost() {
      const { lines, cursor, y } = region;
      const within = lines.findIndex((_, index) => heightOf(lines.slice(0, index)) >= cursor - y);
      return within < 0 ? lines.length : within;
    },
    keep(count) {
      const { lines, caret } = shown;
      const cursor = region.cursor - heightOf(region.lines.slice(0, count));
      if (cursor < 0) return;
      shown = { lines: lines.slice(count), caret: { ...caret, row: caret.row - count } };
      region = { ...region, lines: region.lines.slice(count), cursor };
    },
    clear() {
      if (shown.lines.length > 0) write(`${begin}${toTop()}${eraseDown}${end}`);
      stands(noFrame, 0);
    },
    locate() {
      requestedAt = region.y;
      write(whereIsTheCursor);
    },
    located(row) {
      const below = Math.max(0, region.lines.length - 1 - region.cursor);
      const y = Math.min(region.y + row - requestedAt, now.rows - 1 - below);
      region = { ...region, y: Math.max(0, y) };
      requestedAt = row;
    },
  };
}

function withoutStyle(line: string): string {
  return line.includes("\x1b") ? line.replaceAll(/\x1b\[[\d;]*m/g, "") : line;
}

/** Redraws everything. `old`: rows that the live area took until now; those not overwritten are erased. */
function redraw(toTop: string, old: number, history: readonly string[], { lines, caret }: Frame): string {
  const written = [...history, ...lines].map((line) => eraseLine + line).join("\r\n");
  const rest = history.length + lines.length < old ? eraseDown : "";
  return `${toTop}${rest}${written}${moveTo(lines.length - 1, caret)}`;
}

/** Moves from the last line drawn to the caret. */
function moveTo(from: number, { row, column }: Caret): string {
  return `${vertical(row - from)}\r${right(column)}`;
}

function update(shown: Frame, frame: Frame): string {
  const { lines } = frame;
  let at = shown.caret.row;
  let bytes = "";
  for (const [row, line] of lines.entries()) {
    if (line === shown.lines[row]) continue;
    bytes += goTo(at, row, shown.lines.length) + changed(shown.lines[row], line);
    at = row;
  }
  if (lines.length < shown.lines.length) {
    bytes += `${goTo(at, lines.length, shown.lines.length)}${eraseDown}`;
    at = lines.length;
  }
  const { caret } = frame;
  const moved = caret.row !== shown.caret.row || caret.column !== shown.caret.column;
  return bytes === "" && !moved ? "" : bytes + moveTo(at, caret);
}

/** Moves to the start of a row; a row that does not exist yet is made by a line feed. */
function goTo(from: number, row: number, height: number): string {
  if (row < height) return `${vertical(row - from)}\r`;
  return `${vertical(height - 1 - from)}\r${"\n".repeat(row - height + 1)}`;
}

/** Turns the old line into the new one, with the cursor at its start; the shared beginning is kept. */
function changed(old: string | undefined, line: string): string {
  const whole = eraseLine + line;
  if (old === undefined || old === "") return whole;
  const kept = line.slice(0, sharedLength(old, line));
  const style = /\x1b\[[\d;]*m(?![\s\S]*\x1b)/.exec(kept)?.[0] ?? "";
  const partial = `${right(width(withoutStyle(kept)))}${eraseLine}${style === "\x1b[0m" ? "" : style}${line.slice(kept.length)}`;
  return partial.length < whole.length ? partial : whole;
}

/**
 * Returns the length of the shared beginning, never inside a sequence, and never before a character that could join the
 * one before it.
 */
function sharedLength(old: string, line: string): number {
  let shared = 0;
  while (shared < line.length && old[shared] === line[shared]) shared += 1;
  const open = line.lastIndexOf("\x1b", shared - 1);
  if (open >= 0 && line.indexOf("m", open) >= shared) shared = open;
  const joins = (text: string) => (text.charCodeAt(shared) || 0) > 0x7f;
  return joins(old) || joins(line) ? 0 : shared;
}

function vertical(by: number): string {
  return by < 0 ? up(-by) : by > 0 ? `\x1b[${by}B` : "";
}

function up(by: number): string {
  return by > 0 ? `\x1b[${by}A` : "";
}

function right(by: number): string {
  return by > 0 ? `\x1b[${by}C` : "";
}
