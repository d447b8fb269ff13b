/** Markdown as rows, one source line at a time, so that a streaming answer can be printed for good. Pure. */

import { highlight } from "./highlight.ts";
import { cut, cutRow, plain, type Row, rowWidth, type Span, safe, type Tone, width, wrap } from "./rows.ts";

/**
 * The state within the text: inside a fence, in a table of unknown width, or after a list item that the next line may
 * continue. `printed`: number of characters of the unfinished line that are rows already.
 */
export type MarkdownState = {
  fence?: { mark: string; language: string };
  table?: string[];
  item?: string;
  printed?: number;
};

/** The rows of a line, and the state after it. */
export type MarkdownRows = { rows: Row[]; state: MarkdownState };

const itemStart = /^(\s*)([-*+]|\d{1,3}[.)])\s+(?:\[([ xX])\]\s+)?/;
const separator = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;

/** Maximum lines of a table that are held back. */
const maxTable = 200;

/** Renders one whole line of the source, without its line feed. */
export function markdownLine(line: string, state: MarkdownState, columns: number): MarkdownRows {
  const text = safe(line);
  if (state.fence) return fenced(text, state.fence, columns, state.printed);
  if (state.printed) return { rows: proseRows(text, columns, state.printed), state: {} };
  const before = markdownEnd(state, columns);
  if (/^\s*\|.*\|\s*$/.test(text) && (state.table?.length ?? 0) < maxTable)
    return { rows: state.table ? [] : before, state: { table: [...(state.table ?? []), text] } };
  if (state.item !== undefined && continuesItem(state.item, text))
    return { rows: [], state: { item: `${state.item.trimEnd()} ${text.trimStart()}` } };
  const opened = /^\s{0,6}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/.exec(text);
  if (opened)
    return { rows: before, state: { fence: { mark: opened[1] ?? "```", language: opened[2] ?? "" } } };
  if (isItem(text)) return { rows: before, state: { item: text } };
  return { rows: [...before, ...proseRows(text, columns)], state: {} };
}

function isItem(text: string): boolean {
  return itemStart.test(text) && !separator.test(text);
}

/** Returns true for a wrapped line of a list item: its line break is the source's, not the reader's. */
function continuesItem(item: string, text: string): boolean {
  const isText = /^\s+\S/.test(text) && !isItem(text) && !/^\s*(?:\||#{1,6}\s|>|`{3,}|~{3,})/.test(text);
  return isText && !/(?: {2}|\\)$/.test(item) && item.length < longestHead;
}

/** Renders the lines still held back when the text ends. */
export function markdownEnd({ table, item }: MarkdownState, columns: number): Row[] {
  if (item !== undefined) return proseRows(item, columns);
  return table ? tableRows(table, columns) : [];
}

/** Renders an unfinished line, with everything held back before it. */
export function markdownTail(line: string, state: MarkdownState, columns: number): Row[] {
  if (line === "") return markdownEnd(state, columns);
  const { rows, state: after } = markdownLine(line, state, columns);
  return [...rows, ...markdownEnd(after, columns)];
}

/**
 * Returns the first rows of an unfinished line that later text cannot change; undefined while it has at most `most`.
 */
export function markdownHead(
  line: string,
  state: MarkdownState,
  columns: number,
  most: number,
): MarkdownRows | undefined {
  const { printed = 0 } = state;
  const long = line.length - printed;
  // A line that begins at the margin is no part of the item before it.
  if (state.item !== undefined && /^\S/.test(line)) return { rows: markdownEnd(state, columns), state: {} };
  if (
    state.fence ||
    state.table ||
    state.item !== undefined ||
    long * 2 < columns * most ||
    long > longestHead ||
    /^\s*\|/.test(line)
  )
    return undefined;
  const whole = safe(line);
  const begin = Math.max(printed, proseOf(whole).from);
  const text = whole.slice(0, begin + 4 * columns * (most + 1));
  const rows = proseRows(text, columns, printed);
  if (rows.length <= most) return undefined;
  const ends = Array.from(text.matchAll(breaks), ({ index, 0: found }) => index + found.length).filter(
    (end) => end > begin,
  );
  const rowsTo = (end: number) => proseRows(text.slice(0, end).trimEnd(), columns, printed);
  for (let count = most; count > 0; count--) {
    const at = lastWhere(ends, (end) => rowsTo(end).length <= count);
    const [end, next] = [ends[at], ends[at + 1]];
    // The word after the row must not get shorter either: it might then have fitted.
    if (end === undefined || next === undefined || !isClosed(text.slice(begin, next))) continue;
    const head = rows.slice(0, count);
    if (words(rowsTo(end)) === words(head)) return { rows: head, state: { ...state, printed: end } };
  }
  return undefined;
}

/** Returns the index of the last item for which it holds, where it holds for all before that one; -1 for none. */
function lastWhere(items: readonly number[], matches: (item: number) => boolean): number {
  let [low, high] = [-1, items.length];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (matches(items[middle] ?? 0)) low = middle;
    else high = middle;
  }
  return low;
}

