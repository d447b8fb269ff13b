/** The subject of a question as rows: the whole command, or the changes of an edit, with nothing hidden. Pure. */

import { toolNames } from "../../core/tool-calls.ts";
import type { RowContext } from "../blocks/tool-rows.ts";
import type { Confirmation, Question } from "../ports/session.ts";
import { literal, type Row, type Span, wrap } from "../rows/rows.ts";
import { isConfirmation } from "./dialog.ts";

/** Returns the command in full, or the changes of an edit. */
export function subjectRows(question: Question | Confirmation, context: RowContext): Row[] {
  if (isConfirmation(question))
    return question.rows.flatMap((row) => (row.length === 0 ? [row] : wrap(row, context.columns)));
  const { toolName, input } = question;
  if (question.changes) return differenceRows(question.changes.lines, context);
  if (question.elicitation)
    return question.elicitation.lines.flatMap((line) => wrap(lineWithoutPadding(line), context.columns));
  if (question.connection)
    return wrap([{ text: literal(String(input.program ?? "")), tone: "code" }], context.columns);
  if (toolName === toolNames.fetch)
    return wrap([{ text: literal(String(input.url ?? "")), tone: "code" }], context.columns);
  if (toolName === toolNames.mcp) return argumentRows(input, context);
  return toolName === toolNames.bash ? commandRows(input, context) : changeRows(input, context);
}

/** Returns what a server gets, as JSON with a line for each value. */
function argumentRows(input: Record<string, unknown>, { columns }: RowContext): Row[] {
  const lines = JSON.stringify(input.arguments ?? {}, null, 2).split("\n");
  return ends(lines).flatMap((line) => wrap(lineWithoutPadding(line), columns));
}

/** Returns the difference, with each line in full. */
function differenceRows(lines: readonly string[], { columns }: RowContext): Row[] {
  return lines.flatMap((line) => {
    const tone = line.startsWith("+ ") ? "good" : line.startsWith("- ") ? "bad" : "strong";
    return wrap(toned(lineWithoutPadding(line), tone), columns, "  ");
  });
}

function commandRows(input: Record<string, unknown>, { columns }: RowContext): Row[] {
  const extra = ["stdin", "background", "tty"].flatMap((key) =>
    input[key] ? [`${key}: ${String(input[key])}`] : [],
  );
  const lines = withoutPadding(String(input.command ?? ""));
  return [
    ...lines.flatMap((line) => wrap(line, columns)),
    ...extra.flatMap((text) => wrap([{ text: literal(text.replaceAll("\n", " ⏎ ")), tone: "dim" }], columns)),
  ];
}

/** Returns the lines of a command. Padding of invisible characters that could push the rest away is named instead. */
function withoutPadding(command: string): Row[] {
  const rows: Row[] = [];
  let empty = 0;
  const noteEmpty = () => {
    if (empty > 2) rows.push([{ text: `⟨${empty} empty lines⟩`, tone: "warn" }]);
    else rows.push(...Array.from({ length: empty }, (): Row => [{ text: "" }]));
    empty = 0;
  };
  for (const line of command.split("\n")) {
    if (line.trim() === "" && line.length < longBlank) {
      empty += 1;
      continue;
    }
    noteEmpty();
    rows.push(lineWithoutPadding(line));
  }
  noteEmpty();
  return rows;
}

/** More blanks in a row than any indentation has. */
const longBlank = 24;
/** Blanks of all scripts, and letters that draw nothing. */
const blanks = /[\s\u00a0\u115f\u1160\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]{24,}/g;

function lineWithoutPadding(line: string): Row {
  const row: Row = [];
  let from = 0;
  for (const { 0: blank, index } of line.matchAll(blanks)) {
    row.push({ text: literal(line.slice(from, index)), tone: "code" });
    row.push({ text: ` ⟨${blank.length} blanks⟩ `, tone: "warn" });
    from = index + blank.length;
  }
  return [...row, { text: literal(line.slice(from)), tone: "code" }];
}

/** Lines read at each end of a long file; no window is higher. */
const mostLines = 200;

function ends(lines: readonly string[]): readonly string[] {
  const left = lines.length - 2 * mostLines;
  if (left <= 1) return lines;
  return [...lines.slice(0, mostLines), `⟨${left} lines⟩`, ...lines.slice(-mostLines)];
}

function toned(row: Row, tone: Span["tone"]): Row {
  return row.map((span) => (span.tone === "code" ? { ...span, tone } : span));
}

function changeRows(input: Record<string, unknown>, { columns }: RowContext): Row[] {
  const edits = Array.isArray(input.edits) ? (input.edits as Record<string, unknown>[]) : [input];
  const side = (text: unknown, sign: string, tone: Span["tone"]): Row[] =>
    typeof text === "string" && text !== ""
      ? ends(text.replace(/\n$/, "").split("\n")).flatMap((line) => {
          const [first, ...rest] = lineWithoutPadding(line);
          return wrap([{ text: `${sign} ${first?.text ?? ""}`, tone }, ...toned(rest, tone)], columns, "  ");
        })
      : [];
  return edits.flatMap((each) => [
    ...side(each.old_str, "-", "bad"),
    ...side(each.new_str ?? each.insert_text ?? each.file_text, "+", "good"),
  ]);
}
