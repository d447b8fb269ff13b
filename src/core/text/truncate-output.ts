/** Shortens program output for the model: cleaned, folded, and within a budget. Pure. */

import { cleanLine, formatInteger, headOf, isBinary, tailOf, utf8Length } from "./clean-text.ts";

/** Cleaned text of `lines` raw lines from `line` on: the `bytes` raw bytes from `offset` on. */
export type Line = {
  text: string;
  line: number;
  lines: number;
  offset: number;
  bytes: number;
  binary?: true;
};

export type Size = { lines: number; bytes: number };

export type ViewOptions = {
  /** Most bytes of the shortened text, its marks included. */
  maxBytes: number;
  /** Words to look for in the middle, instead of words for errors. */
  want?: string | undefined;
  /** File with the whole output. */
  path?: string | undefined;
};

/** `omitted`: raw lines and raw bytes that are not in `text`. */
export type ShortenedOutput = { text: string; total: Size; omitted: Size };

/** Lines of these kinds are kept from the middle of long output. Each is a word, or a word at its beginning. */
const errorPatterns =
  "error|failed|failure|\\bfail|fatal|panic|exception|traceback|assert|denied|not found|cannot|segmentation fault".split(
    "|",
  );

/** Room for the last line of a shortened view, without the path. */
const footerBytes = 120;
const gapBytes = 60;

/** Shortens a whole output. */
export function truncateOutput(raw: string, options: ViewOptions): ShortenedOutput {
  const lines = linesOf(raw);
  const last = lines.at(-1);
  const total = { lines: lines.length, bytes: last ? last.offset + last.bytes : 0 };
  return renderView(lines, total, options);
}

/** Splits raw text into cleaned lines. */
export function linesOf(raw: string, start = { line: 0, offset: 0 }): Line[] {
  const lines: Line[] = [];
  let offset = start.offset;
  const parts = raw.split("\n");
  const complete = parts.at(-1) === "" ? parts.length - 1 : parts.length;
  for (let index = 0; index < complete; index++) {
    const part = parts[index] ?? "";
    const bytes = utf8Length(part) + (index < parts.length - 1 ? 1 : 0);
    lines.push(lineOf(part, { line: start.line + index, offset, bytes }));
    offset += bytes;
  }
  return lines;
}

/** Cleans one raw line. A binary line has no text and counts as omitted. */
export function lineOf(raw: string, at: { line: number; offset: number; bytes: number }): Line {
  return isBinary(raw)
    ? { ...at, lines: 1, text: "", binary: true }
    : { ...at, lines: 1, text: cleanLine(raw) };
}

/** Shortens `lines`, in order; they may already leave out parts of an output of size `total`. */
export function renderView(lines: readonly Line[], total: Size, options: ViewOptions): ShortenedOutput {
  const usable = foldRepeats(lines.filter((line) => !line.binary));
  const whole = usable.map((line) => line.text).join("\n");
  if (covers(usable, total) && utf8Length(whole) <= options.maxBytes) {
    return { text: whole, total, omitted: { lines: 0, bytes: 0 } };
  }
  const path = options.path ? `; whole output: ${options.path}` : "";
  const budget = Math.max(0, options.maxBytes - footerBytes - 2 * gapBytes - utf8Length(path));
  const chosen = choose(clipLong(usable, budget), budget, wordsOf(options.want).pattern);
  const { text, omitted } = joinWithGaps(chosen, total);
  const footer = `[omitted ${formatInteger(omitted.lines)} of ${formatInteger(total.lines)} lines, ${formatInteger(omitted.bytes)} of ${formatInteger(total.bytes)} bytes${path}]`;
  return { text: text === "" ? footer : `${text}\n${footer}`, total, omitted };
}

/** Returns true when the lines leave nothing out. */
function covers(lines: readonly Line[], total: Size): boolean {
  return lines.reduce((bytes, line) => bytes + line.bytes, 0) === total.bytes;
}

/** Folds three or more equal lines in a row into one. */
function foldRepeats(lines: readonly Line[]): Line[] {
  const folded: Line[] = [];
  for (let index = 0; index < lines.length; ) {
    const first = lines[index];
    if (!first) break;
    let end = index + 1;
    while (lines[end]?.text === first.text && isNext(lines[end - 1], lines[end])) end += 1;
    const run = lines.slice(index, end);
    if (run.length < 3) folded.push(...run);
    else folded.push(repeated(first, run));
    index = end;
  }
  return folded;
}

function repeated(first: Line, run: readonly Line[]): Line {
  const sum = (of: (line: Line) => number) => run.reduce((value, line) => value + of(line), 0);
  const text = `${first.text}\n[the line above ${formatInteger(run.length)} times]`;
  return { ...first, text, lines: sum((line) => line.lines), bytes: sum((line) => line.bytes) };
}

/** Bytes of a line that is not worth cutting: what is left of it would say little. */
const shortLine = 80;

