/** A list to choose from: searched while typing, with a preview of the marked item. Pure. */

import fuzzysort from "fuzzysort";
import { type Editor, edit, emptyEditor, layOut } from "../input/editor.ts";
import type { Key } from "../input/keys.ts";
import type { PickItem, PickRequest } from "../ports/sessions.ts";
import { type Caret, cut, type Row, type Size, safe, width, wrap } from "../rows/rows.ts";

export type Preview = ReturnType<NonNullable<PickRequest["preview"]>>;

export type Picker = Pick<PickRequest, "title" | "items" | "few" | "enter" | "empty"> & {
  /** Title of the list that Tab would show. */
  other?: string | undefined;
  query: Editor;
  /** Items that match the query, best first, and the index of the marked one. */
  found: readonly PickItem[];
  chosen: number;
  preview?: Preview | undefined;
};

/** A list on screen, and the caller that waits for the pick. */
export type Picking = {
  request: PickRequest;
  picker: Picker;
  wide: boolean;
  previews: Map<string, Picker["preview"]>;
  settle(id: string | undefined): void;
};

/** The effect of a key: a changed list, a choice, the other list, or closing. */
export type PickReaction =
  | { type: "changed"; picker: Picker }
  | { type: "picked"; item: PickItem }
  | { type: "other" }
  | { type: "closed" };

/** Creates a picker over these items, with the first one marked. */
export function pickerOf(given: Omit<Picker, "query" | "found" | "chosen" | "preview">): Picker {
  const { title, items, few, enter, empty, other } = given;
  return { title, items, few, enter, empty, other, query: emptyEditor, found: items, chosen: 0 };
}

/** Applies the same search words to another list. */
export function withQuery(picker: Picker, query: Editor): Picker {
  return { ...picker, query, found: search(picker.items, query.text) };
}

export function chosenItem({ found, chosen }: Picker): PickItem | undefined {
  return found[chosen];
}

/** Characters of an item that are searched. */
const searched = 400;

/** Returns the items that match the words, in any order of letters within reason; without words all of them. */
export function search(items: readonly PickItem[], words: string): readonly PickItem[] {
  const wanted = words.trim();
  if (wanted === "") return items;
  const keys = [
    (item: PickItem) => item.label.slice(0, searched),
    (item: PickItem) => `${item.words ?? ""} ${item.facts.join(" ")} ${item.mark ?? ""}`.slice(0, searched),
  ];
  return fuzzysort.go(wanted, items as PickItem[], { keys, limit: 0 }).map(({ obj }) => obj);
}

/** Returns the part of a window that a picker gets: above the status, with one row to spare. */
export function pickerSize({ columns, rows }: Size): Size {
  return { columns, rows: Math.max(2, rows - (rows >= 12 ? 3 : 2)) };
}

/** Handles a key; undefined when the picker does not use it. `size`: of the picker. */
export function onPickerKey(picker: Picker, key: Key, { columns, rows }: Size): PickReaction | undefined {
  const last = picker.found.length - 1;
  const to = (chosen: number): PickReaction => ({
    type: "changed",
    picker: { ...picker, chosen: Math.max(0, Math.min(last, chosen)) },
  });
  const page = Math.max(1, roomOf(picker, rows).list - 1);
  switch (key.type === "key" ? key.key : "") {
    case "up":
    case "ctrl-p":
      return to(picker.chosen === 0 ? last : picker.chosen - 1);
    case "down":
    case "ctrl-n":
      return to(picker.chosen === last ? 0 : picker.chosen + 1);
    case "pageup":
      return to(picker.chosen - page);
    case "pagedown":
      return to(picker.chosen + page);
    case "tab":
      return picker.other === undefined ? undefined : { type: "other" };
    case "escape":
    case "ctrl-c":
      return { type: "closed" };
    case "enter": {
      const item = chosenItem(picker);
      return item && { type: "picked", item };
    }
  }
  if (picker.few) {
    const item = key.type === "text" ? picker.found[Number(key.text) - 1] : undefined;
    return item && { type: "picked", item };
  }
  const edited = edit(picker.query, key, columns);
  return edited && { type: "changed", picker: searching(picker, edited) };
}

/** Searches by the words, as one line and without the marks of pastes. */
function searching(picker: Picker, edited: Editor): Picker {
  const whole = [...edited.pastes].reduce(
    (text, [mark, paste]) => text.replace(mark, () => paste),
    edited.text,
  );
  const text = whole
    .replaceAll(/\s*\n\s*/g, " ")
    .slice(0, searched)
    .toWellFormed();
  const cursor = whole === text ? edited.cursor : text.length;
  const query: Editor = { ...edited, text, cursor, pastes: new Map() };
  if (text.trim() === picker.query.text.trim()) return { ...picker, query };
  return { ...withQuery(picker, query), chosen: 0 };
}

type Room = { head: boolean; words: boolean; hint: boolean; list: number; preview: number };

/** Distributes the rows; the list keeps its height whatever is found. */
function roomOf({ items, few }: Picker, rows: number): Room {
  const [head, hint, words] = [rows >= 7 || few === true, rows >= 5, !few];
  const body = Math.max(1, rows - [head, hint, words].filter(Boolean).length);
  // A few choices are all shown, whatever is left for the preview.
  const least = few ? -1 : Math.floor(body * 0.45);
  const wanted = Math.max(least, Math.min(mostPreview, body - items.length - 1));
  const list = Math.min(Math.max(1, items.length), body < 5 ? body : body - wanted - 1);
  return { head, hint, words, list, preview: Math.max(0, Math.min(mostPreview, body - list - 1)) };
}

