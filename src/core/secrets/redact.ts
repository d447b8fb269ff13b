/** Keeps secrets away from the model, the log and the screen. Pure. */

import { secretFinder } from "./encoded.ts";
import { lowByteReader } from "./low-bytes.ts";
import { type Secret, type Shape, secretShapes, shortestToken, tokenHead, tokenPairs } from "./secrets.ts";

/**
 * Returns a function that writes `[redacted:NAME]` for each known secret value, its usual encodings, and each known
 * shape of a secret. Its result is well-formed. Its time does not grow with the number of secrets.
 */
export function redactor(secrets: readonly Secret[]): (text: string) => string {
  const withoutKnown = secretFinder(secrets, marked);
  const lowBytes = lowByteReader();
  return (text) => {
    const wellFormed = text.toWellFormed();
    const bytes = lowBytes(wellFormed);
    const shapes = holdsToken(wellFormed, bytes) ? secretShapes : otherShapes;
    return shapes.reduce(withoutShape, withoutKnown(wellFormed, bytes));
  };
}

const otherShapes = secretShapes.filter(({ token }) => !token);

/** 1 for letters, digits, `_` and `-`. */
const inToken = Uint8Array.from({ length: 256 }, (_, code) =>
  /[\w-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * Returns true when the text may hold a token. Each token has a run of `shortestToken` characters, so it is enough to
 * look at every `shortestToken`th character and the runs found there.
 */
function holdsToken(text: string, bytes: Uint8Array): boolean {
  const { length } = text;
  for (let at = shortestToken - 1; at < length; at += shortestToken) {
    if (inToken[bytes[at] as number] === 0) continue;
    let start = at;
    while (start > 0 && inToken[bytes[start - 1] as number] === 1) start--;
    while (at < length && inToken[bytes[at] as number] === 1) at++;
    if (at - start < shortestToken || !mayHoldHead(bytes, start, at)) continue;
    // One more character: some runs are recognized by the dot before them.
    if (tokenHead.test(text.slice(Math.max(0, start - 1), at))) return true;
  }
  return false;
}

/** By two characters, as numbers: 1 for those of `tokenPairs`. */
const inHead = new Uint8Array(0x10000);
for (const pair of tokenPairs) inHead[pair.charCodeAt(0) * 0x100 + pair.charCodeAt(1)] = 1;

/** Returns false for most runs, such as hashes, without the search for a head. */
function mayHoldHead(bytes: Uint8Array, start: number, end: number): boolean {
  if (start > 0 && bytes[start - 1] === dot) return true;
  let before = bytes[start] as number;
  for (let at = start + 1; at < end; at++) {
    const here = bytes[at] as number;
    if (inHead[before * 0x100 + here] === 1) return true;
    before = here;
  }
  return false;
}

const dot = 0x2e;

/** Looks for a literal first, several times as fast as for the shape. */
function withoutShape(text: string, { name, hints, shape }: Shape): string {
  if (hints && !hints.some((hint) => text.includes(hint))) return text;
  return text.replace(shape, (...found) => `${labelBefore(found.at(-1))}${marked(name)}`);
}

/** Returns the value with every string in it redacted; field names stay. */
export function redactedValue<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === "string") return redact(value) as T;
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, redact)) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactedValue(item, redact)]),
  ) as T;
}

function marked(name: string): string {
  return `[redacted:${name}]`;
}

/** Returns the words before a secret that say what it was, as `Authorization: Bearer` does. */
function labelBefore(groups: unknown): string {
  return typeof groups === "object" && groups !== null
    ? String((groups as { kept?: string }).kept ?? "")
    : "";
}
