/** The transcript: events and live parts become rows, each written once, for good. Pure. */

import type { AssistantBlock, TextBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import type { ModelPart } from "../../core/ports.ts";
import { findCall } from "../../core/questions.ts";
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
import { endText, noteOf, noteRows, userRows } from "./event-rows.ts";
import { type RowContext, resultRows } from "./tool-rows.ts";

/** The reply being made: its text so far, how much of it became rows, and where in the Markdown that ended. */
type Reply = {
  text: string;
  shown: number;
  place: MarkdownState;
  thinking: string;
  thoughtShown: boolean;
  /** Rows of a failed attempt that stand there already: the same text is not shown twice. */
  earlier: string;
};

/** `last`: what the newest row is, because a blank row stands between things of different kinds. */
export type Transcript = { reply: Reply; last?: "user" | "text" | "tool" | "note"; showThinking: boolean };

export type Step = { transcript: Transcript; rows: Row[] };

const noReply: Reply = { text: "", shown: 0, place: {}, thinking: "", thoughtShown: false, earlier: "" };

export function emptyTranscript(): Transcript {
  return { reply: noReply, showThinking: false };
}

/** Columns that stand before the model's words. */
const margin = "  ";

/** What a part of the reply adds to the history: the lines that are whole by now. */
export function addPart(transcript: Transcript, part: ModelPart, around: RowContext): Step {
  const { reply } = transcript;
  switch (part.type) {
    case "thinking_delta":
      return still({ ...transcript, reply: { ...endedLine(reply), thinking: reply.thinking + part.text } });
    case "text_delta": {
      const thought = thoughtRows(transcript, reply.thinking, around);
      const said = showLines(thought.transcript, reply.text + part.text, around);
      return { transcript: said.transcript, rows: [...thought.rows, ...said.rows] };
    }
    case "tool_use_started": {
      const thought = thoughtRows(transcript, reply.thinking, around);
      const said = showLines(thought.transcript, endedLine(thought.transcript.reply).text, around);
      return { transcript: said.transcript, rows: [...thought.rows, ...said.rows] };
    }
    case "input_delta":
      return still(transcript);
    case "attempt_failed": {
      const seen = reply.place.told ? reply.text : reply.text.slice(0, reply.shown);
      const earlier = seen || reply.earlier;
      return still({
        ...transcript,
        reply: { ...noReply, place: reply.place, thoughtShown: reply.thoughtShown, earlier },
      });
    }
  }
}

const longestTail = 8000;

/** The text that is not in the history yet, as it looks now. */
export function tailRows({ reply }: Transcript, { columns }: RowContext): Row[] {
  if (reply.earlier !== "") return [];
  const { shown, text, place } = reply;
  // Of a line without an end only its own end can be seen.
  const from = Math.max(shown, text.length - longestTail);
  if (from === text.length && !place.table) return [];
  const told = Math.max(0, (place.told ?? 0) - (from - shown));
  return markdownTail(text.slice(from), { ...place, told }, columns - margin.length).map(indented);
}

/**
 * What the reply adds to the history when its tail, as it looked in `drawn`, has become history where it stood;
 * undefined when that cannot be: another reply has begun since, or what stood there may still look different.
 */
export function tellTail({ reply }: Transcript, drawn: Transcript, around: RowContext): Step | undefined {
  const { text, shown, place } = drawn.reply;
  const line = text.slice(shown);
  if (line === "" || place.table || /^\s*\|/.test(line) || !reply.text.startsWith(text)) return undefined;
  const told = { ...reply, shown, place: { ...place, told: safe(line).length } };
  return showLines({ ...drawn, reply: told }, reply.text, around);
}

/** What an event adds to the history. `events`: the log up to it. */
export function addEvent(
  transcript: Transcript,
  event: LogEvent,
  events: readonly LogEvent[],
  around: RowContext,
): Step {
  switch (event.type) {
    case "user_message":
      return block(transcript, "user", userRows(event, around));
    case "assistant_message":
      return endReply(transcript, event, around);
    case "tool_result": {
      const call = findCall(events, event.toolUseId) ?? { name: event.toolName, input: {} };
      return block(transcript, "tool", resultRows(event, call, around));
    }
    case "turn_ended":
      return endTurn(transcript, event, around);
    default: {
      const note = noteOf(event);
      return note ? block(transcript, "note", noteRows(note, around)) : still(transcript);
    }
  }
}

function still(transcript: Transcript): Step {
  return { transcript, rows: [] };
}

/** Rows of one kind, set off from another kind before them. */
export function block(transcript: Transcript, kind: NonNullable<Transcript["last"]>, rows: Row[]): Step {
  if (rows.length === 0) return still(transcript);
  const apart = transcript.last !== undefined && (transcript.last !== kind || kind === "user");
  return { transcript: { ...transcript, last: kind }, rows: apart ? [[], ...rows] : rows };
}

function indented(row: Row): Row {
  return row.length === 0 || (row.length === 1 && row[0]?.text === "") ? [] : [{ text: margin }, ...row];
}

/** A block of text ends with its line, so that the next one begins on its own. */
function endedLine(reply: Reply): Reply {
  return reply.text === "" || reply.text.endsWith("\n") ? reply : { ...reply, text: `${reply.text}\n` };
}

/** Rows of a line under way that are held back at most, where they can be told. */
const heldRows = 3;

/** The lines of `text` that are whole and not shown yet, and what is settled of the line under way. */
function showLines(transcript: Transcript, text: string, around: RowContext): Step {
  const reply = resumed({ ...transcript.reply, text });
  if (reply === undefined) {
    const note = block(
      transcript,
      "note",
      noteRows(["warn", "the reply was cut off and starts again"], around),
    );
    const again = showLines({ ...note.transcript, reply: { ...noReply, thoughtShown: true } }, text, around);
    return { transcript: again.transcript, rows: [...note.rows, ...again.rows] };
  }
  if (reply.earlier !== "") return still({ ...transcript, reply });
  const end = Math.max(reply.shown, text.lastIndexOf("\n") + 1);
  const lines = end > reply.shown ? text.slice(reply.shown, end - 1).split("\n") : [];
  const columns = around.columns - margin.length;
  const rows: Row[] = [];
  let { place } = reply;
  for (const line of lines) {
    const told = markdownLine(line, place, columns);
    place = told.place;
    rows.push(...told.rows);
  }
  for (let head: MarkdownRows | undefined; ; rows.push(...head.rows)) {
    head = markdownHead(text.slice(end), place, columns, heldRows);
    if (!head) break;
    place = head.place;
  }
  return block(
    { ...transcript, reply: { ...reply, shown: end, place } },
    "text",
    trimmed(rows, transcript).map(indented),
  );
}

/** Catches up with what an earlier attempt showed; undefined when the new text is another one. */
function resumed(reply: Reply): Reply | undefined {
  const { earlier, text } = reply;
  if (earlier === "") return reply;
  if (text.length < earlier.length) return earlier.startsWith(text) ? reply : undefined;
  return text.startsWith(earlier)
    ? { ...reply, earlier: "", shown: earlier.lastIndexOf("\n") + 1 }
    : undefined;
}

/** An answer does not begin with blank rows; the space before it is the transcript's. */
function trimmed(rows: Row[], { last }: Transcript): Row[] {
  if (last === "text") return rows;
  const first = rows.findIndex((row) => row.some(({ text }) => text !== ""));
  return first < 0 ? [] : rows.slice(first);
}

function thoughtRows(transcript: Transcript, thinking: string, around: RowContext): Step {
  if (transcript.reply.thoughtShown || thinking.trim() === "") return still(transcript);
  const columns = around.columns - 4;
  const shown: Row[] = transcript.showThinking
    ? thinking
        .trim()
        .split("\n")
        .flatMap((line) => wrap([{ text: safe(line), tone: "dim" }], columns))
    : [[{ text: gist(thinking, columns), tone: "dim" }]];
  const rows = shown.map((row, index): Row => [{ text: index === 0 ? "  ✻ " : "    ", tone: "dim" }, ...row]);
  return block({ ...transcript, reply: { ...transcript.reply, thoughtShown: true } }, "text", rows);
}

/** The whole of a reply is in the log: what is left of it becomes rows. */
function endReply(transcript: Transcript, event: EventOf<"assistant_message">, around: RowContext): Step {
  const thought = thoughtRows(transcript, thinkingOf(event.content), around);
  const text = event.content.reduce((sum, one) => (one.type === "text" ? joined(sum, one) : sum), "");
  const whole = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  const said = showLines(thought.transcript, whole, around);
  const { place } = said.transcript.reply;
  const held = markdownEnd(place, around.columns - margin.length).map(indented);
  const rows = [...thought.rows, ...said.rows, ...held];
  const last = held.length > 0 ? { last: "text" as const } : {};
  return { transcript: { ...said.transcript, ...last, reply: noReply }, rows: withoutEnd(rows) };
}

function joined(text: string, { text: next }: TextBlock): string {
  return text === "" || text.endsWith("\n") ? text + next : `${text}\n${next}`;
}

/** Blank rows at the end of an answer are no part of it. */
function withoutEnd(rows: Row[]): Row[] {
  const last = rows.findLastIndex((row) => row.length > 0);
  return rows.slice(0, last + 1);
}

function thinkingOf(content: readonly AssistantBlock[]): string {
  return content.flatMap((one) => (one.type === "thinking" ? [one.thinking] : [])).join("\n");
}

/** How a turn ended, where that is not rest; a reply that was under way is flushed first. */
function endTurn(transcript: Transcript, event: EventOf<"turn_ended">, around: RowContext): Step {
  const text = transcript.reply.text;
  const flushed = showLines(transcript, endedLine({ ...transcript.reply, text }).text, around);
  const clean = { ...flushed.transcript, reply: noReply };
  const words = endText(event.reason, event.detail);
  const note = words ? block(clean, "note", noteRows(words, around)) : still(clean);
  return { transcript: note.transcript, rows: [...flushed.rows, ...note.rows] };
}
