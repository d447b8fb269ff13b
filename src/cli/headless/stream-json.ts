/** The log as JSON Lines for other programs (design §5). Pure: one event in, at most one line out. */

import { editWords, sentenceOf } from "../../context/view/edit-words.ts";
import { type AssistantBlock, type FoundPage, isSearch } from "../../core/blocks.ts";
import type { DecisionRecord, PermissionMode } from "../../core/decision.ts";
import type { EventOf, LogEvent, TurnEnd } from "../../core/events.ts";
import { lastText, spending, started } from "../../core/questions.ts";
import type { SandboxStatus } from "../../core/sandbox.ts";
import { wireEgress } from "./egress.ts";
import type { Answer } from "./result.ts";
import { wireUsage } from "./result.ts";

/** Returns the first line of every run. */
export function initLine(
  start: EventOf<"session_started">,
  { model, mode, sandbox }: { model: string; mode: PermissionMode; sandbox: SandboxStatus },
) {
  return {
    type: "system",
    subtype: "init",
    session_id: start.sessionId,
    cwd: start.cwd,
    model,
    tools: start.tools.filter((tool) => !tool.defer_loading).map((tool) => tool.name),
    permission_mode: mode,
    sandbox,
  };
}

/** Returns the line at the end of one message of a driving program; the run continues with the next. */
export function turnLine(
  events: readonly LogEvent[],
  { reason, answer }: { reason: TurnEnd; answer?: Answer | undefined },
) {
  return {
    type: "turn",
    reason,
    result: lastText(events),
    ...(answer ? { structured_output: "value" in answer ? answer.value : null } : {}),
    num_turns: spending(events).turns,
    session_id: started(events).sessionId,
  };
}

/** Returns the line for an event; undefined for internal events. `events`: the log up to it. */
export function eventLine(event: LogEvent, events: readonly LogEvent[]): object | undefined {
  const session = { session_id: started(events).sessionId };
  switch (event.type) {
    case "assistant_message":
      return { type: "assistant", message: assistantMessage(event), ...session };
    case "tool_result":
      return { type: "user", message: { role: "user", content: [resultBlock(event)] }, ...session };
    case "permission_decided": {
      const { toolUseId, decision, rule, by, mode, scope, asked } = event;
      return {
        type: "permission",
        tool_use_id: toolUseId,
        ...{ decision, rule, by },
        ...(mode ? { mode } : {}),
        ...(scope ? { scope } : {}),
        ...(asked ? { asked: askedFields(asked) } : {}),
        ...session,
      };
    }
    case "context_edited": {
      const { policy, reason, edits, economics } = event;
      const text = sentenceOf(editWords(event, events));
      return { type: "context", policy, reason, text, edits, economics, ...session };
    }
    case "model_failed": {
      if (event.attempt === 0) return undefined;
      const { kind, message, attempt, waitMs } = event;
      return { type: "retry", kind, message, attempt, wait_ms: waitMs ?? 0, ...session };
    }
    case "warning":
      return { type: "warning", message: event.text, ...session };
    case "quarantined": {
      const { path, kept, accepted = false } = event;
      return { type: "quarantined", path, kept, accepted, ...session };
    }
    case "egress":
      return { type: "egress", ...wireEgress(event), ...session };
    case "delegate_started":
    case "delegate_called":
    case "delegate_ended":
      return { type: "delegate", ...delegateFields(event), ...session };
    // The first line names it.
    case "sandbox":
    case "runs_elsewhere":
    case "mcp_called":
    case "session_started":
    case "model_changed":
    case "session_named":
    case "settings_changed":
    case "user_message":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "summary_call":
    case "turn_ended":
      return undefined;
    default:
      return event satisfies never;
  }
}

function delegateFields(event: EventOf<"delegate_started" | "delegate_called" | "delegate_ended">) {
  const { delegate } = event;
  switch (event.type) {
    case "delegate_started": {
      const { toolUseId, folder, writes, role } = event;
      const named = role === undefined ? {} : { role };
      return { subtype: "started", delegate, tool_use_id: toolUseId, folder, writes, ...named };
    }
    case "delegate_called": {
      const { model, usage, durationMs } = event;
      return { subtype: "called", delegate, model, usage: wireUsage(usage), duration_ms: durationMs };
    }
    case "delegate_ended": {
      const { calls, apartUsd, inPlaceUsd } = event.economics;
      const sums = { calls, cost_usd: apartUsd, in_place_usd: inPlaceUsd };
      return { subtype: "ended", delegate, reason: event.reason, ...sums };
    }
  }
}

function askedFields({ reason, waitedMs, remembered, say }: NonNullable<DecisionRecord["asked"]>) {
  return {
    reason,
    waited_ms: waitedMs,
    ...(remembered ? { remembered } : {}),
    ...(say ? { say } : {}),
  };
}

function assistantMessage(event: EventOf<"assistant_message">) {
  return {
    ...(event.messageId ? { id: event.messageId } : {}),
    role: "assistant",
    model: event.model,
    content: event.content.map(shownBlock),
    stop_reason: event.stopReason,
    usage: wireUsage(event.usage),
  };
}

/** Shows a block as the log has it, but for what of a search only the API can read. */
function shownBlock(block: AssistantBlock): object {
  if (isSearch(block) && block.wire) {
    const { wire: _, ...shown } = block;
    return shownBlock(shown);
  }
  if (block.type !== "web_search_tool_result" || !Array.isArray(block.content)) return block;
  const pages = (block.content as readonly FoundPage[]).map(({ encrypted_content: _, ...page }) => page);
  return { ...block, content: pages };
}

function resultBlock(event: EventOf<"tool_result">) {
  return {
    type: "tool_result",
    tool_use_id: event.toolUseId,
    content: event.content,
    is_error: event.isError,
  };
}
