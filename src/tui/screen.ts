/**
 * The writer: history goes above, once and for good, into the terminal's own scrollback; below it a live area is
 * redrawn in place, changed lines only. One write a frame, in synchronized output; nothing is ever cleared above.
 */

import { width } from "./rows.ts";

/** Where the terminal's cursor stands, from the top left of the live area. */
export type Caret = { row: number; column: number };
/** Painted lines, none wider than the window, and fewer than it has rows. */
export type Frame = { lines: readonly string[]; caret: Caret };
export type Size = { columns: number; rows: number };

export type Screen = {
  /** Puts `history` above for good, and makes the live area look like `frame`. */
  draw(history: readonly string[], frame: Frame): void;
  /** The window has another size: what is on screen has been wrapped anew. */
  resized(size: Size): void;
  /** Takes the live area away; the cursor stands where it began. */
  clear(): void;
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

/**
 * What a terminal does with its lines when it gets narrower. `exact`: wraps all of them, and the cursor stays at its
 * character. `xterm.js`: leaves the cursor's line alone, and moves the cursor down also for rows that come to stand
 * below it. `none`: cuts them off.
 */
export type Reflow = "exact" | "xterm.js" | "none";

const noFrame: Frame = { lines: [], caret: { row: 0, column: 0 } };

/** A screen whose live area begins at the cursor. */
export function createScreen({ write, size, reflow }: ScreenOptions): Screen {
  let shown = noFrame;
  /** Columns that `shown` was drawn for, and those that the terminal has now. */
  let drawnFor = size.columns;
  let { columns } = size;
  const height = (lines: readonly string[]): number =>
    lines.reduce((sum, line) => sum + (reflow === "none" ? 1 : heightOf(line, columns)), 0);
  const toTop = (): string => {
    const { lines, caret } = shown;
    const below = lines.slice(caret.row + 1);
    const within = reflow === "exact" ? Math.floor(caret.column / columns) : 0;
    const pushed = reflow === "xterm.js" ? height(below) - below.length : 0;
    return `${up(height(lines.slice(0, caret.row)) + within + pushed)}\r`;
  };
  return {
    draw(history, frame) {
      const fresh = history.length > 0 || drawnFor !== columns || shown.lines.length === 0;
      const bytes = fresh ? redraw(toTop(), height(shown.lines), history, frame) : update(shown, frame);
      shown = frame;
      drawnFor = columns;
      if (bytes !== "") write(begin + bytes + end);
    },
    resized(next) {
      columns = next.columns;
    },
    clear() {
      if (shown.lines.length > 0) write(`${begin}${toTop()}${eraseLine}\n${eraseDown}${up(1)}${end}`);
      shown = noFrame;
      drawnFor = columns;
    },
  };
}

/** Rows that a line takes in a window of `columns`. */
function heightOf(line: string, columns: number): number {
  return Math.max(1, Math.ceil(width(withoutStyle(line)) / Math.max(1, columns)));
}

function withoutStyle(line: string): string {
  return line.includes("\x1b") ? line.replaceAll(/\x1b\[[\d;]*m/g, "") : line;
}

/** `old`: rows that the live area took until now; what of them is not written over is erased. */
function redraw(toTop: string, old: number, history: readonly string[], { lines, caret }: Frame): string {
  const written = [...history, ...lines].map((line) => eraseLine + line).join("\r\n");
  const rest = history.length + lines.length < old ? `\r\n${eraseDown}${up(1)}` : "";
  return `${toTop}${written}${rest}${place(lines.length - 1, caret)}`;
}

/** From the last line drawn to the caret. */
function place(from: number, { row, column }: Caret): string {
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
  return bytes === "" && !moved ? "" : bytes + place(at, caret);
}

/** To the start of a row; a row that is not there yet is made by a line feed. */
function goTo(from: number, row: number, height: number): string {
  if (row < height) return `${vertical(row - from)}\r`;
  return `${vertical(height - 1 - from)}\r${"\n".repeat(row - height + 1)}`;
}

/** What makes the old line the new one, the cursor at its start: the beginning that both share is kept. */
function changed(old: string | undefined, line: string): string {
  const whole = eraseLine + line;
  if (old === undefined || old === "") return whole;
  const kept = line.slice(0, sharedLength(old, line));
  const style = /\x1b\[[\d;]*m(?![\s\S]*\x1b)/.exec(kept)?.[0] ?? "";
  const partial = `${right(width(withoutStyle(kept)))}${eraseLine}${style === "\x1b[0m" ? "" : style}${line.slice(kept.length)}`;
  return partial.length < whole.length ? partial : whole;
}

/** Never inside a sequence, and never before a character that could join the one before it. */
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
