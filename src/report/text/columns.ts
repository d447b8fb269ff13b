/** Text in columns for a terminal of 80. Pure. */

import stringWidth from "string-width";
import { formatPercent } from "../../context/report/amounts.ts";

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** At most `width` columns; an ellipsis stands for what is missing. */
export function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = "";
  let left = width - 1;
  for (const { segment } of segmenter.segment(text)) {
    left -= stringWidth(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Exactly `width` columns. */
export function filled(text: string, width: number): string {
  const short = cut(text, width);
  return short + " ".repeat(width - stringWidth(short));
}

/** Lines of at most `width` columns, broken between words. */
export function wrap(text: string, width = 80): string[] {
  const lines: string[] = [];
  let left = 0;
  for (const word of text.trim().split(/\s+/)) {
    const columns = stringWidth(word);
    left -= columns + 1;
    if (lines.length > 0 && left >= 0) lines[lines.length - 1] += ` ${word}`;
    else {
      lines.push(word);
      left = width - columns;
    }
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
