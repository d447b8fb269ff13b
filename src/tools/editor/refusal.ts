/** Errors of the editor that the model can act on: thrown anywhere, reported to the model in one place. */

import { errorWords } from "../../disk/error-words.ts";
import { PathMoved } from "../../disk/pinned-folder.ts";

/** Lines of a file, counted from 1, both inclusive. */
export type Lines = { first: number; last: number };

export class Refusal extends Error {
  /** The lines worth viewing before another try. */
  readonly lines: Lines | undefined;

  constructor(message: string, lines?: Lines) {
    super(message);
    this.name = "Refusal";
    this.lines = lines;
  }
}

/** Converts a failed system call to a refusal. Anything else is a bug and is rethrown. */
export function asRefusal(error: unknown, path: string): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof PathMoved) return new Refusal(`${error.message}. Nothing was written; look again.`);
  const words = errorWords(error);
  if (words === undefined) throw error;
  return new Refusal(`${path}: ${words}.`);
}

/** Cuts a text to `bytes` of well-formed UTF-8, with a mark where it was cut. */
export function clipped(text: string, bytes: number): string {
  const whole = Buffer.from(text);
  if (whole.length <= bytes) return text.toWellFormed();
  const head = whole.subarray(0, bytes - 8).toString();
  return `${head.replace(/\uFFFD+$/, "").toWellFormed()} …[cut]`;
}
