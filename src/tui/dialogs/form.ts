/** A form that the user fills in: the entries so far, and the effect of each key. Pure. */

import type { FormEntry, FormField } from "../../core/form/fields.ts";
import { readEntry, readForm } from "../../core/form/read.ts";
import { type Editor, edit, editorWith, wholeText } from "../input/editor.ts";
import type { Key } from "../input/keys.ts";
import type { Answer } from "../ports/session.ts";

/** A field with what was entered. `chosen`: values of its choices; `mark`: the choice that a key would take. */
export type Filled = { field: FormField; editor: Editor; chosen: readonly string[]; mark: number };

/** `at`: the marked row: a field, or behind them the two ways to end. `touched`: a key has reached the form. */
export type Form = {
  filled: readonly Filled[];
  at: number;
  problem?: string | undefined;
  touched: boolean;
};

export type FormReaction = { answer: Answer } | { form: Form } | undefined;

const dismissed: Answer = { decision: "deny", say: "", dismissed: true };
const declined: Answer = { decision: "deny", say: "" };
const yesOrNo = [
  { value: "true", title: "yes" },
  { value: "false", title: "no" },
];

/** Opens a form at its first field. */
export function formOf(fields: readonly FormField[]): Form {
  return { filled: fields.map(filledOf), at: 0, touched: false };
}

function filledOf(field: FormField): Filled {
  const { initial } = field;
  const chosen = typeof initial === "string" ? (initial === "" ? [] : [initial]) : initial;
  const text = typeof initial === "string" && !choicesIn(field) ? initial : "";
  return { field, editor: editorWith(text), chosen, mark: 0 };
}

/** Returns what a field chooses from; undefined for one that is typed. */
export function choicesIn(field: FormField): readonly { value: string; title: string }[] | undefined {
  if (field.type === "yes_no") return yesOrNo;
  return field.type === "one" || field.type === "some" ? field.choices : undefined;
}

/** Returns what was entered. */
export function entryOf({ field, editor, chosen }: Filled): FormEntry {
  if (field.type === "some") return chosen;
  return choicesIn(field) ? (chosen[0] ?? "") : wholeText(editor);
}

/** Handles a key. Moving on with Enter checks the field; sending checks all of them. */
export function onFormKey(before: Form, key: Key, columns: number): FormReaction {
  const form: Form = { ...before, touched: true };
  if (key.type === "key" && key.key === "escape") return { answer: dismissed };
  const current = form.filled[form.at];
  const changed =
    current && (choicesIn(current.field) ? choosing(current, key) : typing(current, key, columns));
  if (changed)
    return {
      form: { ...form, problem: undefined, filled: form.filled.with(form.at, changed) },
    };
  if (key.type !== "key") return { form };
  switch (key.key) {
    case "enter":
      return entered(form);
    case "up":
    case "shift-tab":
    case "ctrl-p":
      return { form: moved(form, -1) };
    case "down":
    case "tab":
    case "ctrl-n":
      return { form: moved(form, 1) };
    default:
      return { form };
  }
}

function moved(form: Form, by: 1 | -1): Form {
  const at = Math.max(0, Math.min(form.filled.length + 1, form.at + by));
  return { ...form, at, problem: undefined };
}

function entered(form: Form): FormReaction {
  const current = form.filled[form.at];
  if (current) {
    const read = readEntry(current.field, entryOf(current));
    return { form: "problem" in read ? { ...form, problem: read.problem } : moved(form, 1) };
  }
  if (form.at > form.filled.length) return { answer: declined };
  const fields = form.filled.map(({ field }) => field);
  const read = readForm(fields, form.filled.map(entryOf));
  if ("content" in read) return { answer: { decision: "allow", content: read.content } };
  return { form: { ...form, at: read.at, problem: read.problem } };
}

function typing(filled: Filled, key: Key, columns: number): Filled | undefined {
  const editor = edit(filled.editor, key, columns);
  return editor && { ...filled, editor };
}

/** Left and right go through the choices, a digit takes one, the space bar the marked one, backspace none. */
function choosing(filled: Filled, key: Key): Filled | undefined {
  const { field, mark } = filled;
  const choices = choicesIn(field) ?? [];
  if (key.type === "paste") return undefined;
  if (key.type === "text") {
    const letter = choices.findIndex(
      ({ title }) => title.slice(0, 1).toLowerCase() === key.text.toLowerCase(),
    );
    const index =
      key.text === " " ? spaceTakes(filled) : /^[1-9]$/.test(key.text) ? Number(key.text) - 1 : letter;
    return index < 0 || index >= choices.length ? filled : taken(filled, index);
  }
  switch (key.key) {
    case "left":
      return field.type === "some" ? { ...filled, mark: Math.max(0, mark - 1) } : stepped(filled, -1);
    case "right":
      return field.type === "some"
        ? { ...filled, mark: Math.min(choices.length - 1, mark + 1) }
        : stepped(filled, 1);
    case "backspace":
    case "delete":
      return { ...filled, chosen: [] };
    default:
      return undefined;
  }
}

function indexOfChosen({ field, chosen }: Filled): number {
  return choicesIn(field)?.findIndex(({ value }) => value === chosen[0]) ?? -1;
}

function spaceTakes(filled: Filled): number {
  if (filled.field.type === "some") return filled.mark;
  return (indexOfChosen(filled) + 1) % Math.max(1, choicesIn(filled.field)?.length ?? 1);
}

function stepped(filled: Filled, by: 1 | -1): Filled {
  const last = (choicesIn(filled.field)?.length ?? 1) - 1;
  const at = indexOfChosen(filled);
  return taken(filled, at < 0 ? (by > 0 ? 0 : last) : Math.max(0, Math.min(last, at + by)));
}

function taken(filled: Filled, index: number): Filled {
  const choices = choicesIn(filled.field) ?? [];
  const value = choices[index]?.value ?? "";
  if (filled.field.type !== "some") return { ...filled, chosen: [value] };
  const without = filled.chosen.filter((one) => one !== value);
  const now = without.length < filled.chosen.length ? without : [...filled.chosen, value];
  // In the order of the choices, whatever the order of the keys.
  return {
    ...filled,
    mark: index,
    chosen: choices.flatMap((one) => (now.includes(one.value) ? [one.value] : [])),
  };
}
