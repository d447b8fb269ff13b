/** Reads the words of the program `mcp`: which server, which tool, and its arguments typed by its schema. Pure. */

import { isObject } from "../foreign-schema.ts";

/** The wish of a command: the servers, the tools of one, the schema of one tool, or a call. */
export type Words =
  | { kind: "servers" }
  | { kind: "tools"; server: string }
  | { kind: "help"; server: string; tool: string }
  | { kind: "call"; server: string; tool: string; words: string[] };

export function readWords(words: readonly string[]): Words {
  const [server, tool, ...rest] = words;
  if (server === undefined || isHelp(server)) return { kind: "servers" };
  if (tool === undefined || isHelp(tool)) return { kind: "tools", server };
  if (isHelp(rest[0])) return { kind: "help", server, tool };
  return { kind: "call", server, tool, words: rest };
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

/** The usage of a call, in one line. */
export const usage =
  "mcp SERVER TOOL [key=value] [key:=json] [--json '{…}'] [-]   (- reads a JSON object from standard input)";

export type Arguments = { values: Record<string, unknown> } | { wrong: string };

/** Reads arguments. A `key=value` has the type that the schema gives to the key; later words replace earlier ones. */
export function readArguments(words: readonly string[], input: string, schema: unknown): Arguments {
  const values: Record<string, unknown> = {};
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const whole = wholeOf(word, words[at + 1], input);
    if (word === "--json") at += 1;
    const part = whole === undefined ? pairOf(word, schema, values) : objectOf(whole, word);
    if (typeof part === "string") return { wrong: part };
    for (const [key, value] of Object.entries(part)) put(values, key, value);
  }
  return { values };
}

/** Sets an own property, whatever its name. */
function put(values: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(values, key, { value, enumerable: true, configurable: true, writable: true });
}

/** Returns the JSON that a word stands for; undefined where it is a `key=value`. */
function wholeOf(word: string, next: string | undefined, input: string): string | undefined {
  if (word === "-") return input;
  return word === "--json" ? (next ?? "") : /^--json=([\s\S]*)/.exec(word)?.[1];
}

/** Returns the object of a text, or why it is none. */
function objectOf(text: string, word: string): Record<string, unknown> | string {
  const value = parsed(text);
  if (isObject(value)) return value;
  return `${word === "-" ? "standard input" : "what follows --json"} is no JSON object`;
}

/** Returns the one value that a word sets, or why it sets none. A list is added to one that an earlier word set. */
function pairOf(
  word: string,
  schema: unknown,
  before: Record<string, unknown>,
): Record<string, unknown> | string {
  const [, key, sign, text = ""] = /^([^\s=:-][^\s=:]*)(:?=)([\s\S]*)$/.exec(word) ?? [];
  if (key === undefined) return `${JSON.stringify(word)} is no argument`;
  const value = sign === ":=" ? parsed(text) : typed(text, propertyOf(schema, key), schema);
  if (value === undefined) return `the value of ${key} is no JSON`;
  const known = Object.hasOwn(before, key) ? before[key] : undefined;
  const isMore = sign === "=" && Array.isArray(value) && Array.isArray(known);
  return Object.fromEntries([[key, isMore ? [...(known as unknown[]), ...(value as unknown[])] : value]]);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function propertyOf(schema: unknown, key: string): unknown {
  const properties = isObject(schema) ? schema.properties : undefined;
  return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** Returns the value that a text stands for; the text itself where the schema takes texts, or the value is none. */
function typed(text: string, schema: unknown, root: unknown): unknown {
  const types = typesOf(schema, root, 0);
  if (types.has("string") || types.size === 0) return text;
  const value = parsed(text.trim());
  const kind = kindOf(value);
  if (kind !== undefined && (types.has(kind) || (kind === "number" && types.has("integer")))) return value;
  if (!types.has("array")) return text;
  const items = resolved(schema, root);
  return [typed(text, isObject(items) ? items.items : undefined, root)];
}

function kindOf(value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
}

const deepest = 8;

/** Returns the types that a schema takes, as far as it names them. */
function typesOf(schema: unknown, root: unknown, depth: number): Set<string> {
  const own = resolved(schema, root);
  if (!isObject(own) || depth > deepest) return new Set();
  const { type, enum: choices, anyOf, oneOf } = own;
  const named = [type].flat().filter((one) => typeof one === "string");
  const chosen = Array.isArray(choices) ? choices.flatMap((one) => kindOf(one) ?? []) : [];
  const others = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return new Set([
    ...named,
    ...(named.length === 0 ? chosen : []),
    ...others.flatMap((one) => [...typesOf(one, root, depth + 1)]),
  ]);
}

/** Follows a reference within the schema, one step. */
function resolved(schema: unknown, root: unknown): unknown {
  const to = isObject(schema) ? schema.$ref : undefined;
  if (typeof to !== "string" || !to.startsWith("#/")) return schema;
  let at: unknown = root;
  for (const name of to.slice(2).split("/"))
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}
