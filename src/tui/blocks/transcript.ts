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

/** The streaming reply: its text so far, how much of it became rows, and the Markdown state there. */
type Reply = {
  text: string;
  shown: number;
  place: MarkdownState;
  thinking: string;
  thoughtShown: boolean;
  /** Rows that a failed attempt has already printed: the same text is not shown twice. */
  earlier: string;
};

/** `last`: the kind of the newest row; a blank row separates different kinds. */
export type Transcript = { reply: Reply; last?: "user" | "text" | "tool" | "note"; showThinking: boolean };

export type Step = { transcript: Transcript; rows: Row[] };

const noReply: Reply = { text: "", shown: 0, place: {}, thinking: "", thoughtShown: false, earlier: "" };

export function emptyTranscript(): Transcript {
  return { reply: noReply, showThinking: false };
}

/** Columns before the model's words. */
const margin = "  ";

/** Adds a part of the reply: returns its lines that are complete by now. */
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

/** Returns the text that is not in the history yet, as it looks now. */
export function tailRows({ reply }: Transcript, { columns }: RowContext): Row[] {
  if (reply.earlier !== "") return [];
  const { shown, text, place } = reply;
  // Only the end of an endless line can be seen.
  const from = Math.max(shown, text.length - longestTail);
  if (from === text.length && !place.table) return [];
  const told = Math.max(0, (place.told ?? 0) - (from - shown));
  return markdownTail(text.slice(from), { ...place, told }, columns - margin.length).map(indented);
}

/**
 * Returns the transcript after the tail, as drawn in `drawn`, became history in place; undefined when another reply has
 * begun since, or the drawn text may still change.
 */
export function tellTail({ reply }: Transcript, drawn: Transcript, around: RowContext): Step | undefined {
  const { text, shown, place } = drawn.reply;
  const line = text.slice(shown);
  if (line === "" || place.table || /^\s*\|/.test(line) || !reply.text.startsWith(text)) return undefined;
  const told = { ...reply, shown, place: { ...place, told: safe(line).length } };
  return showLines({ ...drawn, reply: told }, reply.text, around);
}

/** Returns the rows that an event adds to the history. `events`: the log up to it. */
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
const heldRows = 3;

/** Shows the complete new lines of `text`, and the settled part of the unfinished line. */
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

/** Ends a reply, which is whole in the log now: the rest of it becomes rows. */
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

/** Removes blank rows from the end of an answer. */
function withoutEnd(rows: Row[]): Row[] {
  const last = rows.findLastIndex((row) => row.length > 0);
  return rows.slice(0, last + 1);
}

function thinkingOf(content: readonly AssistantBlock[]): string {
  return content.flatMap((one) => (one.type === "thinking" ? [one.thinking] : [])).join("\n");
}

/** Shows how a turn ended, unless it completed; an unfinished reply is flushed first. */
function endTurn(transcript: Transcript, event: EventOf<"turn_ended">, around: RowContext): Step {
  const text = transcript.reply.text;
  const flushed = showLines(transcript, endedLine({ ...transcript.reply, text }).text, around);
  const clean = { ...flushed.transcript, reply: noReply };
  const words = endText(event.reason, event.detail);
  const note = words ? block(clean, "note", noteRows(words, around)) : still(clean);
  return { transcript: note.transcript, rows: [...flushed.rows, ...note.rows] };
}
