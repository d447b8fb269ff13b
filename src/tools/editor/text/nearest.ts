/** Finds the block of a file nearest to a text that is not in it. Bounded work, whatever the size. Pure. */

import type { Lines } from "../refusal.ts";

/** Limits: candidates compared, words looked up, hits per word. */
const limits = { candidates: 60, words: 6, hits: 40, lines: 60, chars: 240 };

/** Finds the nearest block; lines with LF on both sides. Undefined when nothing is alike. */
export function nearestBlock(file: readonly string[], wanted: readonly string[]): Lines | undefined {
  const compared = wanted.slice(0, limits.lines).map(short);
  const starts = [...byWholeLines(file, wanted), ...byWords(file, wanted)];
  let best: { first: number; score: number } | undefined;
  for (const first of new Set(starts.slice(0, limits.candidates))) {
    const score = compared.reduce(
      (sum, line, index) => sum + likeness(line, short(file[first + index] ?? "")),
      0,
    );
    if (score > (best?.score ?? compared.length * 0.3)) best = { first, score };
  }
  if (!best) return undefined;
  return { first: best.first + 1, last: Math.min(file.length, best.first + wanted.length) };
}

/** Returns the starts (from 0) that the most lines agree on, ignoring white space; long lines count more. */
function byWholeLines(file: readonly string[], wanted: readonly string[]): number[] {
  const offsets = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = line.trim();
    if (key.length > 2) offsets.set(key, [...(offsets.get(key) ?? []), index].slice(0, 5));
  }
  const votes = new Map<number, number>();
  for (const [index, line] of file.entries()) {
    const key = line.trim();
    for (const offset of offsets.get(key) ?? []) {
      const start = Math.max(0, index - offset);
      votes.set(start, (votes.get(start) ?? 0) + key.length);
    }
  }
  const sorted = [...votes].sort((a, b) => b[1] - a[1]);
  return sorted.slice(0, limits.candidates / 2).map(([start]) => start);
}

/** Returns the starts where a line holds one of the longest words of `wanted`. */
function byWords(file: readonly string[], wanted: readonly string[]): number[] {
  const words = new Map<string, number>();
  for (const [index, line] of wanted.entries()) {
    for (const word of line.slice(0, 2000).match(/[\p{L}\p{N}_]{3,}/gu) ?? []) {
      if (!words.has(word)) words.set(word, index);
    }
  }
  const longest = [...words].sort((a, b) => b[0].length - a[0].length).slice(0, limits.words);
  const votes = new Map<number, number>();
  for (const [word, offset] of longest) {
    let hits = 0;
    for (let index = 0; index < file.length && hits < limits.hits; index++) {
      if (!file[index]?.includes(word)) continue;
      hits += 1;
      const start = Math.max(0, index - offset);
      votes.set(start, (votes.get(start) ?? 0) + word.length);
    }
  }
  return [...votes].sort((a, b) => b[1] - a[1]).map(([start]) => start);
}

/** Returns the share of letter pairs that two lines have in common, 0 to 1, ignoring white space. */
function likeness(a: string, b: string): number {
  if (a === b) return 1;
  const [pairs, others] = [pairsOf(a), pairsOf(b)];
  const total = pairs.length + others.length;
  if (total === 0) return 0.5;
  const left = new Map<string, number>();
  for (const pair of pairs) left.set(pair, (left.get(pair) ?? 0) + 1);
  let shared = 0;
  for (const pair of others) {
    const count = left.get(pair) ?? 0;
    if (count > 0) shared += 1;
    left.set(pair, count - 1);
  }
  // Never 1: a line that differs only in white space is second best.
  return (0.98 * 2 * shared) / total;
}

function pairsOf(line: string): string[] {
  const text = line.replaceAll(/\s+/g, "");
  return Array.from({ length: Math.max(0, text.length - 1) }, (_, index) => text.slice(index, index + 2));
}

function short(line: string): string {
  return line.slice(0, limits.chars);
}
