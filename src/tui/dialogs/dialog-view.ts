/** Lays out a question within a height: its subject, the targets of links, the reason, and the answers. Pure. */

import { isKnownTool, type Touches, toolNames, touchesOf } from "../../core/tool-calls.ts";
import { callTitle, type RowContext } from "../blocks/tool-rows.ts";
import { layOut } from "../input/editor.ts";
import type { Confirmation, Question } from "../ports/session.ts";
import {
  type Caret,
  cut,
  cutRow,
  ending,
  literal,
  type Row,
  rowWidth,
  type Span,
  width,
  wrap,
} from "../rows/rows.ts";
import { type Choice, choicesOf, isConfirmation, type PendingQuestion } from "./dialog.ts";
import type { Form } from "./form.ts";
import { formRows } from "./form-rows.ts";
import { subjectRows } from "./subject.ts";

type Any = Question | Confirmation;

/** Rows of the parts, from top to bottom. `choices`: one row for each answer, or one for all of them. */
export type DialogView = {
  title: Row[];
  subject: Row[];
  links: Row[];
  why: Row[];
  choices: { type: "row"; row: Row } | { type: "list"; choices: readonly ListedChoice[] };
  typed: Row[];
  caret: Caret;
  height: number;
};

/** An answer in a row of its own. `where`: the place that would store it, if there is room. */
export type ListedChoice = { label: string; where?: string | undefined; marked: boolean };

/** Below this number of rows the answers stand side by side. */
const listedFrom = 10;

/**
 * Lays out the parts in at most `maxRows` rows. The answers come first, always including the refusal; then one row each
 * of the subject, of a link in it, of the title and of the reason; the remaining rows go to the subject.
 */