function words(rows: readonly Row[]): string {
  return rows.map((row) => plain(row).trimEnd()).join("\n");
}

const longestHead = 8000;
/** Matches places for a line break: after spaces, and after characters of scripts without them. */
const breaks = / +(?=\S)|[\u3000-\u9fff\uac00-\ud7af\uff00-\uff65](?=.)/g;
/** Matches the possible beginning of unfinished markup. */
const opener = /`|\*\*(?=\S)|(?<![\w*])\*(?=[^\s*])|(?<!\w)_(?=[^\s_])|~~(?=\S)|\[|\\$/;

function isClosed(text: string): boolean {
  return inline(text).every((span) => span.tone !== undefined || !opener.test(span.text));
}

function fenced(
  text: string,
  fence: { mark: string; language: string },
  columns: number,
  printed = 0,
): MarkdownRows {
  const closes = /^\s*(`{3,}|~{3,})\s*$/.exec(text)?.[1];
  if (closes?.startsWith(fence.mark)) return { rows: [], state: {} };
  const rest = highlight(text.slice(printed), fence.language);
  const rows = printed > 0 && rest.length === 0 ? [] : wrap([{ text: "  " }, ...rest], columns, "  ");
  return { rows, state: { fence } };
}

/** A line of prose: the text before its words, where they begin and end, and the text before later rows. */
type Prose = { lead: Row; from: number; to: number; indent: string; tone?: Tone };

