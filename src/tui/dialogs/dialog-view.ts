/** A question as it is drawn: what is asked, where links lead, why, and the ways to answer, within a height. Pure. */

import { isKnownTool, type Touches, touchesOf } from "../../core/tool-calls.ts";
import { callTitle, type RowContext } from "../blocks/tool-rows.ts";
import { layOut } from "../input/editor.ts";
import type { Confirmation, Question } from "../ports/session.ts";
import {
  type Caret,
  cut,
  cutRow,
  literal,
  type Row,
  rowWidth,
  type Span,
  width,
  wrap,
} from "../rows/rows.ts";
import { type Choice, isConfirmation, type PendingQuestion, waysOf } from "./dialog.ts";
import { subjectRows } from "./subject.ts";

type Any = Question | Confirmation;

/** Rows of the parts, from top to bottom. `choices`: one row for each way, or one for all of them. */
export type DialogView = {
  title: Row[];
  subject: Row[];
  links: Row[];
  why: Row[];
  choices: { type: "row"; row: Row } | { type: "list"; ways: readonly ListedWay[] };
  typed: Row[];
  caret: Caret;
  height: number;
};

/** A way to answer in a row of its own. `where`: what it would be stored in, where there is room for that. */
export type ListedWay = { label: string; where?: string | undefined; marked: boolean };

/** Fewer rows than this hold the ways side by side. */
const listedFrom = 10;

/**
 * The parts in at most `maxRows` rows. The ways to answer come first, among them always the one that refuses; then one
 * row each of what would run, of a link in it, of the title and of the reason; what is left goes to what would run.
 */
export function dialogView(
  { question, instead, choice }: PendingQuestion,
  around: RowContext,
  maxRows: number,
): DialogView {
  const columns = around.columns - 4;
  const small = maxRows < listedFrom;
  const written = instead && layOut(instead, columns - 2);
  const typed = written ? typedRows(written.rows, written.caret.row, Math.max(1, maxRows - 2)) : undefined;
  const ways = waysOf(question);
  const choices: DialogView["choices"] =
    small && !typed
      ? { type: "row", row: choiceRow(ways, choice, around.columns) }
      : { type: "list", ways: typed ? [] : listed(ways, choice, around.columns) };
  const answers = choices.type === "row" ? 1 : choices.ways.length;
  const whole = {
    subject: subjectRows(question, { ...around, columns }),
    links: linkRows(question, columns),
    title: [titleRow(question, around)],
    why: whyRows(question, around.columns),
  };
  const shown = shares(whole, Math.max(1, maxRows - answers - (typed?.rows.length ?? 0)));
  const indented = (rows: Row[]) => rows.map((row): Row => [{ text: "    " }, ...row]);
  const view = {
    title: whole.title.slice(0, shown.title),
    subject: indented(shortened(whole.subject, shown.subject, columns)),
    links: indented(whole.links.slice(0, shown.links)),
    why: whole.why.slice(0, shown.why),
    choices,
    typed: typed?.rows ?? [],
  };
  const above = view.title.length + view.subject.length + view.links.length + view.why.length;
  const caret =
    typed && written
      ? { row: above + written.caret.row - typed.first, column: 6 + written.caret.column }
      : { row: above + (small ? 0 : choice), column: 2 };
  return { ...view, caret, height: above + answers + view.typed.length };
}

/** The parts one below the other, none wider than the window, for a screen that is not drawn anew. */
export function dialogRows(asked: PendingQuestion, around: RowContext, maxRows: number): Row[] {
  const { title, subject, links, why, choices, typed } = dialogView(asked, around, maxRows);
  const answers = choices.type === "row" ? [choices.row] : choices.ways.map(wayRow);
  return [title, subject, links, why, answers, typed].flat().map((row) => cutRow(row, around.columns));
}

type Parts = Record<"title" | "subject" | "links" | "why", Row[]>;

