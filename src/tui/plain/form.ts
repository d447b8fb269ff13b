/** A form where nothing is redrawn: a line for each field, then one to send it. Pure. */

import type { FormEntry } from "../../core/form/fields.ts";
import { constraintText, readEntry, readForm } from "../../core/form/read.ts";
import { choicesIn, entryOf, type Filled, type Form } from "../dialogs/form.ts";
import { editorWith } from "../input/editor.ts";
import type { Answer } from "../ports/session.ts";
import { literal } from "../rows/rows.ts";

/** Returns the lines that ask for the current field, or whether to send. */
export function formLines(form: Form): string[] {
  const filled = form.filled[form.at];
  if (filled) return fieldLines(filled);
  const entries = form.filled.map((one) => `  ${literal(one.field.title)}: ${shownEntry(one) || "(empty)"}`);
  return [...entries, "1 Send", "2 Decline", "Answer with a number."];
}

/** Reads a line: an entry for the current field, an empty one to keep what stands there, or the last answer. */
export function onFormLine(form: Form, line: string): { answer: Answer } | { form: Form; lines: string[] } {
  const filled = form.filled[form.at];
  if (!filled) return onLastLine(form, line.trim().toLowerCase());
  const entry = line.trim() === "" ? entryOf(filled) : entryFrom(filled, line);
  const read = readEntry(filled.field, entry);
  if ("problem" in read)
    return { form, lines: [`${literal(filled.field.title)} ${read.problem}`, ...fieldLines(filled)] };
  const next = { ...form, filled: form.filled.with(form.at, withEntry(filled, entry)), at: form.at + 1 };
  return { form: next, lines: formLines(next) };
}

function onLastLine(form: Form, word: string): ReturnType<typeof onFormLine> {
  if (["2", "n", "no"].includes(word)) return { answer: { decision: "deny", say: "" } };
  if (!["1", "y", "yes"].includes(word)) return { form, lines: formLines(form) };
  const fields = form.filled.map(({ field }) => field);
  const read = readForm(fields, form.filled.map(entryOf));
  if ("content" in read) return { answer: { decision: "allow", content: read.content } };
  const back = { ...form, at: read.at };
  return { form: back, lines: [read.problem, ...formLines(back)] };
}

function fieldLines(filled: Filled): string[] {
  const { field } = filled;
  const now = shownEntry(filled);
  const facts = [field.required ? "required" : "", literal(field.description), constraintText(field)];
  const about = facts.filter(Boolean).join("; ");
  const numbers = field.type === "some" ? "numbers, with commas" : "a number";
  return [
    `${literal(field.title)}${about ? ` (${about})` : ""}`,
    ...(choicesIn(field) ?? []).map(({ title }, index) => `  ${index + 1} ${literal(title)}`),
    `Type ${choicesIn(field) ? numbers : "it"}${now ? `, or nothing to keep ${now}` : field.required ? "" : ", or nothing to leave it out"}.`,
  ];
}

function shownEntry(filled: Filled): string {
  const choices = choicesIn(filled.field);
  if (!choices) return literal(filled.editor.text);
  const chosen = choices.filter(({ value }) => filled.chosen.includes(value));
  return chosen.map(({ title }) => literal(title)).join(", ");
}

/** Returns the values that numbers or titles stand for; other words as they are, so that they are refused. */
function entryFrom({ field }: Filled, line: string): FormEntry {
  const choices = choicesIn(field);
  if (!choices) return field.type === "text" ? line : line.trim();
  const meant = (word: string): string =>
    (choices[Number(word) - 1] ?? choices.find(({ title }) => title.toLowerCase() === word.toLowerCase()))
      ?.value ?? word;
  const words = field.type === "some" ? line.split(",") : [line];
  const values = words.map((word) => meant(word.trim()));
  return field.type === "some" ? values : (values[0] ?? "");
}

function withEntry(filled: Filled, entry: FormEntry): Filled {
  if (!choicesIn(filled.field))
    return { ...filled, editor: editorWith(typeof entry === "string" ? entry : "") };
  return { ...filled, chosen: typeof entry === "string" ? [entry].filter(Boolean) : entry };
}
