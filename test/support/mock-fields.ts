/** Checks the fields of an object on the wire, with the API's own words for what is wrong. */

import { memoizeBy } from "../../src/core/memoize.ts";
import { RefusedError } from "./mock-wire.ts";

type Fields = Record<string, unknown>;
/** Type of a field, with `!` when it must be there. Several types are joined with `|`. */
export type FieldTypes = Record<string, string>;

/** Throws `RefusedError` when `value` is no object, lacks a field, has an unknown one, or one of the wrong type. */
export function checkFields(value: unknown, path: string, types: FieldTypes): Fields {
  if (typeOf(value) !== "object") throw new RefusedError(`${path}: Input should be a valid dictionary`);
  const fields = value as Fields;
  const at = (name: string) => (path ? `${path}.${name}` : name);
  for (const name of requiredOf(types))
    if (fields[name] === undefined) throw new RefusedError(`${at(name)}: Field required`);
  for (const name of Object.keys(fields)) {
    const [item, type] = [fields[name], types[name]];
    if (!type) throw new RefusedError(`${at(name)}: Extra inputs are not permitted`);
    if (item === null && !type.endsWith("!")) continue;
    const kind = typeOf(item);
    if (type === `${kind}!` || type === kind) continue;
    const allowed = type.replace("!", "").split("|");
    if (!allowed.some((one) => one === "any" || one === kind || (one === "number" && kind === "integer")))
      throw new RefusedError(`${at(name)}: Input should be a valid ${words[allowed[0] ?? ""] ?? allowed[0]}`);
  }
  return fields;
}

/** Names of the fields that must be there. */
const requiredOf = memoizeBy((types: FieldTypes) =>
  Object.keys(types).filter((name) => types[name]?.endsWith("!")),
);

const words: Record<string, string> = { object: "dictionary", array: "list", number: "number" };

function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** Throws `RefusedError` when the value is none of those allowed. */
export function checkOneOf(value: unknown, path: string, allowed: readonly unknown[]): void {
  if (value === undefined || value === null || allowed.includes(value)) return;
  const list = allowed.map((item) => `'${item}'`).join(", ");
  throw new RefusedError(`${path}: Input should be ${list}`);
}
