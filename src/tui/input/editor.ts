/** The text being written and its cursor, as a value; every key makes a new one. Pure. */

import { graphemes, safe, width } from "../rows/rows.ts";
import type { Key } from "./keys.ts";

/** `cursor` is an offset in `text`, always between two graphemes. */
export type Editor = {
  text: string;
  cursor: number;
  /** Long pastes, by the mark that represents each in the text. */
  pastes: ReadonlyMap<string, string>;
  /** The column that up and down aim for. */
  goalColumn?: number;
  /** The text cut last, for Ctrl-Y. */
  killed?: string;
};

export const emptyEditor: Editor = { text: "", cursor: 0, pastes: new Map() };

/** Creates an editor with `text` and the cursor at its end. */
export function editorWith(text: string, pastes: Editor["pastes"] = new Map()): Editor {
  return { text, cursor: text.length, pastes };
}

const longLines = 20;
const longCharacters = 2000;

/** Returns the text to send, with every paste in full. */
export function wholeText({ text, pastes }: Editor): string {
  if (pastes.size === 0) return text;
  return piecesOf(text, pastes)
    .map((piece) => pastes.get(piece) ?? piece)
    .join("");
}

/** Splits the text into plain text and the marks of pastes. */
function piecesOf(text: string, pastes: Editor["pastes"]): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const found = [...pastes.keys()]
      .map((mark) => ({ mark, index: text.indexOf(mark, at) }))
      .filter(({ index }) => index >= 0)
      .sort((a, b) => a.index - b.index)[0];
    if (!found) return [...pieces, text.slice(at)];
    if (found.index > at) pieces.push(text.slice(at, found.index));
    pieces.push(found.mark);
    at = found.index + found.mark.length;
  }
  return pieces;
}

/** Splits the text into steps of the cursor: a grapheme, or the mark of a paste. */
function unitsOf(text: string, pastes: Editor["pastes"]): string[] {
  if (pastes.size === 0) return graphemes(text);
  return piecesOf(text, pastes).flatMap((piece) => (pastes.has(piece) ? [piece] : graphemes(piece)));
}

function insert(editor: Editor, text: string): Editor {
  const { cursor } = editor;
  const whole = editor.text.slice(0, cursor) + text + editor.text.slice(cursor);
  return settled({ ...editor, text: whole, cursor: cursor + text.length });
}

/** Moves a cursor that a joining character left inside a grapheme to its end. */
function settled({ goalColumn: _, ...editor }: Editor): Editor {
  const after = graphemeEnd(editor.text, editor.cursor);
  return after === editor.cursor ? editor : { ...editor, cursor: after };
}

function graphemeEnd(text: string, offset: number): number {
  const start = lineStart(text, offset);
  let end = start;
  for (const grapheme of graphemes(text.slice(start, offset + 64))) {
    if (end >= offset) return end;
    end += grapheme.length;
  }
  return Math.max(end, offset);
}

