/** The transcript: events and live parts become rows, each written once, for good. Pure. */

import type { AssistantBlock, Search, TextBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import type { ModelPart } from "../../core/ports.ts";
import { findCall } from "../../core/questions.ts";
import { continues, searchesIn, searchLine } from "../../core/text/search-text.ts";
import {
  gist,
  type MarkdownRows,
  type MarkdownState,
  markdownEnd,
  markdownHead,
  markdownLine,
  markdownTail,
} from "../rows/markdown.ts";
import { type Row, safe, wrap } from "../rows/rows.ts";
import { noteOf, noteRows, userRows } from "./event-rows.ts";
import { endText } from "./notes.ts";
import { type RowContext, resultRows } from "./tool-rows.ts";

/** The streaming reply: its text so far, how much of it became rows, and the Markdown state there. */
type Reply = {
  text: string;
  shown: number;
  markdown: MarkdownState;
  thinking: string;
  thoughtShown: boolean;
  /** Ids of the searches that have their rows. */
  searches: readonly string[];
  /** Rows that a failed attempt has already printed: the same text is not shown twice. */
  earlier: string;
};

/** `last`: the kind of the newest row; a blank row separates different kinds. */
export type Transcript = { reply: Reply; last?: "user" | "text" | "tool" | "note"; showThinking: boolean };

export type Step = { transcript: Transcript; rows: Row[] };

const noReply: Reply = {
  text: "",
  shown: 0,
  markdown: {},
  thinking: "",
  thoughtShown: false,
  searches: [],
  earlier: "",
};

export function emptyTranscript(): Transcript {
  return { reply: noReply, showThinking: false };
}

/** Columns before the model's words. */
const margin = "  ";

/** Adds a part of the reply: returns its lines that are complete by now. */
export function addPart(transcript: Transcript, part: ModelPart, context: RowContext): Step {
  const { reply } = transcript;
  switch (part.type) {
    case "thinking_delta":
      return still({ ...transcript, reply: { ...endedLine(reply), thinking: reply.thinking + part.text } });
    case "text_delta": {
      const thought = thoughtRows(transcript, reply.thinking, context);
      const said = showLines(thought.transcript, reply.text + part.text, context);
      return { transcript: said.transcript, rows: [...thought.rows, ...said.rows] };
    }
    case "tool_use_started":
      return endLines(transcript, context);
    case "searched":
      return searchStep(transcript, part.search, context);
    case "input_delta":
      return still(transcript);
    case "attempt_failed": {
      const seen = reply.markdown.printed ? reply.text : reply.text.slice(0, reply.shown);
      const earlier = seen || reply.earlier;
      return still({
        ...transcript,
        reply: { ...noReply, markdown: reply.markdown, thoughtShown: reply.thoughtShown, earlier },
      });
    }
  }
}

/** Shows the thought and the text so far: something else comes. */
function endLines(transcript: Transcript, context: RowContext): Step {
  const thought = thoughtRows(transcript, transcript.reply.thinking, context);
  const said = showLines(thought.transcript, endedLine(thought.transcript.reply).text, context);
  return { transcript: said.transcript, rows: [...thought.rows, ...said.rows] };
}

/** Shows a search of the provider in one row, once. */
function searchStep(transcript: Transcript, search: Search, context: RowContext): Step {
  const { searches } = transcript.reply;
  if (search.error === "none" || searches.includes(search.id)) return still(transcript);
  const before = endLines(transcript, context);
  const shown = block(before.transcript, "note", noteRows(["dim", searchLine(search)], context));
  const reply = { ...shown.transcript.reply, searches: [...searches, search.id] };
  return { transcript: { ...shown.transcript, reply }, rows: [...before.rows, ...shown.rows] };
}

const longestTail = 8000;

/** Returns the text that is not in the history yet, as it looks now. */
export function tailRows({ reply }: Transcript, { columns }: RowContext): Row[] {
  if (reply.earlier !== "") return [];
  const { shown, text, markdown } = reply;
  // Only the end of an endless line can be seen.
  const from = Math.max(shown, text.length - longestTail);
  if (from === text.length && !markdown.table) return [];
  const printed = Math.max(0, (markdown.printed ?? 0) - (from - shown));
  return markdownTail(text.slice(from), { ...markdown, printed }, columns - margin.length).map(indented);
}

/**
 * Returns the transcript after the tail, as drawn in `drawn`, became history in place; undefined when another reply has
 * begun since, or the drawn text may still change.
 */
export function completeTail(
  { reply }: Transcript,
  drawn: Transcript,
  context: RowContext,
): Step | undefined {
  const { text, shown, markdown } = drawn.reply;
  const line = text.slice(shown);
  if (
    line === "" ||
    markdown.table ||
    markdown.item !== undefined ||
    /^\s*\|/.test(line) ||
    !reply.text.startsWith(text)
  )
    return undefined;
  const completed = { ...reply, shown, markdown: { ...markdown, printed: safe(line).length } };
  return showLines({ ...drawn, reply: completed }, reply.text, context);
}

/** Returns the rows that an event adds to the history. `events`: the log up to it. */
export function addEvent(
  transcript: Transcript,
  event: LogEvent,
  events: readonly LogEvent[],
  context: RowContext,
): Step {
  switch (event.type) {
    case "user_message":
      return block(transcript, "user", userRows(event, context, events));
    case "assistant_message":
      return endReply(transcript, event, context);
    case "tool_result": {
      const call = findCall(events, event.toolUseId) ?? { name: event.toolName, input: {} };
      return block(transcript, "tool", resultRows(event, call, context));
    }
    case "turn_ended":
      return endTurn(transcript, event, context);
    default: {
      const note = noteOf(event, events, context);
      return note ? block(transcript, "note", noteRows(note, context)) : still(transcript);
    }
  }
}

function still(transcript: Transcript): Step {
  return { transcript, rows: [] };
}

/** Returns rows of one kind, separated from another kind before them. */
export function block(transcript: Transcript, kind: NonNullable<Transcript["last"]>, rows: Row[]): Step {
  if (rows.length === 0) return still(transcript);
  const apart = transcript.last !== undefined && (transcript.last !== kind || kind === "user");
  return { transcript: { ...transcript, last: kind }, rows: apart ? [[], ...rows] : rows };
}

function indented(row: Row): Row {
  return row.length === 0 || (row.length === 1 && row[0]?.text === "") ? [] : [{ text: margin }, ...row];
}

/** Ends a block of text with its line, so that the next one begins on its own. */
function endedLine(reply: Reply): Reply {
  return reply.text === "" || reply.text.endsWith("\n") ? reply : { ...reply, text: `${reply.text}\n` };
}

/** Maximum rows of an unfinished line that are held back. */
const deferredRows = 3;

/** Shows the complete new lines of `text`, and the settled part of the unfinished line. */
function showLines(transcript: Transcript, text: string, context: RowContext): Step {
  const reply = resumed({ ...transcript.reply, text });
  if (reply === undefined) {
    const note = block(
      transcript,
      "note",
      noteRows(["warn", "the reply was cut off and starts again"], context),
    );
    const again = showLines({ ...note.transcript, reply: { ...noReply, thoughtShown: true } }, text, context);
    return { transcript: again.transcript, rows: [...note.rows, ...again.rows] };
  }
  if (reply.earlier !== "") return still({ ...transcript, reply });
  const end = Math.max(reply.shown, text.lastIndexOf("\n") + 1);
  const lines = end > reply.shown ? text.slice(reply.shown, end - 1).split("\n") : [];
  const columns = context.columns - margin.length;
  const rows: Row[] = [];
  let { markdown } = reply;
  for (const line of lines) {
    const lineRows = markdownLine(line, markdown, columns);
    markdown = lineRows.state;
    rows.push(...lineRows.rows);
  }
  for (let head: MarkdownRows | undefined; ; rows.push(...head.rows)) {
    head = markdownHead(text.slice(end), markdown, columns, deferredRows);
    if (!head) break;
    markdown = head.state;
  }
  return block(
    { ...transcript, reply: { ...reply, shown: end, markdown } },
    "text",
    trimmed(rows, transcript).map(indented),
  );
}

/** Catches up with the text of an earlier attempt; undefined when the new text differs. */
function resumed(reply: Reply): Reply | undefined {
  const { earlier, text } = reply;
  if (earlier === "") return reply;
  if (text.length < earlier.length) return earlier.startsWith(text) ? reply : undefined;
  return text.startsWith(earlier)
    ? { ...reply, earlier: "", shown: earlier.lastIndexOf("\n") + 1 }
    : undefined;
}

/** Removes blank rows from the beginning of an answer; the transcript spaces it. */
function trimmed(rows: Row[], { last }: Transcript): Row[] {
  if (last === "text") return rows;
  const first = rows.findIndex((row) => row.some(({ text }) => text !== ""));
  return first < 0 ? [] : rows.slice(first);
}

function thoughtRows(transcript: Transcript, thinking: string, context: RowContext): Step {
  if (transcript.reply.thoughtShown || thinking.trim() === "") return still(transcript);
  const columns = context.columns - 4;
  const shown: Row[] = transcript.showThinking
    ? thinking
        .trim()
        .split("\n")
        .flatMap((line) => wrap([{ text: safe(line), tone: "dim" }], columns))
    : [[{ text: gist(thinking, columns), tone: "dim" }]];
  const rows = shown.map((row, index): Row => [{ text: index === 0 ? "  ✻ " : "    ", tone: "dim" }, ...row]);
  return block({ ...transcript, reply: { ...transcript.reply, thoughtShown: true } }, "text", rows);
}

/** Ends a reply, which is whole in the log now: the rest of it becomes rows. */
function endReply(transcript: Transcript, event: EventOf<"assistant_message">, context: RowContext): Step {
  const searched = searchesIn(event.content).reduce<Step>((step, search) => {
    const next = searchStep(step.transcript, search, context);
    return { transcript: next.transcript, rows: [...step.rows, ...next.rows] };
  }, still(transcript));
  const thought = thoughtRows(searched.transcript, thinkingOf(event.content), context);
  const text = event.content.reduce(
    (sum, part, at) => (part.type === "text" ? joined(sum, part, event.content[at - 1]) : sum),
    "",
  );
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const said = showLines(thought.transcript, whole, context);
  const { markdown } = said.transcript.reply;
  const rest = markdownEnd(markdown, context.columns - margin.length).map(indented);
  const rows = [...searched.rows, ...thought.rows, ...said.rows, ...rest];
  const last = rest.length > 0 ? { last: "text" as const } : {};
  return { transcript: { ...said.transcript, ...last, reply: noReply }, rows: withoutEnd(rows) };
}

function joined(text: string, block: TextBlock, before: AssistantBlock | undefined): string {
  const goesOn = text === "" || text.endsWith("\n") || continues(block, before);
  return goesOn ? text + block.text : `${text}\n${block.text}`;
}

/** Removes blank rows from the end of an answer. */
function withoutEnd(rows: Row[]): Row[] {
  const last = rows.findLastIndex((row) => row.length > 0);
  return rows.slice(0, last + 1);
}

function thinkingOf(content: readonly AssistantBlock[]): string {
  return content.flatMap((part) => (part.type === "thinking" ? [part.thinking] : [])).join("\n");
}

/** Shows how a turn ended, unless it completed; an unfinished reply is flushed first. */
function endTurn(transcript: Transcript, event: EventOf<"turn_ended">, context: RowContext): Step {
  const text = transcript.reply.text;
  const flushed = showLines(transcript, endedLine({ ...transcript.reply, text }).text, context);
  const clean = { ...flushed.transcript, reply: noReply };
  const words = endText(event.reason, event.detail);
  const note = words ? block(clean, "note", noteRows(words, context)) : still(clean);
  return { transcript: note.transcript, rows: [...flushed.rows, ...note.rows] };
}
