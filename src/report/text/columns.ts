/** Text in columns for a terminal of 80. Pure. */

import { eastAsianWidth } from "get-east-asian-width";
import { formatPercent } from "../../context/report/amounts.ts";

/**
 * Columns that a text takes: two for a wide character, none for a combining one. `string-width` would also know emoji
 * of several characters, but costs each run that writes a report 66 ms.
 */
export function columnsOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let columns = 0;
  for (const character of text) columns += widthOf(character);
  return columns;
}

function widthOf(character: string): number {
  return /[\p{Mn}\p{Me}\p{Cf}]/u.test(character) ? 0 : eastAsianWidth(character.codePointAt(0) ?? 0);
}

/** At most `width` columns; an ellipsis stands for what is missing. */
export function cut(text: string, width: number): string {
  if (columnsOf(text) <= width) return text;
  let [columns, end] = [0, 0];
  for (const character of text) {
    columns += widthOf(character);
    if (columns > width - 1) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}

/** Exactly `width` columns. */
export function filled(text: string, width: number): string {
  const short = cut(text, width);
  return short + " ".repeat(width - columnsOf(short));
}

/** Lines of at most `width` columns, broken between words. */
export function wrap(text: string, width = 80): string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || columnsOf(line) + 1 + columnsOf(word) > width) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines;
}

const barWidth = 24;

/** A named amount with its share, as a number and as a bar. */
export function bar(name: string, amount: string, share: number): string {
  const eighths = Math.round(share * barWidth * 8);
  const part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8] ?? "";
  const drawn = "█".repeat(Math.floor(eighths / 8)) + part;
  return `  ${name.padEnd(18)} ${amount.padStart(12)} ${formatPercent(share, 0).padStart(6)}  ${drawn}`;
}
