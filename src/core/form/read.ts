/** Reads what was entered into a form, as values of its fields, or says what is wrong. Pure. */

import type { FormContent, FormEntry, FormField, FormValue, TextFormat } from "./fields.ts";

/** The value of an entry, which is undefined for a field that is left out, or what is wrong with it. */
export type Read = { value: FormValue | undefined } | { problem: string };

/** Reads an entry as the value of its field. */
export function readEntry(field: FormField, entry: FormEntry): Read {
  const text = typeof entry === "string" ? entry : "";
  if (field.type === "some") return readSome(field, typeof entry === "string" ? [] : entry);
  if (text.trim() === "") return field.required ? { problem: "is required" } : { value: undefined };
  switch (field.type) {
    case "text":
      return readText(field, text);
    case "yes_no":
      return /^(true|false)$/.test(text) ? { value: text === "true" } : { problem: "must be yes or no" };
    case "one":
      return field.choices.some(({ value }) => value === text)
        ? { value: text }
        : { problem: "must be one of the choices" };
    default:
      return readNumber(field, text);
  }
}

/** Reads all entries, in the order of the fields. `at`: the first field with a problem. */
export function readForm(
  fields: readonly FormField[],
  entries: readonly FormEntry[],
): { content: FormContent } | { at: number; problem: string } {
  const content: FormContent = {};
  for (const [at, field] of fields.entries()) {
    const read = readEntry(field, entries[at] ?? "");
    if ("problem" in read) return { at, problem: read.problem };
    if (read.value !== undefined) content[field.key] = read.value;
  }
  return { content };
}

/** Reads values that somebody else collected, by the keys of the fields. Others are left out. */
export function readGiven(
  fields: readonly FormField[],
  given: Readonly<Record<string, unknown>>,
): ReturnType<typeof readForm> {
  const entries = fields.map(({ key }): FormEntry => {
    const value = Object.hasOwn(given, key) ? (given[key] ?? "") : "";
    return Array.isArray(value) ? value.map(String) : String(value);
  });
  return readForm(fields, entries);
}

/** Says in a few words what a field takes; "" where it takes any text. */
export function constraintText(field: FormField): string {
  switch (field.type) {
    case "text": {
      const length = range(field.minLength || undefined, field.maxLength, "characters");
      return [field.format ? formats[field.format].words : "", length].filter(Boolean).join(", ");
    }
    case "number":
    case "integer": {
      const what = field.type === "number" ? "a number" : "a whole number";
      return `${what} ${range(field.minimum, field.maximum, "")}`.trim();
    }
    case "some":
      return range(field.minItems || undefined, field.maxItems, "of them");
    default:
      return "";
  }
}

function range(least: number | undefined, most: number | undefined, unit: string): string {
  const words =
    least === undefined
      ? most === undefined
        ? ""
        : `at most ${most}`
      : most === undefined
        ? `at least ${least}`
        : `from ${least} to ${most}`;
  return words && unit ? `${words} ${unit}` : words;
}

type Of<T extends FormField["type"]> = Extract<FormField, { type: T }>;

function readText(field: Of<"text">, text: string): Read {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, format } = field;
  // As JSON Schema counts: characters, not code units.
  const length = [...text].length;
  if (length < minLength || length > maxLength)
    return { problem: `must have ${range(minLength || undefined, field.maxLength, "characters")}` };
  if (format && !formats[format].fits(text)) return { problem: `must be ${formats[format].words}` };
  return { value: text };
}

function readNumber(field: Of<"number" | "integer">, text: string): Read {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field;
  const value = Number(text);
  const isKind = field.type === "integer" ? Number.isSafeInteger(value) : Number.isFinite(value);
  return isKind && value >= minimum && value <= maximum
    ? { value }
    : { problem: `must be ${constraintText(field)}` };
}

function readSome(field: Of<"some">, entry: readonly string[]): Read {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, choices, required } = field;
  const known = entry.filter((one) => choices.some(({ value }) => value === one));
  if (known.length < entry.length) return { problem: "must have no other than the choices" };
  if (known.length === 0 && !required) return { value: undefined };
  return known.length >= minItems && known.length <= maxItems
    ? { value: [...known] }
    : { problem: `must have ${constraintText(field)}` };
}

const formats: Record<TextFormat, { words: string; fits(text: string): boolean }> = {
  email: { words: "an email address", fits: (text) => /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { words: "an address such as https://example.org", fits: (text) => URL.canParse(text) },
  date: { words: "a date such as 2026-01-31", fits: isDate },
  "date-time": { words: "a time such as 2026-01-31T12:00:00Z", fits: isTime },
};

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text);
  if (!found) return false;
  const [year = 0, month = 0, day = 0] = found.slice(1).map(Number);
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day >= 1 && day <= days;
}

function isTime(text: string): boolean {
  const [date = "", time = ""] = text.split(/[Tt]/);
  return (
    isDate(date) &&
    /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)$/.test(time)
  );
}