export function dialogView(
  { question, instead, choice, form }: PendingQuestion,
  context: RowContext,
  maxRows: number,
): DialogView {
  if (form) return formView(question, form, context, maxRows);
  const columns = context.columns - 4;
  const small = maxRows < listedFrom;
  const written = instead && layOut(instead, columns - 2);
  const typed = written ? typedRows(written.rows, written.caret.row, Math.max(1, maxRows - 2)) : undefined;
  const options = choicesOf(question);
  const choices: DialogView["choices"] =
    small && !typed
      ? { type: "row", row: choiceRow(options, choice, context.columns) }
      : { type: "list", choices: typed ? [] : listed(options, choice, context.columns) };
  const answers = choices.type === "row" ? 1 : choices.choices.length;
  const whole = {
    subject: subjectRows(question, { ...context, columns }),
    links: linkRows(question, columns),
    title: [titleRow(question, context)],
    why: whyRows(question, context.columns),
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

/** Returns title and words of a question, for a screen that is never redrawn. */
export function askedRows(question: Any, context: RowContext): Row[] {
  const columns = context.columns - 4;
  const words = subjectRows(question, { ...context, columns });
  return [titleRow(question, context), ...words.map((row): Row => [{ text: "    " }, ...row])];
}

/** Lays out a form: at most a third of the rows is for the words above it. */
function formView(question: Any, form: Form, context: RowContext, maxRows: number): DialogView {
  const columns = context.columns - 4;
  const words = subjectRows(question, { ...context, columns });
  const subject = shortened(words, Math.min(words.length, Math.floor(maxRows / 3)), columns).map(
    (row): Row => [{ text: "    " }, ...row],
  );
  const title = maxRows > 3 ? [titleRow(question, context)] : [];
  const above = title.length + subject.length;
  const { rows: typed, caret } = formRows(form, context.columns, Math.max(1, maxRows - above));
  return {
    ...{ title, subject, links: [], why: [], choices: { type: "list", choices: [] }, typed },
    ...{ caret: { ...caret, row: caret.row + above }, height: above + typed.length },
  };
}

/** Returns the parts one below the other, none wider than the window, for a screen that is never redrawn. */
export function dialogRows(pending: PendingQuestion, context: RowContext, maxRows: number): Row[] {
  const { title, subject, links, why, choices, typed } = dialogView(pending, context, maxRows);
  const answers = choices.type === "row" ? [choices.row] : choices.choices.map(listedChoiceRow);
  return [title, subject, links, why, answers, typed].flat().map((row) => cutRow(row, context.columns));
}

type Parts = Record<"title" | "subject" | "links" | "why", Row[]>;

/** Distributes rows: first one for each part in order of importance, then the subject, then links and reason. */
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

/** Returns the rows around the cursor of the text being typed, and the hint below them. */
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

/** Keeps the beginning and the end, with the number of hidden rows between them. */
function shortened(rows: Row[], most: number, columns: number): Row[] {
  if (rows.length <= most || most <= 0) return rows.slice(0, Math.max(0, most));
  const last = rows.at(-1) ?? [];
  if (most === 1) {
    const mark: Span = { text: rows.length > 2 ? ` … ${rows.length} rows … ` : " … ", tone: "strong" };
    // Only the last row may end in half a word.
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

/** Returns the last columns of a row, by whole spans cut at their beginning. */
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

function titleRow(question: Any, context: RowContext): Row {
  return [
    { text: "  ? ", tone: "warn" },
    { text: cut(titleOf(question, context), context.columns - 4), tone: "strong" },
  ];
}

/** Returns the question on one line: its title and the beginning of its subject. */
export function questionLine(question: Any, context: RowContext): string {
  const first =
    subjectRows(question, context)[0]
      ?.map(({ text }) => text)
      .join("") ?? "";
  return [titleOf(question, context), first.trim()].filter(Boolean).join(": ");
}

function titleOf(question: Any, context: RowContext): string {
  if (isConfirmation(question)) return question.title;
  if (question.connection) return literal(question.connection.title);
  if (question.elicitation) return literal(question.elicitation.title);
  if (question.changes) return `Take the changed tools of ${literal(question.changes.server)}?`;
  const { toolName, input, facts } = question;
  const call = { name: toolName, input };
  if (toolName === toolNames.bash)
    return question.outside ? "Run this outside of the sandbox?" : "Run this command?";
  if (toolName === toolNames.fetch) return "Fetch this page?";
  const { kind } = touchesOf(call, facts);
  const { verb, subject } = callTitle(call, context, facts);
  const action = isKnownTool(toolName) ? editorVerb(kind, verb) : capitalised(verb);
  const room = Math.max(8, context.columns - 8 - Math.max(6, width(action)));
  const link = question.links?.[0];
  if (!link) return `${action} ${ending(literal(subject), room)}?`;
  const [given, target] = [literal(subject), literal(link.target)];
  const both = `${given} → ${target}`;
  return `${action} ${width(both) <= room ? both : ending(target, room)}?`;
}

function editorVerb(kind: Touches["kind"], verb: string): string {
  if (kind === "reads") return "Read";
  return verb === "create" ? "Write" : "Change";
}

function capitalised(verb: string): string {
  return `${verb.slice(0, 1).toUpperCase()}${literal(verb.slice(1))}`;
}

/** Shows where links in the call really lead, because the command would read or write those files. */
function linkRows(question: Any, columns: number): Row[] {
  if (isConfirmation(question)) return [];
  const { links = [], outside = [] } = question;
  const notes = outside.flatMap((note) => wrap([{ text: literal(note), tone: "warn" }], columns));
  const targets = links.map(({ path, target }): Row => {
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
  return [...notes, ...targets];
}

function listed(options: readonly Choice[], choice: number, columns: number): ListedChoice[] {
  return options.map(({ label, where }, index) => {
    const room = columns - label.length - 8;
    return {
      label,
      marked: index === choice,
      ...(where && room >= 8 ? { where: ending(literal(where), room) } : {}),
    };
  });
}

function listedChoiceRow({ label, where, marked }: ListedChoice, index: number): Row {
  return [
    { text: `${marked ? "  ❯ " : "    "}${index + 1} ${label}` },
    ...(where === undefined ? [] : [{ text: `  ${where}`, tone: "dim" as const }]),
  ];
}

/**
 * Returns all answers in one row. Where they do not fit, those in the middle give way: the first, the marked one and
 * the refusal at the end stay, the refusal longest.
 */
function choiceRow(options: readonly Choice[], marked: number, columns: number): Row {
  const all = options.map((_, index) => index);
  const last = options.length - 1;
  const some = (kept: number[]) => all.filter((index) => kept.includes(index));
  const forms: { shown: number[]; gap: string }[] = [
    { shown: all, gap: "  " },
    { shown: all, gap: " " },
    { shown: some([0, 1, marked, last]), gap: " " },
    { shown: some([0, marked, last]), gap: " " },
    { shown: some([marked, last]), gap: " " },
  ];
  const rows = forms.map(({ shown, gap }) => choices(options, shown, marked, gap));
  return rows.find((row) => rowWidth(row) <= columns) ?? choices(options, [last], marked, "");
}

function choices(options: readonly Choice[], shown: readonly number[], marked: number, gap: string): Row {
  return shown.flatMap((index, at): Row => {
    const skipped = index - (shown[at - 1] ?? -1) > 1;
    const isMarked = index === marked;
    return [
      { text: `${at === 0 ? "" : gap}${skipped ? "…" : ""}`, tone: "dim" },
      { text: isMarked ? "❯" : " ", tone: "accent" },
      {
        text: `${index + 1} ${options[index]?.short ?? ""}`,
        ...(isMarked ? { tone: "strong" as const } : {}),
      },
    ];
  });
}

/** Shows the exact rule that "always" would store, then the reason for the question. */
function whyRows(question: Any, columns: number): Row[] {
  if (isConfirmation(question)) return [];
  const { reason, suggestion, toolName, input } = question;
  const same = suggestion === `${toolName}(${String(input.command ?? "").trim()})`;
  const rule: Row = same
    ? [{ text: "    always allows exactly this command", tone: "dim" }]
    : [
        { text: "    always adds the rule ", tone: "dim" },
        { text: literal(suggestion ?? ""), tone: "code" },
      ];
  return [
    ...(suggestion ? wrap(rule, columns, "    ") : []),
    ...wrap([{ text: `    ${literal(reason)}`, tone: "dim" }], columns, "    "),
  ];
}
