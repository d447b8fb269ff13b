/** Tool calls as rows: one line for the call and its outcome, a diff below an edit. Pure. */

import { formatDuration, plural } from "../../context/report/amounts.ts";
import { resultText, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf } from "../../core/events.ts";
import { doneOf } from "../../core/task-list.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { exitLine } from "../../core/text/truncate-output.ts";
import { type CallFacts, type CallTitle, describeCall, touchesOf } from "../../core/tool-calls.ts";
import { diffRows, diffSize } from "../rows/diff.ts";
import { gist } from "../rows/markdown.ts";
import { cut, cutRow, literal, type Row, type Span, safe, wrap } from "../rows/rows.ts";

/** `cwd`: paths inside it are shown without it. `columns`: of the window. */
export type RowContext = { cwd: string; columns: number };

const shownDiff = 40;
const shownFailure = 5;
const indent = "    ";

/** Returns the title of a call; a path inside the folder of the session is shown without it. */
export function callTitle(
  call: Pick<ToolUseBlock, "name" | "input">,
  { cwd }: Pick<RowContext, "cwd">,
  recorded?: CallFacts,
): CallTitle {
  const { verb, subject } = describeCall(call, recorded);
  const hasPath = touchesOf(call, recorded).paths.length > 0;
  return { verb, subject: hasPath ? subject.replace(`${cwd}/`, "") : subject };
}

/** Returns `mark verb subject · facts` on one row. */
export function callRow(
  mark: Span,
  call: Pick<ToolUseBlock, "name" | "input">,
  facts: string,
  context: RowContext,
  recorded?: CallFacts,
): Row {
  const { verb, subject } = callTitle(call, context, recorded);
  const lines = subject.split("\n").filter((line) => line.trim() !== "");
  const more = lines.length > 1 ? ` … ${lines.length} lines` : "";
  const tail = [more, facts && ` · ${facts}`].join("");
  const room = context.columns - 6 - verb.length - tail.length;
  const row: Row = [
    { text: "  " },
    mark,
    { text: ` ${verb} `, tone: "strong" },
    { text: cut(literal((lines[0] ?? "").trim()), Math.max(8, room)) },
    { text: tail, tone: "dim" },
  ];
  return cutRow(row, context.columns);
}

/** Returns the rows of a finished call for the history. */
export function resultRows(
  event: EventOf<"tool_result">,
  call: Pick<ToolUseBlock, "name" | "input">,
  context: RowContext,
): Row[] {
  const mark: Span = event.isError ? { text: "✗", tone: "bad" } : { text: "✓", tone: "good" };
  const head = callRow(mark, call, factsOf(event), context, event.call);
  const columns = context.columns - indent.length;
  const below = event.isError
    ? failureRows(event, columns)
    : event.display
      ? diffRows(event.display, columns, shownDiff)
      : [];
  return [head, ...below.map((row) => [{ text: indent }, ...row])];
}

function factsOf({ tasks, stats, isError, display }: EventOf<"tool_result">): string {
  const { durationMs = 0, exitCode, timedOut, lines } = stats ?? {};
  const size = display ? diffSize(display) : undefined;
  const facts = [
    timedOut ? "timed out" : exitCode ? `exit ${exitCode}` : "",
    size ? `+${size.added} −${size.removed}` : "",
    tasks && tasks.length > 0 ? doneOf(tasks) : "",
    lines !== undefined && !size
      ? lines === 0
        ? "no output"
        : `${formatInteger(lines)} ${lines === 1 ? "line" : "lines"}`
      : "",
    isError && exitCode === undefined && !timedOut ? "failed" : "",
    durationMs >= 1000
      ? durationMs < 90_000
        ? `${(durationMs / 1000).toFixed(1)} s`
        : formatDuration(durationMs)
      : "",
  ];
  return facts.filter(Boolean).join(" · ");
}

/** Returns the end of a failure's output, which is the most informative part. */
function failureRows(event: EventOf<"tool_result">, columns: number): Row[] {
  const { exitCode } = event.stats ?? {};
  const status = exitCode === undefined ? undefined : exitLine(exitCode);
  const lines = resultText(event.content)
    .split("\n")
    .filter((line) => line.trim() !== "" && line !== status);
  const shown = lines.slice(-shownFailure);
  const above = lines.length - shown.length;
  return [
    ...(above > 0 ? [[{ text: `… ${plural(above, "line")} above`, tone: "dim" as const }]] : []),
    ...shown.map((line): Row => [{ text: cut(safe(line), columns), tone: "dim" }]),
  ];
}

/** Returns a whole call for the details view: its input, then its output or diff. */
export function detailRows(
  call: Pick<ToolUseBlock, "name" | "input">,
  event: EventOf<"tool_result"> | undefined,
  context: RowContext,
): Row[] {
  const { subject } = callTitle(call, context, event?.call);
  const lines = (text: string): Row[] =>
    text.split("\n").flatMap((line) => wrap([{ text: safe(line) }], context.columns));
  const input = subject
    .split("\n")
    .flatMap((line) => wrap([{ text: literal(line), tone: "dim" }], context.columns));
  if (!event) return input;
  const body = event.display
    ? diffRows(event.display, context.columns, Number.POSITIVE_INFINITY)
    : lines(resultText(event.content));
  const where = event.artifact
    ? [[{ text: gist(`whole output: ${event.artifact}`, context.columns), tone: "dim" as const }]]
    : [];
  return [...input, ...body, ...where];
}
