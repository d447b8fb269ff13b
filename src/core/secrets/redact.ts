/** Keeps secrets out of what the model, the log and the screen get. Pure. */

import { secretFinder } from "./encoded.ts";
import { type Secret, type Shape, secretShapes } from "./secrets.ts";

/**
 * A function that puts `[redacted:NAME]` for each known secret value, for its usual encodings, and for each well-known
 * shape of a secret. What it returns is well-formed. Its time does not grow with the number of secrets.
 */
export function redactor(secrets: readonly Secret[]): (text: string) => string {
  const withoutKnown = secretFinder(secrets, marked);
  return (text) => secretShapes.reduce(withoutShape, withoutKnown(text.toWellFormed()));
}

/** A literal is found, or not found, several times as fast as the shape. */
function withoutShape(text: string, { name, hints, shape }: Shape): string {
  if (hints && !hints.some((hint) => text.includes(hint))) return text;
  return text.replace(shape, (...found) => `${labelBefore(found.at(-1))}${marked(name)}`);
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
