/**
 * Finds known secrets in the forms that programs give them by accident: base64, hexadecimal, escaped for a URL or for
 * JSON, reversed, each also wrapped or spaced out. Against intent it is no wall: compressed or halved values pass. Pure.
 */

import { type Secret, shortestSecret } from "./secrets.ts";

/** Encoded forms of longer values (whole key files) are not looked for; keys have a shape of their own. */
const longest = 512;
/** Characters by which a form is recognized at first. */
const headLength = 4;
const tableSize = 0x10000;
const blank = 0x20;

/** `text` has no white space. `tight`: it may not be spaced out. */
type Form = { name: string; text: string; tight: boolean };

/**
 * A function that puts a mark for each secret. One pass over the text, whatever the number of secrets: a table tells
 * whether any form begins with the last four characters, white space left out.
 */
export function secretFinder(secrets: readonly Secret[], mark: (name: string) => string) {
  const forms = new Map<number, Form[]>();
  const table = new Uint8Array(tableSize);
  for (const form of secrets.flatMap(formsOf).sort((a, b) => b.text.length - a.text.length)) {
    const key = keyAt(form.text, 0);
    table[key] = 1;
    forms.set(key, [...(forms.get(key) ?? []), form]);
  }
  return (text: string): string => {
    const pieces: string[] = [];
    let done = 0;
    for (let from = 0; forms.size > 0 && from < text.length; ) {
      const end = nextHead(text, from, table);
      if (end < 0) break;
      from = end;
      const found = longestAt(text, startOf(text, done, end), forms);
      if (!found) continue;
      pieces.push(text.slice(done, found.start), mark(found.name));
      done = found.end;
      from = found.end;
    }
    return done === 0 ? text : pieces.join("") + text.slice(done);
  };
}

/** Index after the next four characters with which a form may begin, or -1. */
function nextHead(text: string, from: number, table: Uint8Array): number {
  // The last three characters before `from` count as well.
  let key = from === 0 ? 0 : keyBefore(text, from);
  for (let index = from; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code <= blank) continue;
    key = next(key, code);
    if (table[key] === 1) return index + 1;
  }
  return -1;
}

/** Four times four bits: of a character nothing is left after four more. */
function next(key: number, code: number): number {
  return ((key << 4) ^ code) & (tableSize - 1);
}

function keyBefore(text: string, end: number): number {
  const start = startOf(text, 0, end);
  return start < 0 ? 0 : keyAt(text, start);
}

/** Where the four characters before `end` begin, or -1 when that is before `least`. */
function startOf(text: string, least: number, end: number): number {
  let left = headLength;
  for (let index = end - 1; index >= least; index--)
    if (text.charCodeAt(index) > blank && --left === 0) return index;
  return -1;
}

function keyAt(text: string, start: number): number {
  let key = 0;
  for (let index = start, left = headLength; left > 0 && index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code <= blank) continue;
    key = next(key, code);
    left -= 1;
  }
  return key;
}

function longestAt(text: string, start: number, forms: ReadonlyMap<number, Form[]>) {
  if (start < 0) return undefined;
  for (const form of forms.get(keyAt(text, start)) ?? []) {
    const end = endOf(text, start, form);
    if (end >= 0) return { start, end, name: form.name };
  }
  return undefined;
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
