/**
 * The way of every text to stdout and stderr. On a terminal nothing that a model, a file or a server wrote steers it: no
 * escape sequences, no control or hidden characters. Through a pipe an answer goes as it was written.
 */

import { cleanText } from "../core/clean-text.ts";
import { showHidden } from "../core/hidden-characters.ts";

/** To stdout; `onWritten` is called when it was taken. */
export function writeOut(text: string, onWritten?: () => void): void {
  process.stdout.write(process.stdout.isTTY ? forTerminal(text) : text, onWritten);
}

/** Words of ours to stderr, with what they quote: cleaned always, since logs are looked at in terminals too. */
export function writeError(text: string, onWritten?: () => void): void {
  process.stderr.write(forTerminal(text), onWritten);
}

/** A bug of ours, to stderr, with the place where it was thrown. */
export function writeStack(error: unknown): void {
  writeError(`sawtooth: ${error instanceof Error ? (error.stack ?? error.message) : error}\n`);
}

/** Writes one JSON line to stdout. What could steer a terminal or hide in it is escaped, which changes no value. */
export function writeLine(line: object): void {
  process.stdout.write(`${jsonLine(line)}\n`);
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
