/**
 * Golden texts: whole outputs as files under `test/golden`, so that a change of what people see is read in the diff.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";

const folder = join(import.meta.dirname, "../golden");

/**
 * Compares `text` with `test/golden/<name>.txt`, byte for byte. `UPDATE_GOLDEN=1` writes the file instead.
 * Scrub first what differs from run to run: see `scrub`.
 */
export function matchesGolden(name: string, text: string): void {
  const file = join(folder, `${name}.txt`);
  if (process.env.UPDATE_GOLDEN === "1") {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(existsSync(file), `${file} is missing: write it with UPDATE_GOLDEN=1`).toBe(true);
  expect(text, `differs from ${file}: if that is meant, write it anew with UPDATE_GOLDEN=1`).toBe(
    readFileSync(file, "utf8"),
  );
}

/**
 * Replaces what differs between runs and machines: session ids, dates, times of day, and each text of `named` by
 * `<its name>`, longest first. Columns behind a replaced text move: scrub what stands at the end of a row.
 */
export function scrub(text: string, named: Readonly<Record<string, string | undefined>> = {}): string {
  const given = Object.entries(named)
    .filter((entry): entry is [string, string] => Boolean(entry[1]))
    .sort(([, a], [, b]) => b.length - a.length);
  const replaced = given.reduce((left, [name, found]) => left.replaceAll(found, `<${name}>`), text);
  return replaced
    .replace(/\b\d{8}-\d{6}-[0-9a-f]{6}\b/g, "<session>")
    .replace(/\b\d{4}-\d{2}-\d{2}\b/g, "<date>")
    .replace(/\b\d{2}:\d{2}(:\d{2})?\b/g, "<time>");
}
