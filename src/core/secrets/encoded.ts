/**
 * Finds known secrets in the forms that programs give them by accident: base64, hexadecimal, escaped for a URL or for
 * JSON, reversed, each also wrapped or spaced out. Against intent it is no wall: compressed or halved values pass. Pure.
 */

import { lowByteReader } from "./low-bytes.ts";
import { type Secret, shortestSecret } from "./secrets.ts";

/** Encoded forms of longer values (whole key files) are not looked for; keys have a shape of their own. */
const longest = 512;
/** Characters by which a form is recognized at first. */
const windowLength = 4;
/** The windows of a form that are in the table: as many as lie between two looks at the text. */
const mostWindows = 24;
const tableSize = 0x10000;
/** Spreads four characters over 32 bits, of which the upper ones are the key. */
const spread = 0x9e3779b1;
const keyShift = 13;
const blank = 0x20;

/** `text` has no white space. `tight`: it may not be spaced out. */
type Form = { name: string; text: string; tight: boolean };

/** `before`: how many characters of the form stand before the window. */
type Window = { form: Form; before: number };

type Found = { start: number; end: number; name: string };

/**
 * A function that puts a mark for each secret, the first one and of those that begin there the longest. One pass over
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

/** The next place, `step` by `step` from `from`, whose four characters are in the table; -1 when there is none. */
function nextLook(
  bytes: Uint8Array,
  { from, length, step }: { from: number; length: number; step: number },
  table: Uint8Array,
): number {
  for (let at = from; at < length; at += step) {
    // All places within white space have the same four characters after them.
    while (at < length && (bytes[at] as number) <= blank) at++;
    if (table[keyAt(bytes, at, length)] === 1) return at;
  }
  return -1;
}

/** The place in the table of the four characters from `start` on, white space left out. */
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

/** The form that begins first, not before `least`, and of those the longest. */
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

/** Where `count` characters before `at` begin, or -1 when that is before `least`. */
function startOf(text: string, least: number, at: number, count: number): number {
  let left = count;
  let index = at;
  while (left > 0 && index > least) if (text.charCodeAt(--index) > blank) left -= 1;
  return left === 0 ? index : -1;
}

/** Index after the form that stands at `start`, or -1. */
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

/** The characters of base64 that are the same whatever stands around: `before` bytes stand in the same group of three. */
function base64Within(bytes: Uint8Array, before: number): string {
  const text = btoa("\0".repeat(before) + Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return text.slice(Math.ceil((8 * before) / 6), Math.floor((8 * (before + bytes.length)) / 6));
}
