/** Events as lines for a person who watches: `--verbose` and the demo. Pure. */

import { resultText } from "../core/blocks.ts";
import type { EventOf, LogEvent } from "../core/events.ts";
import { inputTotal } from "../core/model-card.ts";
import { findCall } from "../core/questions.ts";

/** No line, or several, without a final newline. `width` in columns. */
export function stepLines(event: LogEvent, events: readonly LogEvent[], width = 100): string[] {
  switch (event.type) {
    case "assistant_message":
      return replyLines(event, events);
    case "tool_result":
      return [resultLine(event, events, width)];
    case "context_edited":
      return [`  ▼ ${event.reason}: ${economicsText(event)}`];
    case "model_failed":
      return event.attempt > 0
        ? [`  ! ${event.message}; trying again in ${((event.waitMs ?? 0) / 1000).toFixed(1)} s`]
        : [];
    case "warning":
      return [`  ! ${event.text}`];
    default:
      return [];
  }
}

function replyLines(event: EventOf<"assistant_message">, events: readonly LogEvent[]): string[] {
  const step = events.filter((each) => each.type === "assistant_message" && each.seq <= event.seq).length;
  const text = event.content.flatMap((block) =>
    block.type === "text" ? visible(block.text).split("\n") : [],
  );
  const head = `${String(step).padStart(3)}  ${tokens(inputTotal(event.usage)).padStart(6)} tokens`;
  return text.length === 0
    ? [head]
    : [`${head}  ${text[0]}`, ...text.slice(1).map((line) => `${" ".repeat(19)}${line}`)];
}

function resultLine(event: EventOf<"tool_result">, events: readonly LogEvent[], width: number): string {
  const call = findCall(events, event.toolUseId);
  const room = Math.max(20, width - 45);
  const subject = cut(visible(call ? subjectOf(call) : ""), room);
  const facts = event.isError ? `failed${lastLine(event)}` : factsOf(event);
  return `     ${event.isError ? "✗" : "✓"} ${event.toolName.padEnd(18)} ${subject.padEnd(room)}  ${facts}`;
}

function subjectOf(call: { name: string; input: unknown }): string {
  const input = (call.input ?? {}) as Record<string, unknown>;
  if (call.name === "str_replace_editor") return `${input.command} ${input.path}`;
  if (call.name === "todo") return Array.isArray(input.items) ? `${input.items.length} items` : "";
  return String(input.command ?? input.objective ?? input.outcome ?? JSON.stringify(input));
}

function factsOf(event: EventOf<"tool_result">): string {
  const { durationMs, lines } = event.stats ?? {};
  const shown = lines ?? resultText(event.content).split("\n").length;
  const time = durationMs === undefined ? "" : `, ${(durationMs / 1000).toFixed(1)} s`;
  return `${shown} ${shown === 1 ? "line" : "lines"}${time}`;
}

function lastLine(event: EventOf<"tool_result">): string {
  const status = event.stats?.exitCode;
  if (status !== undefined) return `, exit ${status}`;
  return `: ${cut(visible(resultText(event.content)), 60)}`;
}

function economicsText(event: EventOf<"context_edited">): string {
  const removed = event.economics.removedTokens;
  return typeof removed === "number"
    ? `about ${tokens(removed)} tokens leave the context`
    : `${event.edits.length} edits`;
}

function tokens(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}

function cut(text: string, room: number): string {
  const line = text.split("\n")[0] ?? "";
  const short = line.length > room ? `${line.slice(0, room - 1)}…` : line;
  return text.includes("\n") && line.length < room ? `${line} …` : short;
}

/** Nothing that a model or a tool wrote may steer the terminal. */
function visible(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "�").replaceAll("\t", "  ");
}
