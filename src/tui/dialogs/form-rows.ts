/** Lays out a form within a height: a row for each field, what the marked one takes, and the two ways to end. Pure. */

import { constraintText } from "../../core/form/read.ts";
import { layOut } from "../input/editor.ts";
import { type Caret, cut, cutRow, literal, type Row, type Span, width, wrap } from "../rows/rows.ts";
import { choicesIn, type Filled, type Form } from "./form.ts";

/** Rows, the first of which is `first` of all; the caret is counted from it. */
export type FormRows = { rows: Row[]; caret: Caret };

/** Columns before a label. */
const indent = 4;
/** Widest label. */
const widestLabel = 28;

/** Lays out the form in at most `most` rows around the marked one. */
export function formRows(form: Form, columns: number, most: number): FormRows {
  const labels = form.filled.map(({ field }) => width(labelOf(field)));
  const label = Math.min(widestLabel, Math.max(0, ...labels), Math.max(8, Math.floor(columns / 3)));
  const rows: Row[] = [];
  let caret = { row: 0, column: 0 };
  let last = 0;
  for (const [at, filled] of form.filled.entries()) {
    const isMarked = at === form.at;
    const value = isMarked ? markedValue(filled, columns - indent - label - 3) : plainValue(filled);
    if (isMarked)
      caret = { row: rows.length + value.caret.row, column: indent + label + 2 + value.caret.column };
    rows.push(...value.rows.map((row, line) => fieldRow(row, { line, isMarked, label, filled, columns })));
    if (isMarked) rows.push(...hintRows(filled, form.problem, columns));
    if (isMarked) last = rows.length - 1;
  }
  for (const [index, word] of ["Send", "Decline"].entries()) {
    const isMarked = form.at === form.filled.length + index;
    if (isMarked) {
      caret = { row: rows.length, column: 2 };
      last = rows.length;
    }
    rows.push([{ text: isMarked ? "  ❯ " : "    ", tone: "accent" }, strong(word, isMarked)]);
  }
  rows.push([{ text: cut(keysText(form), columns - 1), tone: "dim" }]);
  return windowed(rows, { caret, last, most });
}

function keysText({ filled, at }: Form): string {
  const field = filled[at]?.field;
  const ways = field && choicesIn(field) ? "←/→ and Space choose, " : "";
  return `    ${ways}Enter goes on, ↑/↓ move, Esc dismisses`;
}

/** Keeps the rows around the caret, with a mark where others are hidden. */
function windowed(
  rows: Row[],
  { caret, last, most }: { caret: Caret; last: number; most: number },
): FormRows {
  if (rows.length <= most) return { rows, caret };
  const end = Math.min(rows.length, Math.max(last + 1 + Math.floor(most / 3), most));
  const first = Math.max(0, Math.min(end - most, caret.row - (most > 2 ? 1 : 0)));
  const shown = rows.slice(first, first + most);
  const hidden = (text: string): Row => [{ text: `    ${text}`, tone: "dim" }];
  const below = rows.length - first - most;
  const at = caret.row - first;
  if (first > 0 && at > 0) shown[0] = hidden(`↑ ${first + 1} more`);
  if (below > 0 && at < most - 1) shown[most - 1] = hidden(`↓ ${below + 1} more`);
  return { rows: shown, caret: { ...caret, row: at } };
}

function labelOf({ title, required }: Filled["field"]): string {
  return `${literal(title)}${required ? " *" : ""}`;
}

type Place = { line: number; isMarked: boolean; label: number; filled: Filled; columns: number };

function fieldRow(value: Row, { line, isMarked, label, filled, columns }: Place): Row {
  const mark: Span = { text: isMarked && line === 0 ? "  ❯ " : "    ", tone: "accent" };
  const name = line === 0 ? cut(labelOf(filled.field), label) : "";
  return cutRow(
    [mark, strong(name + " ".repeat(Math.max(0, label - width(name))), isMarked), { text: "  " }, ...value],
    columns,
  );
}

function strong(text: string, isMarked: boolean): Span {
  return isMarked ? { text, tone: "strong" } : { text };
}

/** Returns a field that is not marked, in one row. */
function plainValue({ field, editor, chosen }: Filled): FormRows {
  const choices = choicesIn(field);
  const titles = choices?.filter(({ value }) => chosen.includes(value)).map(({ title }) => literal(title));
  const text = titles ? titles.join(", ") : literal(editor.text.replaceAll("\n", " ⏎ "));
  const row: Row = [text === "" ? { text: "–", tone: "dim" } : { text, tone: "code" }];
  return { rows: [row], caret: { row: 0, column: 0 } };
}

function markedValue(filled: Filled, room: number): FormRows {
  const choices = choicesIn(filled.field);
  if (choices) return chosenValue(filled, choices, room);
  const { rows, caret } = layOut(filled.editor, Math.max(4, room));
  return { rows: rows.map(({ text }): Row => [{ text, tone: "code" }]), caret };
}

/** Returns the choices: those of a list with boxes, of the others with the chosen one between angles. */
function chosenValue(
  { field, chosen, mark }: Filled,
  choices: readonly { value: string; title: string }[],
  room: number,
): FormRows {
  const isList = field.type === "some";
  const at = choices.findIndex(({ value }) => value === chosen[0]);
  const rows: Row[] = [[]];
  const caret = { row: 0, column: 0 };
  let used = 0;
  for (const [index, { value, title }] of choices.entries()) {
    const isChosen = chosen.includes(value);
    const text = choiceText(cut(literal(title), Math.max(4, room - 6)), isList, isChosen);
    const gap = 1 + Number(isList);
    if (used > 0 && used + gap + width(text) > room) {
      rows.push([]);
      used = 0;
    }
    const before = used > 0 ? gap : 0;
    if (index === (isList ? mark : Math.max(0, at)))
      Object.assign(caret, { row: rows.length - 1, column: used + before + Number(isList) });
    rows
      .at(-1)
      ?.push(
        { text: " ".repeat(before) },
        { text, ...(isChosen ? { tone: "code" as const } : { tone: "dim" as const }) },
      );
    used += before + width(text);
  }
  return { rows, caret };
}

function choiceText(title: string, isList: boolean, isChosen: boolean): string {
  if (isList) return `[${isChosen ? "x" : " "}] ${title}`;
  return isChosen ? `‹${title}›` : ` ${title} `;
}

/** Says what the marked field is about, and what is wrong with it. */
function hintRows({ field }: Filled, problem: string | undefined, columns: number): Row[] {
  const facts = [literal(field.description), constraintText(field)].filter(Boolean).join("; ");
  const space = " ".repeat(indent + 2);
  const said = problem === undefined ? "" : `${literal(field.title)} ${problem}`;
  return [
    ...(facts ? wrap([{ text: `${space}${facts}`, tone: "dim" }], columns - 1, space) : []),
    ...(said ? wrap([{ text: `${space}${said}`, tone: "warn" }], columns - 1, space) : []),
  ];
}
