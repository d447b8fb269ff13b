/** Reads the output file of a command, of any size and while it grows, in bounded memory, and makes its view. */

import { isUtf8 } from "node:buffer";
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { cleanLine } from "../core/clean-text.ts";
import {
  type Line,
  lineOf,
  linesOf,
  renderView,
  type View,
  type ViewOptions,
  wordsOf,
} from "../core/ingest.ts";

const chunkBytes = 256 * 1024;
/** Above these sizes only the ends are read as text; the middle is searched for matches. */
const wholeBytes = 2 * 1024 * 1024;
const wholeLines = 20_000;
const endBytes = 64 * 1024;
const matchesPerChunk = 8;
const matchesPerEnd = 40;
/** Scanned at a stretch before other work gets its turn. */
const sliceBytes = 8 * 1024 * 1024;

export type OutputReader = {
  /** Scans what was appended since, at most 8 MB. */
  advance(): void;
  /** Bytes in the file now. */
  size(): number;
  /** The last lines, cleaned, for people. */
  tail(maxLines: number): string;
  /** The view of everything from byte `from` of the file on. */
  view(options: ViewOptions): Promise<View>;
  close(): void;
};

type Scan = { offset: number; newlines: number; first: Line[][]; last: Line[][] };

/** Follows the file at `path` from byte `from` on. Throws when it cannot be opened. */
export function followOutput(
  path: string,
  { want, from = 0 }: { want?: string; from?: number } = {},
): OutputReader {
  const file = openSync(path, "r");
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const words = wordsOf(want);
  const scan: Scan = { offset: 0, newlines: 0, first: [], last: [] };
  const size = () => fstatSync(file).size - from;
  const read = (offset: number, length: number) => readFully(file, from + offset, length);

  function advance(limit = size()): void {
    const stop = Math.min(limit, scan.offset + sliceBytes);
    while (scan.offset < stop) {
      const length = readSync(file, buffer, 0, Math.min(chunkBytes, limit - scan.offset), from + scan.offset);
      if (length === 0) return;
      const lineEnd = buffer.subarray(0, length).lastIndexOf(10) + 1;
      scanChunk(scan, buffer.subarray(0, lineEnd > 0 ? lineEnd : length), words);
    }
  }

  return {
    advance,
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
      while (scan.offset < bytes) {
        advance(bytes);
        if (scan.offset < bytes) await setImmediate();
      }
      const openEnd = bytes > 0 && read(bytes - 1, 1)[0] !== 10;
      const total = { bytes, lines: scan.newlines + (openEnd ? 1 : 0) };
      const whole = bytes <= wholeBytes && scan.newlines <= wholeLines;
      const lines = whole
        ? linesOfBytes(read(0, bytes), { line: 0, offset: 0 })
        : selectLines(scan, bytes, read);
      return renderView(lines, total, { want, ...options });
    },
    close: () => closeSync(file),
  };
}

/** Counts the lines of a chunk and keeps those that match, with two lines around each. */
function scanChunk(scan: Scan, chunk: Buffer, words: RegExp): void {
  const text = chunk.toString("latin1").toLowerCase();
  const found = { end: 0, counted: 0, newlines: 0 };
  words.lastIndex = 0;
  for (let matches = 0; matches < matchesPerChunk; matches++) {
    const match = words.exec(text);
    if (!match) break;
    const start = Math.max(found.end, lineStart(text, match.index, 2));
    const end = lineEnd(text, match.index, 2);
    found.newlines += countNewlines(chunk, found.counted, start);
    found.counted = start;
    found.end = end;
    words.lastIndex = Math.max(end, match.index + 1);
    if (end - start <= endBytes) {
      const at = { line: scan.newlines + found.newlines, offset: scan.offset + start };
      keepMatch(scan, linesOfBytes(Buffer.from(chunk.subarray(start, end)), at));
    }
  }
  scan.newlines += found.newlines + countNewlines(chunk, found.counted, chunk.length);
  scan.offset += chunk.length;
}

function keepMatch(scan: Scan, lines: Line[]): void {
  if (scan.first.length < matchesPerEnd) scan.first.push(lines);
  else scan.last.push(lines);
  if (scan.last.length > matchesPerEnd) scan.last.shift();
}

function lineStart(text: string, index: number, linesBefore: number): number {
  let start = index;
  for (let line = 0; line <= linesBefore && start > 0; line++) start = text.lastIndexOf("\n", start - 1);
  return start <= 0 ? 0 : start + 1;
}

function lineEnd(text: string, index: number, linesAfter: number): number {
  let end = index;
  for (let line = 0; line <= linesAfter; line++) {
    const next = text.indexOf("\n", end);
    if (next < 0) return text.length;
    end = next + 1;
  }
  return end;
}

function countNewlines(bytes: Buffer, from: number, to: number): number {
  let newlines = 0;
  for (let index = from; index < to; index++) if (bytes[index] === 10) newlines += 1;
  return newlines;
}

/** The head, the matches of the middle, and the tail. */
function selectLines(scan: Scan, bytes: number, read: (offset: number, length: number) => Buffer): Line[] {
  const headBytes = alignEnd(read(0, endBytes));
  const tailRead = read(bytes - endBytes, endBytes);
  const tailBytes = alignStart(tailRead);
  const tailOffset = bytes - tailBytes.length;
  const tailLine = scan.newlines - countNewlines(tailBytes, 0, tailBytes.length);
  const middle = [...scan.first, ...scan.last]
    .flat()
    .filter((line) => line.offset >= headBytes.length && line.offset + line.bytes <= tailOffset);
  return [
    ...linesOfBytes(headBytes, { line: 0, offset: 0 }),
    ...middle,
    ...linesOfBytes(tailBytes, { line: tailLine, offset: tailOffset }),
  ];
}

/** Up to the last line feed, or to the last whole character of a line without end. */
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

/** Cleaned lines with the sizes that they have in the file, also where the bytes are no valid UTF-8. */
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