/** Cuts lines that would use up the budget alone to their head and tail. */
function clipLong(lines: readonly Line[], budget: number): Line[] {
  const share = budget * Math.max(1 / 8, 0.6 / Math.max(1, lines.length));
  const limit = Math.floor(Math.max(share, Math.min(shortLine, budget * 0.6)));
  return lines.flatMap((line) => {
    if (utf8Length(line.text) <= limit) return [line];
    const head = headOf(line.text, limit / 2);
    const tail = tailOf(line.text, limit / 2);
    const headBytes = Math.min(utf8Length(head), line.bytes);
    const tailBytes = Math.min(utf8Length(tail), line.bytes - headBytes);
    return [
      { ...line, text: head, bytes: headBytes },
      { ...line, text: tail, bytes: tailBytes, offset: line.offset + line.bytes - tailBytes },
    ];
  });
}

/** Chooses the lines to show: the head, the tail, and matches from the middle with two lines around each. */
function choose(lines: readonly Line[], budget: number, words: RegExp): Line[] {
  const cost = lines.map((line) => utf8Length(line.text) + 1);
  const taken = new Set<number>();
  let left = budget;
  const take = (index: number, extra: number): boolean => {
    const price = (cost[index] ?? 0) + extra;
    if (taken.has(index)) return true;
    if (price > left) return false;
    left -= price;
    taken.add(index);
    return true;
  };
  const takeFrom = (start: number, step: 1 | -1, allowance: number): void => {
    const floor = left - allowance;
    for (let index = start; lines[index]; index += step) {
      if (taken.has(index)) continue;
      if (left - (cost[index] ?? 0) < floor || !take(index, 0)) return;
    }
  };
  takeFrom(lines.length - 1, -1, budget * 0.35);
  takeFrom(0, 1, budget * 0.31);
  const kept = left * 0.15;
  for (const index of rankMatches(lines, words)) {
    if (left < kept) break;
    for (const near of [0, -1, 1, -2, 2])
      if (lines[index + near]) take(index + near, near === 0 ? gapBytes : 0);
  }
  takeFrom(lines.length - 1, -1, left * 0.6);
  takeFrom(0, 1, left);
  return lines.filter((_, index) => taken.has(index));
}

/** Ranks matching lines: most different matches first, then from both ends inwards. */
function rankMatches(lines: readonly Line[], words: RegExp): number[] {
  const ranked: { index: number; score: number }[] = [];
  lines.forEach((line, index) => {
    const found = line.text.slice(0, 4000).match(words) ?? [];
    const matches = new Set(found.map((word) => word.toLowerCase()));
    if (matches.size > 0) ranked.push({ index, score: matches.size });
  });
  const fromEnd = (position: number) => Math.min(position, ranked.length - 1 - position);
  return ranked
    .map((match, position) => ({ ...match, depth: fromEnd(position) }))
    .sort((a, b) => b.score - a.score || a.depth - b.depth || a.index - b.index)
    .map((match) => match.index);
}

/** A pattern (case-insensitive, global) and the texts that all its matches are, but for their case. */
export type Words = { pattern: RegExp; texts: string[] };

/** Returns the words of `want` longer than two characters, as the text encodes them; else the words for errors. */
export function wordsOf(want: string | undefined, encode = (word: string) => word): Words {
  const wanted = (want?.match(/[\p{L}\p{N}_.-]{3,}/gu) ?? []).map(encode);
  const patterns = wanted.length > 0 ? wanted.map((word) => word.replace(/[^\w]/g, "\\$&")) : errorPatterns;
  const texts = wanted.length > 0 ? wanted : errorPatterns.map((word) => word.replace("\\b", ""));
  return { pattern: new RegExp(patterns.join("|"), "gi"), texts };
}

function isNext(before: Line | undefined, after: Line | undefined): boolean {
  return before !== undefined && after !== undefined && after.offset === before.offset + before.bytes;
}

function joinWithGaps(lines: readonly Line[], total: Size): { text: string; omitted: Size } {
  const omitted = { lines: 0, bytes: 0 };
  const parts: string[] = [];
  let at = { line: 0, offset: 0 };
  const gapTo = (line: number, offset: number): void => {
    const gap = { lines: Math.max(0, line - at.line), bytes: offset - at.offset };
    if (gap.bytes <= 0) return;
    omitted.lines += gap.lines;
    omitted.bytes += gap.bytes;
    const inLines = gap.lines > 0 ? `${formatInteger(gap.lines)} lines, ` : "";
    parts.push(`[… ${inLines}${formatInteger(gap.bytes)} bytes …]`);
  };
  for (const line of lines) {
    gapTo(line.line, line.offset);
    parts.push(line.text);
    at = { line: line.line + line.lines, offset: line.offset + line.bytes };
  }
  gapTo(total.lines, total.bytes);
  return { text: parts.join("\n"), omitted };
}

/** The line that tells the model the exit status of a command. */
export function exitLine(exitCode: number): string {
  return `[exit ${exitCode}]`;
}