const mostPreview = 14;

/** An item as listed. `facts`: the text after label and mark, padded to end at the edge. */
export type ListedItem = { label: string; mark?: string | undefined; facts: string; chosen: boolean };

/** A picker from top to bottom; parts without room are left out. */
export type PickerView = {
  title?: string | undefined;
  count?: string | undefined;
  words?: { text: string; empty: boolean } | undefined;
  items: readonly ListedItem[];
  /** Blank rows below the items: the list keeps its height whatever is found. */
  blank: number;
  preview: readonly Row[];
  hint?: string | undefined;
  height: number;
  caret: Caret;
};

/** Lays out at most `size.rows` rows; the cursor stands in the words, or at the mark. */
export function pickerView(picker: Picker, size: Size): PickerView {
  const { columns } = size;
  const { title, found, items: all, few, chosen } = picker;
  const room = roomOf(picker, size.rows);
  const words = wordsOf(picker, columns);
  const preview = previewRows(picker, columns, room.preview);
  const items = listedItems(picker, columns, room.list);
  const count = found.length === all.length ? `${all.length}` : `${found.length} of ${all.length}`;
  const head = Number(room.head);
  const below = preview.length > 0 ? [[], ...preview] : [];
  return {
    ...(room.head ? { title: safe(title), ...(few ? {} : { count }) } : {}),
    ...(room.words ? { words: { text: words.text, empty: words.empty } } : {}),
    items,
    blank: Math.max(0, room.list - items.length),
    preview: below,
    ...(room.hint ? { hint: hintOf(picker, columns) } : {}),
    height: head + Number(room.words) + Math.max(items.length, room.list) + below.length + Number(room.hint),
    caret: room.words
      ? { row: head, column: Math.min(columns - 1, words.column) }
      : { row: head + Math.min(chosen, room.list - 1), column: 2 },
  };
}

function wordsOf({ query }: Picker, columns: number): { text: string; empty: boolean; column: number } {
  const { rows, caret } = layOut(query, columns - promptColumns);
  const text = rows[caret.row]?.text ?? "";
  return { text, empty: query.text === "", column: promptColumns + caret.column };
}

/** Columns before the search words. */
const promptColumns = 4;

/** Returns a window of the list around the marked item, at most `most` items. */
function listedItems(picker: Picker, columns: number, most: number): ListedItem[] {
  const { found, items, chosen, empty, few } = picker;
  if (found.length === 0) {
    const label = items.length === 0 ? empty : "nothing matches these words";
    return [{ label, facts: "", chosen: false }];
  }
  const first = Math.max(0, Math.min(chosen - Math.floor(most / 2), found.length - most));
  const shown = found.slice(first, first + most);
  const widths = factColumns(shown, columns);
  const room = Math.max(4, columns - 4 - total(widths));
  return shown.map(({ label, mark, facts }, index): ListedItem => {
    const warned = mark ? ` ${cut(safe(mark), Math.floor(room / 2))}` : "";
    const text = few ? `${index + 1} ${safe(label)}` : safe(label);
    const named = cut(text, room - width(warned));
    const gap = " ".repeat(Math.max(0, room - width(named) - width(warned)));
    const right = widths.map((size, at) => {
      const fact = factOf(facts, at);
      return `  ${" ".repeat(Math.max(0, size - width(fact)))}${fact}`;
    });
    const listed = {
      label: named,
      facts: (gap + right.join("")).trimEnd(),
      chosen: first + index === chosen,
    };
    return warned ? { ...listed, mark: warned } : listed;
  });
}

/** Returns the widths of the facts that leave half of the row to the label; the last ones are dropped first. */
function factColumns(items: readonly PickItem[], columns: number): number[] {
  const most = Math.max(...items.map(({ facts }) => facts.length));
  const widths = Array.from({ length: most }, (_, index) =>
    Math.max(...items.map(({ facts }) => width(factOf(facts, index)))),
  );
  while (widths.length > 0 && total(widths) > columns * 0.45) widths.pop();
  return widths;
}

function factOf(facts: readonly string[], index: number): string {
  return cut(safe((facts[index] ?? "").slice(0, 100)), longestFact);
}

const longestFact = 30;

function total(widths: readonly number[]): number {
  return widths.reduce((sum, each) => sum + each + 2, 0);
}

function previewRows({ preview, found }: Picker, columns: number, most: number): Row[] {
  if (!preview || most === 0 || found.length === 0) return [];
  const atEnd = preview.keep === "end";
  const shown: Row[] = [];
  // A long preview is wrapped only as far as it is shown.
  for (const row of atEnd ? preview.rows.toReversed() : preview.rows) {
    const wrapped = wrap(row, columns - bar.length, "  ");
    if (atEnd) shown.unshift(...wrapped);
    else shown.push(...wrapped);
    if (shown.length >= most) break;
  }
  const kept = atEnd ? shown.slice(-most) : shown.slice(0, most);
  return kept.map((row): Row => [{ text: bar, tone: "dim" }, ...row]);
}

const bar = "  │ ";

/** Returns as much of the key hints as fits; how to leave stays longest. */
function hintOf({ enter, other }: Picker, columns: number): string {
  const tab = other === undefined ? [] : [`Tab ${other}`];
  const verbs = [...tab, `Enter ${enter}`, "Esc closes"];
  const choices = [["↑↓ PgUp PgDn", ...verbs], verbs, [...tab, "Enter", "Esc"], ["Enter", "Esc"]];
  const texts = choices.map((parts) => `  ${parts.join(" · ")}`);
  return texts.find((text) => width(text) <= columns) ?? "";
}