function proseOf(text: string): Prose {
  const to = text.length;
  const [heading] = /^ {0,3}#{1,6}\s+/.exec(text) ?? [];
  if (heading !== undefined)
    return {
      lead: [],
      from: heading.length,
      to: text.replace(/\s*#*$/, "").length,
      indent: "",
      tone: "heading",
    };
  const [quote] = /^\s{0,3}>\s?/.exec(text) ?? [];
  if (quote !== undefined)
    return { lead: [{ text: "│ ", tone: "dim" }], from: quote.length, to, indent: "│ ", tone: "em" };
  const item = itemStart.exec(text);
  if (!item) return { lead: [], from: 0, to, indent: /^\s*/.exec(text)?.[0] ?? "" };
  const [all, indent = "", bullet = "", box] = item;
  const mark = box === undefined ? (bullet.length === 1 ? "•" : bullet) : box === " " ? "☐" : "☑";
  const lead = `${indent}${mark} `;
  return { lead: [{ text: lead, tone: "dim" }], from: all.length, to, indent: " ".repeat(width(lead)) };
}

/** Returns the rows of a line, or of the rest of it after the `printed` characters. */
function proseRows(text: string, columns: number, printed = 0): Row[] {
  if (separator.test(text)) return [[{ text: "─".repeat(Math.min(8, columns)), tone: "dim" }]];
  const { lead, from, to, indent, tone } = proseOf(text);
  if (printed <= from) return wrap([...lead, ...inline(text.slice(from, to), tone)], columns, indent);
  return printed < to
    ? wrap([{ text: indent }, ...inline(text.slice(printed, to).replace(/^ /, ""), tone)], columns, indent)
    : [];
}

const marks =
  /(`+)(.+?)\1(?!`)|\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])(.+?)(?<=[^\s_])_(?!\w)|~~(?=\S)(.+?)(?<=\S)~~|\[([^\]]+)\]\(([^)\s]+)\)|\\([\\`*_{}[\]()#+\-.!|>~])/g;

/** Converts markup in a text to tones. */
function inline(text: string, tone?: Tone): Row {
  const spans: Span[] = [];
  let end = 0;
  for (const found of text.matchAll(marks)) {
    if (found.index > end) spans.push({ text: text.slice(end, found.index), tone });
    spans.push(...marked(found, tone));
    end = found.index + found[0].length;
  }
  if (end < text.length || spans.length === 0) spans.push({ text: text.slice(end), tone });
  return spans;
}

function marked(found: RegExpExecArray, tone: Tone | undefined): Span[] {
  const [, , code, strong, em, slanted, struck, label, target, escaped] = found;
  if (code !== undefined)
    return [{ text: code.trim() === "" ? code : code.replace(/^ (.*) $/, "$1"), tone: "code" }];
  if (strong !== undefined) return inline(strong, "strong");
  const leaning = em ?? slanted;
  if (leaning !== undefined) return inline(leaning, "em");
  if (struck !== undefined) return [{ text: struck, tone: "dim" }];
  if (label !== undefined)
    return label === target
      ? [{ text: label, tone: "link" }]
      : [
          { text: label, tone: "link" },
          { text: ` (${target})`, tone: "dim" },
        ];
  return [{ text: escaped ?? "", tone }];
}

const gap = "  ";

function tableRows(lines: readonly string[], columns: number): Row[] {
  const table = lines.map(cellsOf);
  const isRule = (cells: readonly string[]) => cells.every((cell) => /^:?-+:?$/.test(cell));
  const shown = table.filter((cells) => !isRule(cells)).map((cells) => cells.map((cell) => inline(cell)));
  const count = Math.max(0, ...shown.map((cells) => cells.length));
  const natural = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...shown.map((cells) => rowWidth(cells[at] ?? []))),
  );
  const widths = narrowed(natural, columns - gap.length * Math.max(0, count - 1));
  const hasHead = table.length > 1 && isRule(table[1] ?? []);
  const rightAligned = (at: number) => hasHead && /^-+:$/.test(table[1]?.[at] ?? "");
  return shown.flatMap((cells, index) => {
    const row = widths.flatMap((room, at) => [
      ...(at > 0 ? [{ text: gap }] : []),
      ...filled(cells[at] ?? [], room, rightAligned(at)),
    ]);
    if (index > 0 || !hasHead) return [row];
    const rule = widths.map((room) => "─".repeat(room)).join(gap);
    return [
      row.map((each) => ({ ...each, tone: each.tone ?? ("strong" as const) })),
      [{ text: rule, tone: "dim" as const }],
    ];
  });
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** Narrows the widest columns until all fit. */
function narrowed(widths: number[], room: number): number[] {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if ((fitted[widest] ?? 0) <= 3) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
}

function filled(cell: Row, room: number, right: boolean): Row {
  const short = rowWidth(cell) > room ? cutRow(cell, room) : cell;
  const blank = { text: " ".repeat(Math.max(0, room - rowWidth(short))) };
  return right ? [blank, ...short] : [...short, blank];
}

/** Reduces a text to one line of plain words, for lists and summaries. */
export function gist(text: string, columns: number): string {
  return cut(safe(text.replaceAll(/\s+/g, " ").trim()), columns);
}
