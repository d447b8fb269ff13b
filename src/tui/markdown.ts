/** Markdown as rows, one source line at a time, so that an answer can be shown for good while it streams. Pure. */

import { highlight } from "./highlight.ts";
import { cut, cutRow, type Row, rowWidth, type Span, safe, type Tone, width, wrap } from "./rows.ts";

/** Where in the text we are: inside a fence, or in a table whose width is not known yet. */
export type Place = { fence?: { mark: string; language: string }; table?: string[] };

/** What a line became, and the place after it. */
export type Told = { rows: Row[]; place: Place };

/** Lines of a table that are held back at most. */
const maxTable = 200;

/** One whole line of the source, without its line feed. */
export function markdownLine(line: string, place: Place, columns: number): Told {
  const text = safe(line);
  if (place.fence) return fenced(text, place.fence, columns);
  if (/^\s*\|.*\|\s*$/.test(text) && (place.table?.length ?? 0) < maxTable)
    return { rows: [], place: { table: [...(place.table ?? []), text] } };
  const before = markdownEnd(place, columns);
  const opened = /^\s{0,6}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/.exec(text);
  if (opened)
    return { rows: before, place: { fence: { mark: opened[1] ?? "```", language: opened[2] ?? "" } } };
  return { rows: [...before, ...proseRows(text, columns)], place: {} };
}

/** What is still held back when the text ends. */
export function markdownEnd({ table }: Place, columns: number): Row[] {
  return table ? tableRows(table, columns) : [];
}

/** How a line that is not whole yet looks, with all that is held back before it. */
export function markdownTail(line: string, place: Place, columns: number): Row[] {
  if (line === "") return markdownEnd(place, columns);
  const { rows, place: after } = markdownLine(line, place, columns);
  return [...rows, ...markdownEnd(after, columns)];
}

function fenced(text: string, fence: { mark: string; language: string }, columns: number): Told {
  const closes = /^\s*(`{3,}|~{3,})\s*$/.exec(text)?.[1];
  if (closes?.startsWith(fence.mark)) return { rows: [], place: {} };
  const rows = wrap([{ text: "  " }, ...highlight(text, fence.language)], columns, "  ");
  return { rows, place: { fence } };
}

function proseRows(text: string, columns: number): Row[] {
  const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(text);
  if (heading) return wrap(inline(heading[2] ?? "", "heading"), columns);
  if (/^ {0,3}([-*_])(?:\s*\1){2,}\s*$/.test(text))
    return [[{ text: "─".repeat(Math.min(8, columns)), tone: "dim" }]];
  const quote = /^\s{0,3}>\s?(.*)$/.exec(text);
  if (quote) return wrap([{ text: "│ ", tone: "dim" }, ...inline(quote[1] ?? "", "em")], columns, "│ ");
  const item = /^(\s*)([-*+]|\d{1,3}[.)])\s+(?:\[([ xX])\]\s+)?(.*)$/.exec(text);
  if (!item) return wrap(inline(text), columns, /^\s*/.exec(text)?.[0]);
  const [, indent = "", bullet = "", box, rest = ""] = item;
  const mark = box === undefined ? (bullet.length === 1 ? "•" : bullet) : box === " " ? "☐" : "☑";
  const lead = `${indent}${mark} `;
  return wrap([{ text: lead, tone: "dim" }, ...inline(rest)], columns, " ".repeat(width(lead)));
}

const marks =
  /(`+)(.+?)\1(?!`)|\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<![\w*])\*(?=[^\s*])(.+?)(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])(.+?)(?<=[^\s_])_(?!\w)|~~(?=\S)(.+?)(?<=\S)~~|\[([^\]]+)\]\(([^)\s]+)\)|\\([\\`*_{}[\]()#+\-.!|>~])/g;

/** Text with its marks turned into tones. */
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
  return shown.flatMap((cells, index) => {
    const row = widths.flatMap((room, at) => [
      ...(at > 0 ? [{ text: gap }] : []),
      ...filled(cells[at] ?? [], room),
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

/** The widest columns give way until all fit. */
function narrowed(widths: number[], room: number): number[] {
  const fitted = [...widths];
  for (let over = fitted.reduce((sum, each) => sum + each, 0) - room; over > 0; over--) {
    const widest = fitted.indexOf(Math.max(...fitted));
    if ((fitted[widest] ?? 0) <= 3) break;
    fitted[widest] = (fitted[widest] ?? 0) - 1;
  }
  return fitted;
}

function filled(cell: Row, room: number): Row {
  const short = rowWidth(cell) > room ? cutRow(cell, room) : cell;
  return [...short, { text: " ".repeat(Math.max(0, room - rowWidth(short))) }];
}

/** One line of plain words out of a text: for lists and summaries. */
export function gist(text: string, columns: number): string {
  return cut(safe(text.replaceAll(/\s+/g, " ").trim()), columns);
}
