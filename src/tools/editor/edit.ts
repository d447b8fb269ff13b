/** Replacements and insertions on the text of a file; everything else keeps its characters. No file is touched. */

import { readHidden } from "../../core/text/hidden-characters.ts";
import { Refusal } from "./refusal.ts";
import { foreignBreaks, inEndingsOf, withLf } from "./text/line-endings.ts";
import { linesOf } from "./text/lines.ts";
import { findSpans, type Span } from "./text/match.ts";
import { notFound, severalFound } from "./text/not-found.ts";
import type { TextFile } from "./text/text-file.ts";

export type Replacement = { old_str: string; new_str: string };
/** The edited text. `loose`: a match was found only by look-alike characters. */
export type Edited = { text: string; count: number; loose: boolean };

/**
 * Applies all replacements, each to the outcome of the one before, or throws a Refusal. `name`: the path as the model
 * wrote it.
 */
export async function replaceAllOf(
  file: TextFile,
  name: string,
  replacements: readonly Replacement[],
  everywhere: boolean,
): Promise<Edited> {
  const done: Edited = { text: file.text, count: 0, loose: false };
  for (const [index, replacement] of replacements.entries()) {
    try {
      const { text, count, loose } = await replaceOne(
        { ...file, text: done.text },
        name,
        replacement,
        everywhere,
      );
      Object.assign(done, { text, count: done.count + count, loose: done.loose || loose });
    } catch (error) {
      if (!(error instanceof Refusal) || replacements.length === 1) throw error;
      const which = `Edit ${index + 1} of ${replacements.length}, so nothing was written:`;
      throw new Refusal(`${which} ${error.message}`, error.lines);
    }
  }
  return done;
}

async function replaceOne(
  file: TextFile,
  name: string,
  { old_str: old, new_str: made }: Replacement,
  everywhere: boolean,
): Promise<Edited> {
  if (old === "")
    throw new Refusal("old_str is empty. To add lines use insert; to write a whole file use create.");
  if (old === made) throw new Refusal("old_str and new_str are the same: there is nothing to change.");
  checkWritable(file, old + made, made);
  const { text, endings } = file;
  const breaks = foreignBreaks(endings);
  const { spans, loose } = findSpans(text, old, breaks, !everywhere);
  const spelled = spelledSpans(text, old, breaks);
  if (spelled.length > 0) {
    // A line with the escape and one with the character look the same in a view.
    if (spans.length > 0 && !loose) throw severalFound(name, text, [...spans, ...spelled], false);
    const read = { old_str: readHidden(old), new_str: readHidden(made) };
    return replaceOne(file, name, read, everywhere);
  }
  if (spans.length === 0) throw await notFound(name, withLf(text, endings), withLf(old, endings));
  if (spans.length > 1 && (loose || !everywhere)) throw severalFound(name, text, spans, loose);
  // Only the line endings differ: they are the intended change.
  const asGiven = unix(old) === unix(made);
  const parts: string[] = [];
  let done = 0;
  for (const { from, to } of spans) {
    const region = { text, from, to, endings };
    parts.push(text.slice(done, from), asGiven ? made : await inEndingsOf(region, made));
    done = to;
  }
  parts.push(text.slice(done));
  const changed = parts.join("");
  if (changed === text) throw new Refusal(`${name} reads like new_str already: there is nothing to change.`);
  return { text: changed, count: spans.length, loose };
}

/** Finds `old` where its spelled-out escapes stand for hidden characters. */
function spelledSpans(text: string, old: string, breaks: RegExp): Span[] {
  const read = readHidden(old);
  if (read === old) return [];
  const { spans, loose } = findSpans(text, read, breaks);
  return loose ? [] : spans;
}

/** Inserts after line `after` (0: at the top); the insertion ends with a line break. */
export async function insertAfter(file: TextFile, after: number, inserted: string): Promise<string> {
  checkWritable(file, inserted, inserted);
  const { text, endings } = file;
  const count = linesOf(withLf(text, endings)).length;
  if (after > count)
    throw new Refusal(`insert_line is ${after}, but the file has ${count} lines: give 0 to ${count}.`);
  const at = offsetAfter(text, after, endings.ending);
  const open = at > 0 && at === text.length && !/[\n\r]$/.test(text);
  const region = { text, from: at, to: at, endings };
  const whole = open ? `\n${inserted}` : inserted.endsWith("\n") ? inserted : `${inserted}\n`;
  return text.slice(0, at) + (await inEndingsOf(region, whole)) + text.slice(at);
}

/** Replaces the whole text, in the line endings that the file has. */
export async function rewrite(file: TextFile, made: string): Promise<string> {
  const text = file.bom ? made.replace(/^\uFEFF/, "") : made;
  checkWritable(file, text, text);
  if (!/[\r\n]/.test(file.text)) return text;
  return await inEndingsOf({ text: file.text, from: 0, to: file.text.length, endings: file.endings }, text);
}

function offsetAfter(text: string, line: number, ending: string): number {
  const last = ending === "\r" ? "\r" : "\n";
  let at = 0;
  for (let count = 0; count < line; count++) {
    const next = text.indexOf(last, at);
    at = next < 0 ? text.length : next + 1;
  }
  return at;
}

function checkWritable(file: TextFile, involved: string, made: string): void {
  if (file.encoding === "bytes" && /[^\x00-\x7f]/.test(involved))
    throw new Refusal(
      "The file is in no encoding known here (not UTF-8, UTF-16, GBK, Big5, EUC-KR, EUC-JP, Shift-JIS or windows-1252), so it can only be edited with ASCII text. Nothing was written.",
    );
  if (!made.isWellFormed() || (made.includes("\uFFFD") && !file.text.includes("\uFFFD")))
    throw new Refusal(
      "The new text has half a character or U+FFFD, the mark of a lost one. Nothing was written.",
    );
}

function unix(text: string): string {
  return text.replaceAll("\r\n", "\n");
}
