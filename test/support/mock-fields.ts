/** Checks the fields of an object on the wire, with the API's own words for what is wrong. */

import { RefusedError } from "./mock-wire.ts";

type Fields = Record<string, unknown>;
/** Type of a field, with `!` when it must be there. Several types are joined with `|`. */
export type FieldTypes = Record<string, string>;

/** Throws `RefusedError` when `value` is no object, lacks a field, has an unknown one, or one of the wrong type. */
export function checkFields(value: unknown, path: string, types: FieldTypes): Fields {
  if (typeOf(value) !== "object") throw new RefusedError(`${path}: Input should be a valid dictionary`);
  const fields = value as Fields;
  const at = (name: string) => (path ? `${path}.${name}` : name);
  for (const [name, type] of Object.entries(types)) {
    if (type.endsWith("!") && fields[name] === undefined) {
      throw new RefusedError(`${at(name)}: Field required`);
    }
  }
  for (const [name, item] of Object.entries(fields)) {
    const type = types[name];
    if (!type) throw new RefusedError(`${at(name)}: Extra inputs are not permitted`);
    const allowed = type.replace("!", "").split("|");
    if (item === null && !type.endsWith("!")) continue;
    if (
      !allowed.some(
        (one) => one === "any" || one === typeOf(item) || (one === "number" && typeof item === "number"),
      )
    ) {
      throw new RefusedError(`${at(name)}: Input should be a valid ${words[allowed[0] ?? ""] ?? allowed[0]}`);
    }
  }
  return fields;
}

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
