/** A choice without redrawing: a numbered list, and lines that pick from it, search it or ask about an item. Pure. */

import { search } from "../dialogs/picker.ts";
import type { PickItem, PickRequest } from "../ports/sessions.ts";
import { plain, safe } from "../rows/rows.ts";

export type PlainPicker = { request: PickRequest; wide: boolean; words: string };

/** The effect of a line: the id of the picked item, none, or text to print first. */
export type PlainReaction =
  | { type: "picked"; id: string }
  | { type: "closed" }
  | { type: "printed"; picker: PlainPicker; lines: string[] };

/** Items of a list that are printed. */
const mostShown = 20;

export function plainPicker(request: PickRequest): PlainPicker {
  return { request, wide: false, words: "" };
}

/** Returns the list as lines, and the instructions. */
export function plainList(picker: PlainPicker): string[] {
  const { request, wide, words } = picker;
  const found = foundIn(picker);
  const more = found.length - mostShown;
  const title = wide && request.wider ? request.wider.title : request.title;
  return [
    words === "" ? title : `${title}, ${words}`,
    ...found.slice(0, mostShown).map((item, index) => `${index + 1} ${itemText(item)}`),
    ...(more > 0 ? [`and ${more} more: type words to search`] : []),
    ...(found.length === 0 ? [words === "" ? request.empty : "nothing matches these words"] : []),
    hint(picker),
  ];
}

function hint({ request: { wider, preview, few }, wide }: PlainPicker): string {
  const parts = [
    "Answer with a number",
    ...(preview ? ["a number and ? shows more about it"] : []),
    ...(few ? [] : ["anything else searches"]),
    ...(wider ? [`+ lists ${wide ? wider.back : wider.label}`] : []),
    "an empty line closes this",
  ];
  return `${parts.join("; ")}.`;
}

function itemText({ label, mark, facts }: PickItem): string {
  return [safe(label).slice(0, 120), mark, ...facts].filter(Boolean).join(", ");
}

function foundIn({ request, wide, words }: PlainPicker): readonly PickItem[] {
  return search(wide && request.wider ? request.wider.items() : request.items, words);
}

/** Handles a whole line. */
export function onPickLine(picker: PlainPicker, line: string): PlainReaction {
  const text = line.trim();
  if (text === "") return { type: "closed" };
  const listing = (next: PlainPicker): PlainReaction => ({
    type: "printed",
    picker: next,
    lines: plainList(next),
  });
  if (text === "+" && picker.request.wider) return listing({ ...picker, wide: !picker.wide, words: "" });
  const [, number, more] = /^(\d+)(\s*\?)?$/.exec(text) ?? [];
  if (number === undefined && picker.request.few) return { type: "printed", picker, lines: [hint(picker)] };
  if (number === undefined) return listing({ ...picker, words: text });
  const item = foundIn(picker).slice(0, mostShown)[Number(number) - 1];
  if (!item) return { type: "printed", picker, lines: [`there is no ${number} in this list`, hint(picker)] };
  if (more === undefined) return { type: "picked", id: item.id };
  const rows = picker.request.preview?.(item.id).rows ?? [];
  return { type: "printed", picker, lines: [...rows.map(plain), hint(picker)] };
}
