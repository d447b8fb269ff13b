/** Finds the lines of a chunk of output that match, 16 bytes at a time where that runs, else with a pattern. */

import type { Words } from "../../core/text/truncate-output.ts";
import { loadSimd, tablesFor, textAt, textBytes } from "./simd.ts";

/** A line that matches: line feeds before it, and the byte where it begins, both counted from the chunk's start. */
export type Match = { newlines: number; start: number };

export type LineSearch = {
  /** The chunk is read into this. */
  buffer: Buffer;
  /** Counts the line feeds of the first `length` bytes and finds the first `most` lines that match. */
  search(length: number, most: number): { newlines: number; matches: Match[] };
};

/** The two questions that a search asks of a chunk. */
type Chunk = {
  bytes: Buffer;
  /** Where the first match from `from` on begins, or -1. */
  next(from: number): number;
  newlines(from: number, to: number): number;
};

/** After so many places in a chunk that only looked like a match, the pattern reads the rest. */
const mostFalsePlaces = 64;

/** From so many bytes on, the faster search is worth its start. */
const manyBytes = 512 * 1024;

/** Gives the search for the next `ahead` bytes, in chunks of at most `size`. */
export function createSearch(words: Words, size: number): (ahead: number) => LineSearch {
  let search: LineSearch | undefined;
  let isFast = false;
  return (ahead) => {
    if (ahead > manyBytes && !isFast) {
      isFast = true;
      search = searchByStarts(words, size);
    }
    const wanted = Math.min(size, ahead);
    if (!search || search.buffer.length < wanted) search = searchByPattern(words, wanted);
    return search;
  };
}

/** Searches with the pattern, in chunks of at most `size` bytes. */
export function searchByPattern({ pattern }: Words, size: number): LineSearch {
  const buffer = Buffer.allocUnsafe(size);
  return {
    buffer,
    search(length, most) {
      const bytes = buffer.subarray(0, length);
      const next = patternFinder(pattern, bytes);
      return search({ bytes, next, newlines: (from, to) => countNewlines(bytes, from, to) }, most);
    },
  };
}

/** Searches by the first four bytes of each word, and confirms with the pattern. Undefined where that does not run. */
export function searchByStarts(words: Words, size: number): LineSearch | undefined {
  const simd = size <= textBytes ? loadSimd() : undefined;
  if (!simd) return undefined;
  simd.memory.set(tablesFor(groupsOf(words.texts)));
  const buffer = Buffer.from(simd.memory.buffer, textAt, size);
  const sticky = new RegExp(words.pattern.source, "iy");
  const longest = Math.max(...words.texts.map((text) => text.length));
  const confirm = (bytes: Buffer, at: number): boolean => {
    const from = Math.max(0, at - 1);
    sticky.lastIndex = at - from;
    return sticky.test(bytes.toString("latin1", from, at + longest));
  };
  return {
    buffer,
    search(length, most) {
      const bytes = buffer.subarray(0, length);
      const byPattern = patternFinder(words.pattern, bytes);
      let falsePlaces = 0;
      const next = (from: number): number => {
        for (let at = from; falsePlaces < mostFalsePlaces; at++) {
          at = simd.find(textAt + at, textAt + length) - textAt;
          if (at >= length) return -1;
          if (confirm(bytes, at)) return at;
          falsePlaces += 1;
          from = at + 1;
        }
        return byPattern(from);
      };
      const newlines = (from: number, to: number) => simd.newlines(textAt + from, textAt + to);
      return search({ bytes, next, newlines }, most);
    },
  };
}

function search({ bytes, next, newlines }: Chunk, most: number): { newlines: number; matches: Match[] } {
  const matches: Match[] = [];
  let [counted, from, lines] = [0, 0, 0];
  while (matches.length < most) {
    const at = next(from);
    if (at < 0) break;
    const start = bytes.lastIndexOf(10, at) + 1;
    lines += newlines(counted, start);
    counted = start;
    matches.push({ newlines: lines, start });
    from = bytes.indexOf(10, at);
    if (from < 0) break;
  }
  return { newlines: lines + newlines(counted, bytes.length), matches };
}

/** The chunk becomes text when it is first asked for. */
function patternFinder(pattern: RegExp, bytes: Buffer): (from: number) => number {
  let text = "";
  return (from) => {
    text ||= bytes.toString("latin1");
    pattern.lastIndex = from;
    return pattern.exec(text)?.index ?? -1;
  };
}

/** The bytes that may stand at each of the first four places of each start, in either case. */
function groupsOf(texts: readonly string[]): number[][][] {
  const any = Array.from({ length: 256 }, (_, byte) => byte);
  const heads = new Set(texts.map((text) => text.slice(0, 4).toLowerCase()));
  return [...heads].map((head) =>
    Array.from({ length: 4 }, (_, offset) => {
      const char = head[offset];
      return char === undefined
        ? any
        : [...char.toLowerCase(), ...char.toUpperCase()].map(codeOf).filter(isByte);
    }),
  );
}

const codeOf = (char: string): number => char.charCodeAt(0);
const isByte = (code: number): boolean => code < 256;

/** Four bytes at a time: a byte of `zeros` has its top bit set exactly where the output has a line feed. */
export function countNewlines(bytes: Buffer, from: number, to: number): number {
  const aligned = (bytes.byteOffset + from + 3) & ~3;
  const first = Math.min(to, aligned - bytes.byteOffset);
  const count = (to - first) >> 2;
  let newlines = countOneByOne(bytes, from, first) + countOneByOne(bytes, first + count * 4, to);
  const words = new Int32Array(bytes.buffer, count > 0 ? aligned : 0, count);
  for (let index = 0; index < count; index++) {
    const other = (words[index] ?? 0) ^ 0x0a0a0a0a;
    const zeros = ~(((other & 0x7f7f7f7f) + 0x7f7f7f7f) | other | 0x7f7f7f7f);
    if (zeros !== 0) newlines += Math.imul(zeros >>> 7, 0x01010101) >>> 24;
  }
  return newlines;
}

function countOneByOne(bytes: Buffer, from: number, to: number): number {
  let newlines = 0;
  for (let index = from; index < to; index++) if (bytes[index] === 10) newlines += 1;
  return newlines;
}
