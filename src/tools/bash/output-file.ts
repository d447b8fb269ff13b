/** Reads a command's output file, of any size and while it grows, in bounded memory, and shortens it for the model. */

import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { cleanLine } from "../../core/text/clean-text.ts";
import {
  type Line,
  lineOf,
  linesOf,
  renderView,
  type ShortenedOutput,
  type ViewOptions,
  wordsOf,
} from "../../core/text/truncate-output.ts";
import { countNewlines, createSearch, type LineSearch } from "./search-lines.ts";

/** Small enough that its text is cheap garbage. */
const chunkBytes = 64 * 1024;
/** Above these sizes only the ends are read as text; the middle is searched for matches. */
const wholeBytes = 2 * 1024 * 1024;
const wholeLines = 20_000;
const endBytes = 32 * 1024;
const matchesPerChunk = 8;
const matchesPerEnd = 40;
/** Bytes read before and after a match for its neighbouring lines. */
const nearBytes = 2048;
/** Bytes scanned at a time before other work gets its turn. */
const sliceBytes = 8 * 1024 * 1024;

export type OutputReader = {
  /** Scans up to 8 MB of newly appended output. Returns true when more remains. */
  advance(): boolean;
  /** Returns the current size of the file in bytes. */
  size(): number;
  /** Returns the last lines, cleaned, for people. */
  tail(maxLines: number): string;
  /** Returns the shortened text of everything from byte `from` of the file on. */
  view(options: ViewOptions): Promise<ShortenedOutput>;
  close(): void;
};

/** The start of a matching line. */
type Mark = { line: number; offset: number };
type Scan = { offset: number; newlines: number; first: Mark[]; last: Mark[] };
type Read = (offset: number, length: number) => Buffer;

/** Follows the file at `path` from byte `from` on. Throws when it cannot be opened. */
export function followOutput(
  path: string,
  { want, from = 0 }: { want?: string; from?: number } = {},
): OutputReader {
  const file = openSync(path, "r");
  let isOpen = true;
  const words = wordsOf(want, (word) => Buffer.from(word).toString("latin1"));
  const searchFor = createSearch(words, chunkBytes);
  const scan: Scan = { offset: 0, newlines: 0, first: [], last: [] };
  const size = () => fstatSync(file).size - from;
  const read = (offset: number, length: number) => readFully(file, from + offset, length);

  function advance(limit = isOpen ? size() : 0): boolean {
    if (!isOpen) return false;
    const stop = Math.min(limit, scan.offset + sliceBytes);
    const lines = searchFor(stop - scan.offset);
    const { buffer } = lines;
    while (scan.offset < stop) {
      const wanted = Math.min(buffer.length, limit - scan.offset);
      const length = readSync(file, buffer, 0, wanted, from + scan.offset);
      if (length === 0) return false;
      const lineEnd = buffer.subarray(0, length).lastIndexOf(10) + 1;
      scanChunk(scan, lineEnd > 0 ? lineEnd : length, lines);
    }
    return stop < limit;
  }

  return {
    advance: () => advance(),
    size,
    tail: (maxLines) => {
      const start = Math.max(0, size() - 4096);
      const lines = read(start, 4096).toString("utf8").trimEnd().split("\n");
      return lines
        .slice(start > 0 ? 1 : 0)
        .slice(-maxLines)
        .map(cleanLine)
        .join("\n");
    },
    async view(options) {
      const bytes = size();
      while (advance(bytes)) await setImmediate();
      const openEnd = bytes > 0 && read(bytes - 1, 1)[0] !== 10;
      const total = { bytes, lines: scan.newlines + (openEnd ? 1 : 0) };
      const whole = bytes <= wholeBytes && scan.newlines <= wholeLines;
      const lines = whole
        ? linesOfBytes(read(0, bytes), { line: 0, offset: 0 })
        : selectLines(scan, bytes, read);
      return renderView(lines, total, { want, ...options });
    },
    close() {
      isOpen = false;
      closeSync(file);
    },
  };
}

