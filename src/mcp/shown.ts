/** Shows words of a server to people and the model: nothing invisible, nothing long. Pure. */

import { headOf, utf8Length } from "../core/text/clean-text.ts";
import { showHidden } from "../core/text/hidden-characters.ts";

/** Longest text of a server that is shown, in bytes. */
const longest = 2048;

/** Spells out hidden characters and cuts what is longer than 2 kB. */
export function shown(text: string): string {
  const clear = showHidden(text.toWellFormed()).replace(/[\x00-\x08\x0b-\x1f]/g, " ");
  return utf8Length(clear) <= longest ? clear : `${headOf(clear, longest)}…`;
}

/** Shows a text in one line of at most `most` bytes. */
export function shownLine(text: string, most: number): string {
  const line = shown(text).replace(/\s+/g, " ").trim();
  return utf8Length(line) <= most ? line : `${headOf(line, most)}…`;
}
