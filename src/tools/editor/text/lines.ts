/** Numbered lines, as `cat -n` prints them, within a budget. Pure. */

import { showHidden } from "../../../core/text/hidden-characters.ts";
import type { Lines } from "../refusal.ts";

const maxLine = 2000;

/** Numbered lines. `lines` are those that were shown; `cut`: one of them was too long to be shown whole. */
export type Numbered = { text: string; lines: Lines; cut: boolean };

/** A character of a line, both counted from 1, that must stay visible when the line is cut. */
export type Spot = { line: number; column: number };

/**
 * Numbers lines `first` to `last` (from 1, inclusive) of `lines`, as many as fit in `bytes`, at least one. Control
 * characters are shown as pictures (␀): nothing in a file can reach the terminal or the model raw.
 */
export function numbered(
  lines: readonly string[],
  { first, last }: Lines,
  bytes: number,
  spot: Spot = { line: 0, column: 1 },
): Numbered {
  const made: string[] = [];
  const longest = Math.min(maxLine, Math.max(80, Math.floor(bytes / 4)));
  let [used, cut] = [0, false];
  for (let number = first; number <= last; number++) {
    const line = lines[number - 1] ?? "";
    const column = spot.line === number ? spot.column : 1;
    const shown = `${String(number).padStart(6)}\t${shortened(line, longest, column)}`;
    used += Buffer.byteLength(shown) + 1;
    if (used > bytes && made.length > 0) break;
    cut ||= line.length > longest;
    made.push(shown);
  }
  return { text: made.join("\n"), lines: { first, last: first + made.length - 1 }, cut };
}

/** Shows control characters except tab as their Unicode pictures, and spells out hidden characters. */
export function visible(line: string): string {
  return showHidden(line)
    .replace(/[\x00-\x08\x0a-\x1f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .toWellFormed();
}

function shortened(line: string, longest: number, column: number): string {
  if (line.length <= longest) return visible(line);
  const from = Math.max(0, Math.min(column - 1 - Math.floor(longest / 2), line.length - longest));
  const [before, after] = [from, line.length - from - longest];
  const shown = visible(line.slice(from, from + longest));
  return `${before > 0 ? `[${before} characters] …` : ""}${shown}${after > 0 ? `… [${after} more characters in this line]` : ""}`;
}

/** Splits a text with LF into lines; a final line break does not open another line. An empty text has none. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
}

/** Returns the line number, from 1, of each offset; offsets in order. */
export function lineNumbers(text: string, offsets: readonly number[]): number[] {
  let [line, at] = [1, text.indexOf("\n")];
  return offsets.map((offset) => {
    while (at >= 0 && at < offset) {
      line += 1;
      at = text.indexOf("\n", at + 1);
    }
    return line;
  });
}

/** Returns as many of the lines, from the first on, as fit in `bytes`. */
export function fitting(lines: readonly string[], bytes: number): string[] {
  let left = bytes;
  const end = lines.findIndex((line) => {
    left -= Buffer.byteLength(line) + 1;
    return left < 0;
  });
  return end < 0 ? [...lines] : lines.slice(0, end);
}