/** Counts the lines of a chunk and records the matching ones. */
function scanChunk(scan: Scan, length: number, { search }: LineSearch): void {
  const { newlines, matches } = search(length, matchesPerChunk);
  for (const match of matches)
    keepMark(scan, { line: scan.newlines + match.newlines, offset: scan.offset + match.start });
  scan.newlines += newlines;
  scan.offset += length;
}

function keepMark({ first, last }: Scan, mark: Mark): void {
  if (first.length < matchesPerEnd) first.push(mark);
  else last.push(mark);
  if (last.length > matchesPerEnd) last.shift();
}

/** Returns the marked lines between `from` and `to`, with two lines around each where they are near. */
function linesAt(marks: readonly Mark[], from: number, to: number, read: Read): Line[] {
  const lines: Line[] = [];
  let covered = from;
  for (const mark of marks) {
    if (mark.offset < covered || mark.offset >= to) continue;
    const start = Math.max(covered, mark.offset - nearBytes);
    const bytes = read(start, Math.min(to, mark.offset + nearBytes) - start);
    const begin = stepBack(bytes, mark.offset - start, 2);
    const end = stepForward(bytes, mark.offset - start, 3);
    const line = mark.line - countNewlines(bytes, begin, mark.offset - start);
    lines.push(...linesOfBytes(bytes.subarray(begin, end), { line, offset: start + begin }));
    covered = start + end;
  }
  return lines;
}

/** Returns the start of the line `count` lines before the one that starts at `at`, as far as `bytes` reach. */
function stepBack(bytes: Buffer, at: number, count: number): number {
  let start = at;
  for (let line = 0; line < count && start > 0; line++) {
    const before = start > 1 ? bytes.lastIndexOf(10, start - 2) : -1;
    if (before < 0) return start;
    start = before + 1;
  }
  return start;
}

function stepForward(bytes: Buffer, at: number, count: number): number {
  let end = at;
  for (let line = 0; line < count; line++) {
    const next = bytes.indexOf(10, end);
    if (next < 0) return end > at ? end : bytes.length;
    end = next + 1;
  }
  return end;
}

/** Selects the head, the matches of the middle, and the tail. */
function selectLines(scan: Scan, bytes: number, read: Read): Line[] {
  const head = alignEnd(read(0, endBytes));
  const tail = alignStart(read(bytes - endBytes, endBytes));
  const tailAt = { line: scan.newlines - countNewlines(tail, 0, tail.length), offset: bytes - tail.length };
  return [
    ...linesOfBytes(head, { line: 0, offset: 0 }),
    ...linesAt([...scan.first, ...scan.last], head.length, tailAt.offset, read),
    ...linesOfBytes(tail, tailAt),
  ];
}

/** Cuts after the last line feed, or after the last whole character of an unfinished line. */
function alignEnd(bytes: Buffer): Buffer {
  const lineFeed = bytes.lastIndexOf(10);
  if (lineFeed > 0) return bytes.subarray(0, lineFeed + 1);
  let end = bytes.length;
  while (end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, Math.max(0, end - 1));
}

function alignStart(bytes: Buffer): Buffer {
  const lineFeed = bytes.indexOf(10);
  if (lineFeed >= 0 && lineFeed < bytes.length - 1) return bytes.subarray(lineFeed + 1);
  let start = 0;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.subarray(start);
}

/** Returns cleaned lines with their sizes in the file, even where the bytes are not valid UTF-8. */
function linesOfBytes(bytes: Buffer, start: { line: number; offset: number }): Line[] {
  if (isUtf8(bytes)) return linesOf(bytes.toString("utf8"), start);
  const lines: Line[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lineFeed = bytes.indexOf(10, at);
    const end = lineFeed < 0 ? bytes.length : lineFeed + 1;
    const text = bytes.toString("utf8", at, lineFeed < 0 ? end : lineFeed);
    lines.push(lineOf(text, { line: start.line + lines.length, offset: start.offset + at, bytes: end - at }));
    at = end;
  }
  return lines;
}

function readFully(file: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const got = readSync(file, bytes, filled, length - filled, offset + filled);
    if (got === 0) break;
    filled += got;
  }
  return bytes.subarray(0, filled);
}
