/**
 * Writes all text to stdout and stderr. On a terminal no text of a model, a file or a server can control it: escape
 * sequences and control or hidden characters are removed. Through a pipe an answer is unchanged.
 */

import { cleanLine, cleanText } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";
import { errorWords } from "../disk/error-words.ts";
import { errorCode } from "../disk/real-path.ts";

/** Returns true when stdout refused output, as on a full disk; a reader that went away is no reason. */
export function hasLostOutput(): boolean {
  const { errored } = process.stdout;
  return errored !== null && errorCode(errored) !== "EPIPE";
}

/** Writes to stdout; `onWritten` is called once it was accepted, or refused. */
export function writeOut(text: string, onWritten?: () => void): void {
  toStdout(process.stdout.isTTY ? forTerminal(text) : text, onWritten);
}

function toStdout(text: string, onWritten: (() => void) | undefined): void {
  process.stdout.write(text, (error) => {
    if (error) noteRefused(error);
    onWritten?.();
  });
}

/** Says on stderr that output is lost. After the first error each write gets the same one, or that the stream has ended. */
function noteRefused(error: Error): void {
  const why = errorWords(error);
  if (why === undefined || !hasLostOutput() || process.stdout.listenerCount("error", ignore) > 0) return;
  // It is told here, and is no bug of ours.
  process.stdout.on("error", ignore);
  writeError(
    `sawtooth: cannot write to standard output: ${why}: output is lost (what a session said: sawtooth sessions show)\n`,
  );
}

function ignore(): void {}

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
 * value. `onWritten` is called once it was accepted, or refused.
 */
export function writeLine(line: object, onWritten?: () => void): void {
  toStdout(`${jsonLine(line)}\n`, onWritten);
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
