/**
 * Finds known secrets in the forms that programs give them by accident: base64, hexadecimal, escaped for a URL or for
 * JSON, reversed, each also wrapped or spaced out. It does not stop intent: compressed or split values pass. Pure.
 */

import { lowByteReader } from "./low-bytes.ts";
import { type Secret, shortestSecret } from "./secrets.ts";

/** Encoded forms of longer values (whole key files) are not searched for; keys are found by their shape. */
const longest = 512;
/** Number of characters in a window, by which a form is first recognized. */
const windowLength = 4;
/** Most windows of a form in the table: the distance between two looks at the text. */
const mostWindows = 24;
const tableSize = 0x10000;
/** Spreads four characters over 32 bits, of which the upper ones are the key. */
const spread = 0x9e3779b1;
const keyShift = 13;
const blank = 0x20;

/** `text` has no white space. `tight`: spaced-out occurrences do not count. */
type Form = { name: string; text: string; tight: boolean };

/** `before`: number of characters of the form before the window. */
type Window = { form: Form; before: number };

type Found = { start: number; end: number; name: string };

/**
 * Returns a function that replaces each secret with a mark; the longest of those that start first wins. One pass over
 * the text, whatever the number of secrets, that looks at every few characters only: a table tells whether the four
 * from there, white space left out, are near the beginning of any form. The longer the shortest form, the fewer looks.
 */
export function secretFinder(secrets: readonly Secret[], mark: (name: string) => string) {
  const forms = secrets.flatMap(formsOf).sort((a, b) => b.text.length - a.text.length);
  const shortest = forms.at(-1)?.text.length ?? 0;
  const step = Math.min(shortest - windowLength + 1, mostWindows);
  const windows = windowsOf(forms, step);
  const table = new Uint8Array(forms.length > 0 ? tableSize : 0);
  for (const key of windows.keys()) table[key] = 1;
  const own = lowByteReader();
  return (text: string, bytes = own(text)): string => {
    if (forms.length === 0) return text;
    const { length } = text;
    const pieces: string[] = [];
    let done = 0;
    for (let from = 0; ; ) {
      const at = nextLook(bytes, { from, length, step }, table);
      if (at < 0) break;
      const found = firstOf(text, done, at, windows.get(keyAt(bytes, at, length)) ?? []);
      from = found?.end ?? at + step;
      if (!found) continue;
      pieces.push(text.slice(done, found.start), mark(found.name));
      done = found.end;
    }
    return done === 0 ? text : pieces.join("") + text.slice(done);
  };
}

function windowsOf(forms: readonly Form[], step: number): ReadonlyMap<number, readonly Window[]> {
  const windows = new Map<number, Window[]>();
  const bytesOf = lowByteReader();
  for (const form of forms) {
    const bytes = bytesOf(form.text);
    for (let before = 0; before < step; before++) {
      const key = keyAt(bytes, before, form.text.length);
      const here = windows.get(key) ?? [];
      here.push({ form, before });
      windows.set(key, here);
    }
  }
  return windows;
}

/** Returns the next offset, in steps from `from`, whose four characters are in the table; -1 when there is none. */
function nextLook(
  bytes: Uint8Array,
  { from, length, step }: { from: number; length: number; step: number },
  table: Uint8Array,
): number {
  for (let at = from; at < length; at += step) {
    // All offsets within white space are followed by the same four characters.
    while (at < length && (bytes[at] as number) <= blank) at++;
    if (table[keyAt(bytes, at, length)] === 1) return at;
  }
  return -1;
}

/** Returns the table key of the four characters from `start` on, white space left out. */
function keyAt(bytes: Uint8Array, start: number, length: number): number {
  let key = 0;
  for (let index = start, left = windowLength; left > 0 && index < length; index++) {
    const code = bytes[index] as number;
    if (code <= blank) continue;
    key = Math.imul(key, spread) + code;
    left -= 1;
  }
  return (key >>> keyShift) & (tableSize - 1);
}

/** Finds the form that begins first, not before `least`; the longest of several. */
function firstOf(text: string, least: number, at: number, windows: readonly Window[]): Found | undefined {
  let first: Found | undefined;
  for (const { form, before } of windows) {
    const start = startOf(text, least, at, before);
    if (start < 0 || (first && start >= first.start)) continue;
    const end = endOf(text, start, form);
    if (end >= 0) first = { start, end, name: form.name };
  }
  return first;
}

/** Returns the offset `count` characters before `at`, white space left out; -1 when that is before `least`. */
function startOf(text: string, least: number, at: number, count: number): number {
  let left = count;
  let index = at;
  while (left > 0 && index > least) if (text.charCodeAt(--index) > blank) left -= 1;
  return left === 0 ? index : -1;
}

/** Returns the index after the form at `start`, or -1. */
function endOf(text: string, start: number, form: Form): number {
  if (form.tight) return text.startsWith(form.text, start) ? start + form.text.length : -1;
  let index = start;
  for (let at = 0; at < form.text.length; at++) {
    while (text.charCodeAt(index) <= blank) index++;
    if (text.charCodeAt(index) !== form.text.charCodeAt(at)) return -1;
    index++;
  }
  return index;
}

function formsOf({ name, value }: Secret): Form[] {
  if (value.length < shortestSecret) return [];
  // A spaced number would be found in any table of numbers.
  if (/^\d{1,15}$/.test(value)) return [{ name, text: value, tight: true }];
  const texts = new Set([value, JSON.stringify(value).slice(1, -1)]);
  if (value.length <= longest) for (const text of encoded(value)) texts.add(text);
  return [...texts]
    .map((text) => text.replace(/\s/g, ""))
    .filter((text) => text.length >= shortestSecret)
    .map((text) => ({ name, text, tight: false }));
}

function encoded(value: string): string[] {
  const bytes = new TextEncoder().encode(value);
  const base64 = [0, 1, 2].map((before) => base64Within(bytes, before));
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0"));
  const upper = hex.map((digits) => digits.toUpperCase());
  return [
    [...value].reverse().join(""),
    ...base64,
    ...base64.map((text) => text.replaceAll("+", "-").replaceAll("/", "_")),
    ...[hex, upper].flatMap((digits) => [digits.join(""), digits.join(":")]),
    encodeURIComponent(value),
    encodeURIComponent(value).replace(/%../g, (char) => char.toLowerCase()),
  ];
}

/** Returns the base64 characters that do not depend on the context; `before` bytes precede in the group of three. */
function base64Within(bytes: Uint8Array, before: number): string {
  const text = btoa("\0".repeat(before) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.slice(Math.ceil((8 * before) / 6), Math.floor((8 * (before + bytes.length)) / 6));
}
