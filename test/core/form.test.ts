/** Forms: which entries are values, and what is said about the others. */

import { describe, expect, test } from "vitest";
import type { FormEntry, FormField } from "../../src/core/form/fields.ts";
import { readEntry, readForm, readGiven } from "../../src/core/form/read.ts";

const field = (more: object): FormField =>
  ({ key: "it", title: "It", description: "", required: false, initial: "", ...more }) as FormField;
const choices = [
  { value: "a", title: "Alpha" },
  { value: "b", title: "Beta" },
];
const text = { type: "text" };

describe.each<[string, FormField, FormEntry, unknown]>([
  ["a text", field(text), " x ", " x "],
  ["no text", field(text), " ", undefined],
  ["as few characters as it takes", field({ ...text, minLength: 2 }), "äö", "äö"],
  ["a character of two code units", field({ ...text, maxLength: 1 }), "😀", "😀"],
  ["an email address", field({ ...text, format: "email" }), "ada@localhost", "ada@localhost"],
  ["an address", field({ ...text, format: "uri" }), "https://a.example/x", "https://a.example/x"],
  ["a leap day", field({ ...text, format: "date" }), "2000-02-29", "2000-02-29"],
  [
    "a time",
    field({ ...text, format: "date-time" }),
    "2026-01-31T23:59:60+01:00",
    "2026-01-31T23:59:60+01:00",
  ],
  ["a number", field({ type: "number", minimum: -1 }), " -0.5 ", -0.5],
  ["a whole number", field({ type: "integer", maximum: 3 }), "3", 3],
  ["yes", field({ type: "yes_no" }), "true", true],
  ["no", field({ type: "yes_no", required: true }), "false", false],
  ["a choice", field({ type: "one", choices }), "b", "b"],
  ["some choices", field({ type: "some", choices, maxItems: 2 }), ["a", "b"], ["a", "b"]],
  ["none of them", field({ type: "some", choices, minItems: 1 }), [], undefined],
  ["none of them where a list is required", field({ type: "some", choices, required: true }), [], []],
])("%s", (_, one, entry, value) => {
  test("is a value", () => expect(readEntry(one, entry)).toEqual({ value }));
});

describe.each<[string, FormField, FormEntry, string]>([
  ["no text", field({ ...text, required: true }), "  ", "is required"],
  ["a text that is too short", field({ ...text, minLength: 3 }), "xy", "must have at least 3 characters"],
  [
    "a text that is too long",
    field({ ...text, minLength: 1, maxLength: 2 }),
    "xyz",
    "must have from 1 to 2 characters",
  ],
  ["a word", field({ ...text, format: "email" }), "ada", "must be an email address"],
  ["no address", field({ ...text, format: "uri" }), "a b", "must be an address such as https://example.org"],
  ["no day of a year", field({ ...text, format: "date" }), "1900-02-29", "must be a date such as 2026-01-31"],
  [
    "a time without a zone",
    field({ ...text, format: "date-time" }),
    "2026-01-31T10:00:00",
    "must be a time such as 2026-01-31T12:00:00Z",
  ],
  ["a word for a number", field({ type: "number" }), "many", "must be a number"],
  ["infinity", field({ type: "number" }), "Infinity", "must be a number"],
  [
    "a fraction",
    field({ type: "integer", minimum: 1, maximum: 9 }),
    "1.5",
    "must be a whole number from 1 to 9",
  ],
  ["maybe", field({ type: "yes_no" }), "maybe", "must be yes or no"],
  ["a title", field({ type: "one", choices }), "Alpha", "must be one of the choices"],
  ["too many", field({ type: "some", choices, maxItems: 1 }), ["a", "b"], "must have at most 1 of them"],
  ["a stranger", field({ type: "some", choices }), ["a", "c"], "must have no other than the choices"],
])("%s", (_, one, entry, problem) => {
  test("is a problem", () => expect(readEntry(one, entry)).toEqual({ problem }));
});

test("a form is its values without those left out, or the first problem", () => {
  const fields = [field(text), field({ ...text, key: "more", required: true })];
  expect(readForm(fields, ["", "x"])).toEqual({ content: { more: "x" } });
  expect(readForm(fields, ["x", ""])).toEqual({ at: 1, problem: "is required" });
});

test("values that somebody else collected are read by the keys of the fields, and nothing else of them", () => {
  const fields = [field({ type: "integer" }), field({ type: "some", key: "list", choices })];
  const given = { it: 4, list: ["b"], stranger: "x", constructor: "y" };
  expect(readGiven(fields, given)).toEqual({ content: { it: 4, list: ["b"] } });
  expect(readGiven([field({ ...text, key: "toString" })], {})).toEqual({ content: {} });
  expect(readGiven(fields, { it: "four" })).toEqual({ at: 0, problem: "must be a whole number" });
});
