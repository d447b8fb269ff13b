/** Keeps secrets out of what the model, the log and the screen get. Pure. */

import { type Secret, secretShapes, shortestSecret } from "./secrets.ts";

/** The text with `[redacted:NAME]` for each known secret value and each well-known shape of one; well-formed. */
export function redact(text: string, secrets: readonly Secret[]): string {
  const known = secrets
    .filter(({ value }) => value.length >= shortestSecret)
    .sort((a, b) => b.value.length - a.value.length);
  const marked = (name: string): string => `[redacted:${name}]`;
  const withoutKnown = known.reduce(
    (rest, { name, value }) => rest.replaceAll(value, () => marked(name)),
    text.toWellFormed(),
  );
  return secretShapes.reduce(
    (rest, { name, shape }) => rest.replace(shape, () => marked(name)),
    withoutKnown,
  );
}
