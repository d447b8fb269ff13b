/**
 * Writes all text to stdout and stderr. On a terminal no text of a model, a file or a server can control it: escape
 * sequences and control or hidden characters are removed. Through a pipe an answer is unchanged.
 */

import { cleanLine, cleanText } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";

/** Writes to stdout; `onWritten` is called once it was accepted. */
export function writeOut(text: string, onWritten?: () => void): void {
  process.stdout.write(process.stdout.isTTY ? forTerminal(text) : text, onWritten);
}

/** Writes our own words to stderr, with quotations: always cleaned, since logs are read in terminals too. */
export function writeError(text: string, onWritten?: () => void): void {
  process.stderr.write(forTerminal(text), onWritten);
}

/** A bug of ours, to stderr, with the place where it was thrown. */
export function writeStack(error: unknown): void {
  writeError(`sawtooth: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
}

/** Says on one line of stderr that a bug of ours ended the program, with the place where it was thrown. */
export function writeUnexpected(error: unknown, onWritten?: () => void): void {
  const [, place = ""] = /\n\s+at (.+)/.exec(error instanceof Error ? (error.stack ?? "") : "") ?? [];
  const at = place && ` (at ${place})`;
  writeError(
    `sawtooth: unexpected error: ${cleanLine(errorText(error))}${at}: please report this\n`,
    onWritten,
  );
}

/** Returns what an error says, whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Writes one JSON line to stdout. Characters that could control a terminal or hide in it are escaped, which changes no
 * value. `onWritten` is called once it was accepted.
 */
export function writeLine(line: object, onWritten?: () => void): void {
  process.stdout.write(`${jsonLine(line)}\n`, onWritten);
}

function forTerminal(text: string): string {
  return showHidden(cleanText(text));
}

function jsonLine(line: object): string {
  return JSON.stringify(line).replace(
    /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\udb40[\udc00-\udc7f]/g,
    (found) =>
      Array.from(
        { length: found.length },
        (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`,
      ).join(""),
  );
}