/** Rows for each part: first one each in the order of their weight, then what would run, then where it leads and why. */
function shares(parts: Parts, room: number): Record<keyof Parts, number> {
  const given = { title: 0, subject: 0, links: 0, why: 0 };
  let left = room;
  const give = (part: keyof Parts, most: number): void => {
    const more = Math.max(0, Math.min(parts[part].length - given[part], most, left));
    given[part] += more;
    left -= more;
  };
  for (const part of ["subject", "links", "title", "why"] as const) give(part, 1);
  give("why", Math.floor(left / 4));
  give("links", Math.floor(left / 4));
  give("subject", left);
  give("links", left);
  give("why", left);
  return given;
}

/** The rows of the words that are being typed around the cursor, and the hint below them. */
function typedRows(
  laid: readonly { text: string }[],
  caret: number,
  most: number,
): { rows: Row[]; first: number } {
  const hint: Row[] =
    most > 1 ? [[{ text: "    Enter sends it; leave it empty to just say no", tone: "dim" }]] : [];
  const room = Math.max(1, most - hint.length);
  const first = Math.min(Math.max(0, caret - room + 1), Math.max(0, laid.length - room));
  const rows = laid
    .slice(first, first + room)
    .map(
      ({ text }, index): Row => [
        { text: first + index === 0 ? "    › " : "      ", tone: "accent" },
        { text },
      ],
    );
  return { rows: [...rows, ...hint], first };
}

/** The beginning and the end: whatever is left out stands between them, and its size is told. */
function shortened(rows: Row[], most: number, columns: number): Row[] {
  if (rows.length <= most || most <= 0) return rows.slice(0, Math.max(0, most));
  const last = rows.at(-1) ?? [];
  if (most === 1) {
    const mark: Span = { text: rows.length > 2 ? ` … ${rows.length} rows … ` : " … ", tone: "strong" };
    // The last row alone may hold half a word.
    const before = rows.at(-2) ?? [];
    const gap = before.at(-1)?.text.endsWith(" ") ? "" : " ";
    const tail = [...before, { text: gap }, ...last];
    const head = Math.max(1, Math.floor((columns - width(mark.text)) / 4));
    return [[...cutRow(rows[0] ?? [], head), mark, ...endOf(tail, columns - width(mark.text) - head)]];
  }
  if (most === 2) {
    const mark: Span = { text: ` … ${rows.length - 2} more rows …`, tone: "strong" };
    return [[...cutRow(rows[0] ?? [], columns - width(mark.text)), mark], last];
  }
  const below = Math.ceil((most - 1) / 2);
  const above = most - 1 - below;
  const mark: Row = [
    { text: `… ${rows.length - above - below} more rows; Ctrl-O shows them …`, tone: "strong" },
  ];
  return [...rows.slice(0, above), mark, ...rows.slice(-below)];
}

/** The last columns of a row, by whole spans cut at their beginning. */
function endOf(row: Row, columns: number): Row {
  let left = columns;
  const kept: Row = [];
  for (const span of row.toReversed()) {
    if (left <= 0) break;
    const text = width(span.text) <= left ? span.text : ending(span.text, left);
    kept.unshift({ ...span, text });
    left -= width(text);
  }
  return kept;
}

/** Of a path that is too long the end says most. */
function ending(path: string, most: number): string {
  const chars = [...path];
  if (width(path) <= most) return path;
  let kept = "";
  for (const char of chars.toReversed()) {
    if (width(char + kept) > most - 1) break;
    kept = char + kept;
  }
  return `…${kept}`;
}

function titleRow(question: Any, around: RowContext): Row {
  return [
    { text: "  ? ", tone: "warn" },
    { text: cut(titleOf(question, around), around.columns - 4), tone: "strong" },
  ];
}

function titleOf(question: Any, around: RowContext): string {
  if (isConfirmation(question)) return question.title;
  const { toolName, input, facts } = question;
  const call = { name: toolName, input };
  if (toolName === "bash") return "Run this command?";
  const { kind } = touchesOf(call, facts);
  const { verb, subject } = callTitle(call, around, facts);
  const does = isKnownTool(toolName) ? editorVerb(kind, verb) : capitalised(verb);
  const room = Math.max(8, around.columns - 8 - Math.max(6, width(does)));
  const link = question.links?.[0];
  if (!link) return `${does} ${ending(literal(subject), room)}?`;
  const [given, target] = [literal(subject), literal(link.target)];
  const both = `${given} → ${target}`;
  return `${does} ${width(both) <= room ? both : ending(target, room)}?`;
}

