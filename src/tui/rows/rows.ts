/** Rows of the screen: spans of text in a tone, measured and wrapped in columns. Pure. */

import stringWidth from "string-width";
import { cleanLine } from "../../core/text/clean-text.ts";

/**
 * The meaning of a text; `paint` defines how each looks. Only named colours, which every theme adapts to its
 * background; yellow, which most light themes do not, is for single marks.
 */
export type Tone =
  | "dim"
  | "strong"
  | "em"
  | "heading"
  | "link"
  | "accent"
  | "code"
  | "good"
  | "bad"
  | "warn"
  | "keyword"
  | "string"
  | "number"
  | "chosen";

export type Span = { text: string; tone?: Tone | undefined };
/** Spans hold no line feeds and no control characters. */
export type Row = Span[];

/** A window or a part of it, in character cells. */
export type Size = { columns: number; rows: number };
/** Position of the terminal's cursor, from the top left of the area it belongs to. */
export type Caret = { row: number; column: number };

const attributes: Record<Tone, string> = {
  dim: "2",
  strong: "1",
  em: "3",
  heading: "1",
  link: "4",
  accent: "",
  code: "",
  good: "",
  bad: "",
  warn: "",
  keyword: "",
  string: "",
  number: "",
  chosen: "7",
};
const colours: Partial<Record<Tone, string>> = {
  heading: "36",
  accent: "36",
  code: "36",
  good: "32",
  bad: "31",
  warn: "33",
  keyword: "35",
  string: "32",
  number: "36",
};

/** Returns the row with the terminal's codes. Without colour, weight and slant stay. */
export function paint(row: Row, colour: boolean): string {
  return row
    .map(({ text, tone }) => {
      const code = tone && [attributes[tone], colour ? colours[tone] : ""].filter(Boolean).join(";");
      return code ? `\x1b[${code}m${text}\x1b[0m` : text;
    })
    .join("");
}

/** Returns the bare text of a row. */
export function plain(row: Row): string {
  return row.map(({ text }) => text).join("");
}

const ascii = /^[ -~]*$/;
const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** Returns the number of columns that a text takes. */
export function width(text: string): number {
  return ascii.test(text) ? text.length : stringWidth(text);
}

export function rowWidth(row: Row): number {
  return row.reduce((sum, { text }) => sum + width(text), 0);
}

/** Splits a text into the characters that a person sees. */
export function graphemes(text: string): string[] {
  return ascii.test(text) ? text.split("") : Array.from(segmenter.segment(text), ({ segment }) => segment);
}

const invisible =
  /[\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;

/**
 * Makes foreign text safe to show on one row: no escapes, tabs or line feeds, and nothing that hides or turns text
 * around.
 */
export function safe(text: string): string {
  const line = cleanLine(text).replaceAll("\t", "    ").replaceAll("\n", " ");
  if (ascii.test(line)) return line;
  return line.replace(invisible, codePoint);
}

const controls = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;
const words = /[\w\u0370-\u03ff\u0400-\u04ff\uff01-\uff5e]+/g;
/** Cyrillic, Greek and full-width letters that look like a Latin one. */
const lookAlikes = /[асеорхуіјѕһԁԛԝАВСЕНІЈКМОРЅТХҮοναΑΒΕΖΗΙΚΜΝΟΡΤΥΧ\uff01-\uff5e]/g;
/** Letters that are invisible. */
const blankLetters = /[\u115f\u1160\u3164\uffa0]/g;

/**
 * Shows foreign text on one row with nothing removed, for a command or a path that somebody has to judge. `safe` shows
 * the text that a terminal would leave; here each control character is named, and so is, in a word of Latin letters,
 * each letter that only looks like one.
 */
export function literal(text: string): string {
  const line = text.toWellFormed().replaceAll("\t", "    ").replaceAll("\n", " ");
  if (ascii.test(line)) return line;
  return line
    .replace(controls, codePoint)
    .replace(invisible, codePoint)
    .replace(blankLetters, codePoint)
    .replace(words, (word) => (/[a-z]/i.test(word) ? word.replace(lookAlikes, codePoint) : word));
}

function codePoint(char: string): string {
  return `<U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Cuts a text to `columns` columns, with an ellipsis where something was cut. */
export function cut(text: string, columns: number): string {
  if (columns <= 0) return "";
  if (text.length <= columns && ascii.test(text)) return text;
  // No grapheme takes less than a column here, so a longer text need not be measured whole.
  const near = text.slice(0, 8 * columns + 64);
  if (near.length === text.length && width(text) <= columns) return text;
  let [used, kept] = [0, ""];
  for (const grapheme of graphemes(near)) {
    used += width(grapheme);
    if (used > columns - 1) break;
    kept += grapheme;
  }
  return `${kept}…`;
}

/** Keeps the end of a path that is too long, which says most. */
export function ending(path: string, most: number): string {
  const chars = [...path];
  if (width(path) <= most) return path;
  let kept = "";
  for (const char of chars.toReversed()) {
    if (width(char + kept) > most - 1) break;
    kept = char + kept;
  }
  return `…${kept}`;
}

export function cutRow(row: Row, columns: number): Row {
  let left = columns;
  const kept: Row = [];
  for (const each of row) {
    const size = width(each.text);
    if (size > left) return [...kept, { ...each, text: cut(each.text, left) }];
    kept.push(each);
    left -= size;
  }
  return kept;
}

type Cell = { text: string; size: number; tone: Tone | undefined };

/** Wraps a row to `columns`, between words where possible; `indent` goes before all but the first. */
export function wrap(row: Row, columns: number, indent = ""): Row[] {
  if (rowWidth(row) <= columns) return [row];
  const room = Math.max(2, columns);
  const later = width(indent) < room - 1 ? indent : "";
  const cells: Cell[] = row.flatMap(({ text, tone }) =>
    graphemes(text).map((grapheme) => ({ text: grapheme, size: width(grapheme), tone })),
  );
  const lines: Row[] = [];
  for (let start = 0; start < cells.length; ) {
    const first = lines.length === 0;
    const end = lineEnd(cells, start, first ? room : room - width(later));
    const line = spansOf(cells.slice(start, end));
    lines.push(first || later === "" ? line : [{ text: later }, ...line]);
    start = end;
    while (cells[start]?.text === " ") start += 1;
  }
  return lines;
}

/** Returns the end of the line that begins at `start`: after the last space that fits, else after the last cell. */
function lineEnd(cells: readonly Cell[], start: number, room: number): number {
  let [used, end, space] = [0, start, 0];
  for (; end < cells.length; end++) {
    const cell = cells[end];
    used += cell?.size ?? 0;
    if (used > room) break;
    if (cell?.text === " ") space = end + 1;
  }
  if (end >= cells.length || cells[end]?.text === " ") return end;
  return space > start && cells.slice(start, space).some((cell) => cell.text !== " ")
    ? space
    : Math.max(end, start + 1);
}

function spansOf(cells: readonly Cell[]): Row {
  const spans: Span[] = [];
  for (const { text, tone } of cells) {
    const last = spans.at(-1);
    if (last && last.tone === tone) last.text += text;
    else spans.push({ text, tone });
  }
  return spans;
}