/** Inserts a paste; one of many lines or of one very long line is shown as a mark. */
function paste(editor: Editor, text: string): Editor {
  const lines = text.split("\n").length;
  if (lines <= longLines && text.length <= longCharacters) return insert(editor, text);
  const size = lines > longLines ? `${grouped(lines)} lines` : `${grouped(text.length)} characters`;
  let mark = `[pasted ${size}]`;
  for (let number = 2; editor.pastes.has(mark) || editor.text.includes(mark); number++)
    mark = `[pasted ${size}, ${number}]`;
  return { ...insert(editor, mark), pastes: new Map([...editor.pastes, [mark, text]]) };
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Keys that move the cursor, and their targets. */
const motions: Record<string, (editor: Editor) => number> = {
  left: before,
  "ctrl-b": before,
  right: after,
  "ctrl-f": after,
  home: ({ text, cursor }) => lineStart(text, cursor),
  "ctrl-a": ({ text, cursor }) => lineStart(text, cursor),
  end: ({ text, cursor }) => lineEnd(text, cursor),
  "ctrl-e": ({ text, cursor }) => lineEnd(text, cursor),
  "alt-b": wordBefore,
  "ctrl-left": wordBefore,
  "alt-left": wordBefore,
  "alt-f": wordAfter,
  "ctrl-right": wordAfter,
  "alt-right": wordAfter,
};

/** Keys that cut the text between the cursor and this offset; Ctrl-Y puts it back. */
const kills: Record<string, (editor: Editor) => number> = {
  "ctrl-w": wordBefore,
  "alt-backspace": wordBefore,
  "ctrl-backspace": wordBefore,
  "alt-d": wordAfter,
  "ctrl-delete": wordAfter,
  "ctrl-u": ({ text, cursor }) => lineStart(text, cursor),
  // At the end of a line it cuts the line feed.
  "ctrl-k": ({ text, cursor }) => Math.max(lineEnd(text, cursor), cursor + Number(text[cursor] === "\n")),
};

/** Applies a key to the editor; undefined when the editor does not use it. `columns`: room for the text. */
export function edit(editor: Editor, key: Key, columns: number): Editor | undefined {
  if (key.type === "text") return insert(editor, key.text);
  if (key.type === "paste") return paste(editor, key.text);
  const motion = motions[key.key];
  if (motion) return moved(editor, motion(editor));
  const kill = kills[key.key];
  if (kill) return killed(editor, kill(editor));
  switch (key.key) {
    case "ctrl-j":
    case "alt-enter":
    case "shift-enter":
    case "ctrl-enter":
      return insert(editor, "\n");
    case "backspace":
    case "ctrl-h":
    case "shift-backspace":
      return removed(editor, before(editor), editor.cursor);
    case "delete":
      return removed(editor, editor.cursor, after(editor));
    case "ctrl-y":
      return insert(editor, editor.killed ?? "");
    case "up":
    case "ctrl-p":
      return vertical(editor, -1, columns);
    case "down":
    case "ctrl-n":
      return vertical(editor, 1, columns);
    default:
      return undefined;
  }
}

function moved(editor: Editor, cursor: number): Editor {
  return settled({ ...editor, cursor });
}

function removed(editor: Editor, from: number, to: number): Editor {
  return moved({ ...editor, text: editor.text.slice(0, from) + editor.text.slice(to) }, from);
}

function killed(editor: Editor, to: number): Editor {
  const [from, end] = [Math.min(editor.cursor, to), Math.max(editor.cursor, to)];
  return from === end ? editor : { ...removed(editor, from, end), killed: editor.text.slice(from, end) };
}

function before({ text, cursor, pastes }: Editor): number {
  const mark = [...pastes.keys()].find((each) => text.startsWith(each, cursor - each.length));
  if (mark) return cursor - mark.length;
  const start = lineStart(text, cursor);
  if (start === cursor) return Math.max(0, cursor - 1);
  return cursor - (graphemes(text.slice(start, cursor)).at(-1)?.length ?? 0);
}

function after({ text, cursor, pastes }: Editor): number {
  const mark = [...pastes.keys()].find((each) => text.startsWith(each, cursor));
  return cursor + (mark?.length ?? graphemes(text.slice(cursor, cursor + 64))[0]?.length ?? 0);
}

function lineStart(text: string, cursor: number): number {
  // A negative index would count as 0.
  return cursor === 0 ? 0 : text.lastIndexOf("\n", cursor - 1) + 1;
}

function lineEnd(text: string, cursor: number): number {
  const end = text.indexOf("\n", cursor);
  return end < 0 ? text.length : end;
}

function wordBefore(editor: Editor): number {
  const { text, cursor } = editor;
  const found = /[\p{L}\p{N}\p{M}_]+[^\p{L}\p{N}\p{M}_]*$/u.exec(
    text.slice(Math.max(0, cursor - 500), cursor),
  );
  return found ? cursor - found[0].length : Math.min(before(editor), lineStart(text, cursor));
}

function wordAfter({ text, cursor }: Editor): number {
  const found = /^[^\p{L}\p{N}\p{M}_]*[\p{L}\p{N}\p{M}_]+/u.exec(text.slice(cursor, cursor + 500));
  return found ? cursor + found[0].length : text.length;
}

/** The text as shown, wrapped; each row covers the text from `start` to `end`. */
export type Laid = { rows: LaidRow[]; caret: { row: number; column: number } };
type LaidRow = { text: string; start: number; end: number };

/** Lays out rows of at most `columns`, broken between graphemes. The last column is left for the caret. */
export function layOut({ text, cursor, pastes }: Editor, columns: number): Laid {
  const room = Math.max(2, columns);
  const rows: LaidRow[] = [];
  let caret = { row: 0, column: 0 };
  let start = 0;
  for (const line of text.split("\n")) {
    let row: LaidRow = { text: "", start, end: start };
    let used = 0;
    for (const unit of unitsOf(line, pastes)) {
      const look = lookOf(unit);
      if (used + width(look) > room - 1 && used > 0) {
        rows.push(row);
        row = { text: "", start: row.end, end: row.end };
        used = 0;
      }
      if (row.end === cursor) caret = { row: rows.length, column: used };
      row.text += look;
      row.end += unit.length;
      used += width(look);
    }
    if (row.end === cursor) caret = { row: rows.length, column: used };
    rows.push(row);
    start = row.end + 1;
  }
  return { rows, caret };
}

/** Returns a visible stand-in for an invisible character. */
function lookOf(unit: string): string {
  if (unit === "\t") return "    ";
  return /^[\x00-\x1f\x7f-\x9f]/.test(unit) ? "�" : safe(unit);
}

/** Moves one row up or down, or to the very start or end from the first or last row; undefined when already there. */
function vertical(editor: Editor, by: 1 | -1, columns: number): Editor | undefined {
  const { rows, caret } = layOut(editor, columns);
  const target = rows[caret.row + by];
  const goalColumn = editor.goalColumn ?? caret.column;
  if (!target) {
    const end = by < 0 ? 0 : editor.text.length;
    return editor.cursor === end || rows.length === 1 ? undefined : { ...editor, cursor: end, goalColumn };
  }
  let [column, cursor] = [0, target.start];
  for (const unit of unitsOf(editor.text.slice(target.start, target.end), editor.pastes)) {
    column += width(lookOf(unit));
    if (column > goalColumn) break;
    cursor += unit.length;
  }
  // The end of a wrapped row is the start of the next one.
  const next = rows[caret.row + by + 1];
  if (cursor === target.end && next?.start === target.end) cursor = before({ ...editor, cursor });
  return { ...editor, cursor, goalColumn };
}