function editorVerb(kind: Touches["kind"], verb: string): string {
  if (kind === "reads") return "Read";
  return verb === "create" ? "Write" : "Change";
}

function capitalised(verb: string): string {
  return `${verb.slice(0, 1).toUpperCase()}${literal(verb.slice(1))}`;
}

/** Where links in the call really lead: what the command would read or write is not what its words say. */
function linkRows(question: Any, columns: number): Row[] {
  if (isConfirmation(question)) return [];
  const { links = [] } = question;
  return links.map(({ path, target }): Row => {
    const [given, to, real] = [literal(path), " leads to ", literal(target)];
    const whole = width(given + to + real) <= columns;
    return whole
      ? [
          { text: given, tone: "code" },
          { text: to, tone: "warn" },
          { text: real, tone: "code" },
        ]
      : [
          { text: "→ ", tone: "warn" },
          { text: ending(real, columns - 2), tone: "code" },
        ];
  });
}

function listed(ways: readonly Choice[], choice: number, columns: number): ListedWay[] {
  return ways.map(({ label, where }, index) => {
    const room = columns - label.length - 8;
    return {
      label,
      marked: index === choice,
      ...(where && room >= 8 ? { where: ending(literal(where), room) } : {}),
    };
  });
}

function wayRow({ label, where, marked }: ListedWay, index: number): Row {
  return [
    { text: `${marked ? "  ❯ " : "    "}${index + 1} ${label}` },
    ...(where === undefined ? [] : [{ text: `  ${where}`, tone: "dim" as const }]),
  ];
}

/**
 * All ways in one row. Where they do not fit, those in the middle give way: the first, the marked one and the last,
 * which refuses, stay; the last of all.
 */
function choiceRow(ways: readonly Choice[], marked: number, columns: number): Row {
  const all = ways.map((_, index) => index);
  const last = ways.length - 1;
  const some = (kept: number[]) => all.filter((index) => kept.includes(index));
  const forms: { shown: number[]; gap: string }[] = [
    { shown: all, gap: "  " },
    { shown: all, gap: " " },
    { shown: some([0, 1, marked, last]), gap: " " },
    { shown: some([0, marked, last]), gap: " " },
    { shown: some([marked, last]), gap: " " },
  ];
  const rows = forms.map(({ shown, gap }) => choices(ways, shown, marked, gap));
  return rows.find((row) => rowWidth(row) <= columns) ?? choices(ways, [last], marked, "");
}

function choices(ways: readonly Choice[], shown: readonly number[], marked: number, gap: string): Row {
  return shown.flatMap((index, at): Row => {
    const skipped = index - (shown[at - 1] ?? -1) > 1;
    const isMarked = index === marked;
    return [
      { text: `${at === 0 ? "" : gap}${skipped ? "…" : ""}`, tone: "dim" },
      { text: isMarked ? "❯" : " ", tone: "accent" },
      { text: `${index + 1} ${ways[index]?.short ?? ""}`, ...(isMarked ? { tone: "strong" as const } : {}) },
    ];
  });
}

/** The very rule that "always" would store, then why it asks. */
function whyRows(question: Any, columns: number): Row[] {
  if (isConfirmation(question)) return [];
  const { reason, suggestion, toolName, input } = question;
  const same = suggestion === `${toolName}(${String(input.command ?? "").trim()})`;
  const rule: Row = same
    ? [{ text: "    always means this very command", tone: "dim" }]
    : [
        { text: "    always means the rule ", tone: "dim" },
        { text: literal(suggestion ?? ""), tone: "code" },
      ];
  return [
    ...(suggestion ? wrap(rule, columns, "    ") : []),
    ...wrap([{ text: `    ${literal(reason)}`, tone: "dim" }], columns, "    "),
  ];
}
