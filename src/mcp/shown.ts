/** Shows words of a server to people and the model: nothing invisible, nothing long. Pure. */

import { headOf, utf8Length } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";

/** Longest text of a server that is shown, in bytes. */
const longest = 2048;
/** Text in which nothing is hidden; as a rule all is, and that is seen sooner. */
const plain = /^[\t\n\x20-\x7e]*$/;

/** Spells out hidden characters and cuts what is longer than 2 kB. */
export function shown(text: string): string {
  if (text.length <= longest && plain.test(text)) return text;
  const clear = showHidden(text.toWellFormed()).replace(/[\x00-\x08\x0b-\x1f]/g, " ");
  return utf8Length(clear) <= longest ? clear : `${headOf(clear, longest)}…`;
}

/** Shows a text in one line of at most `most` bytes. */
export function shownLine(text: string, most: number): string {
  const line = shown(text).replace(/\s+/g, " ").trim();
  if (line.length <= most && plain.test(line)) return line;
  return utf8Length(line) <= most ? line : `${headOf(line, most)}…`;
}
