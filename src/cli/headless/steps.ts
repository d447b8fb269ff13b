/** Events as lines for a user who watches: `--verbose` and the demo. Pure. */

import { editWords, sentenceOf } from "../../context/view/edit-words.ts";
import { isToolUse, resultText } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { egressText } from "../../core/network/egress.ts";
import { findCall } from "../../core/questions.ts";
import { delegateText } from "../../core/text/delegate-text.ts";
import { searchesIn, searchLine, spokenText } from "../../core/text/search-text.ts";
import { describeCall } from "../../core/tool-calls.ts";
import { cut, filled, wrap } from "../../report/text/columns.ts";

/** Returns no line, or several, without a final newline. `width` in columns. */
export function stepLines(event: LogEvent, events: readonly LogEvent[], width = 100): string[] {
  switch (event.type) {
    case "assistant_message":
      return replyLines(event, events, width);
    case "tool_result":
      return [resultLine(event, events, width)];
    case "context_edited":
      return editLines(event, events, width);
    case "model_failed":
      return event.attempt > 0
        ? [`  ! ${event.message}; trying again in ${((event.waitMs ?? 0) / 1000).toFixed(1)} s`]
        : [];
    case "warning":
      return [`  ! ${event.text}`];
    case "egress":
      return event.decision === "allow" ? [] : [`  ! ${egressText(event)}`];
    case "delegate_ended":
      return [`  · ${delegateText(event)}`];
    case "delegate_started":
    case "delegate_called":
    case "session_started":
    case "model_changed":
    case "session_named":
    case "settings_changed":
    case "user_message":
    case "permission_decided":
    case "sandbox":
    case "quarantined":
    case "runs_elsewhere":
    case "mcp_called":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "summary_call":
    case "turn_ended":
      return [];
    default:
      return event satisfies never;
  }
}

const indent = " ".repeat(20);

/** Returns the lines of a reply. One without calls is the answer, which is shown whole elsewhere. */
function replyLines(
  event: EventOf<"assistant_message">,
  events: readonly LogEvent[],
  width: number,
): string[] {
  const step = events.filter((each) => each.type === "assistant_message" && each.seq <= event.seq).length;
  const head = `${String(step).padStart(3)}  ${tokens(inputTotal(event.usage)).padStart(6)} tokens`;
  const said = visible(spokenText(event.content)).trim();
  const searches = searchesIn(event.content).flatMap((search) =>
    search.error === "none" ? [] : [`     ⌕ ${cut(visible(searchLine(search)), Math.max(20, width - 7))}`],
  );
  if (event.stopReason === "pause_turn") return [head, ...searches];
  if (!event.content.some(isToolUse)) return [...searches, `${head}  answers`];
  if (said === "") return [head, ...searches];
  const [first, ...rest] = said
    .split("\n")
    .flatMap((line) => wrap(line, Math.max(20, width - indent.length)));
  return [`${head}  ${first}`, ...rest.map((line) => `${indent}${line}`), ...searches];
}

function resultLine(event: EventOf<"tool_result">, events: readonly LogEvent[], width: number): string {
  const call = findCall(events, event.toolUseId) ?? { name: event.toolName, input: {} };
  const title = describeCall(call, event.call);
  const room = Math.max(20, width - 45);
  const subject = oneLine(visible(title.subject), room);
  const facts = event.isError ? `failed${lastLine(event)}` : factsOf(event);
  return `     ${event.isError ? "✗" : "✓"} ${visible(title.verb).padEnd(18)} ${filled(subject, room)}  ${facts}`;
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
  return `: ${oneLine(visible(resultText(event.content)), 60)}`;
}

function editLines(event: EventOf<"context_edited">, events: readonly LogEvent[], width: number): string[] {
  const lines = wrap(visible(sentenceOf(editWords(event, events))), Math.max(20, width - 4));
  return lines.map((line, index) => `  ${index === 0 ? "▼" : " "} ${line}`);
}

function tokens(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}

/** Returns the first line, cut; an ellipsis stands for the rest. */
function oneLine(text: string, room: number): string {
  const line = text.split("\n")[0] ?? "";
  return cut(line === text || line.length >= room ? line : `${line} …`, room);
}

/** Removes codes by which text of a model or a tool could control the terminal. */
function visible(text: string): string {
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "�").replaceAll("\t", "  ");
}
