/** Text in columns for a terminal of 80. Pure. */

import { formatPercent } from "../../context/report/amounts.ts";

/** At most `width` characters; what is missing is told by an ellipsis. */
export function cut(text: string, width: number): string {
  const characters = [...text];
  return characters.length > width ? `${characters.slice(0, width - 1).join("")}…` : text;
}

/** Exactly `width` characters. */
export function filled(text: string, width: number): string {
  const short = cut(text, width);
  return short + " ".repeat(width - [...short].length);
}

/** Lines of at most `width` characters, broken between words. */
export function wrap(text: string, width = 80): string[] {
  const lines: string[] = [];
  for (const word of text.trim().split(/\s+/)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word);
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
