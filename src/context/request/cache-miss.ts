/** Explains a cache miss that the API reports, or warns of an unexpected one. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { cacheLifeMs, usualLife } from "../../core/model-card.ts";
import { currentModel, started } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import { requestOfStep } from "./compose.ts";

/** Returns a warning when nothing in the log explains the newest request's cache miss; else undefined. */
export function unexpectedMiss(events: readonly LogEvent[], reason: string): string | undefined {
  const newest = events.findLastIndex((event) => event.type === "model_request");
  // The API compares with the request whose reply it was told of; later ones may have failed.
  const answered = events.findLastIndex(
    (event, index) => index < newest && event.type === "assistant_message" && event.messageId !== undefined,
  );
  const before = events.findLastIndex((event, index) => index < answered && event.type === "model_request");
  if (before < 0) return undefined;
  // The first change of tools costs the cache of a session that declared none for later.
  const isReady = started(events).tools.some((tool) => tool.defer_loading);
  const known = events
    .slice(before, newest)
    .some((event) => explains(event) || (event.type === "tools_gated" && !isReady));
  // What was said to the earlier request alone is gone from this one, behind all that was cached.
  if (hadPassing(events, before)) return undefined;
  const waited = (events[newest]?.at ?? 0) - (events[before]?.at ?? 0);
  if (known || waited > cacheLifeMs[usualLife(currentModel(events).model.contract)]) return undefined;
  const stepOf = (end: number) =>
    events.slice(0, end + 1).filter(({ type }) => type === "model_request").length;
  const [earlier, later] = [requestOfStep(events, stepOf(before)), requestOfStep(events, stepOf(newest))];
  const where = earlier && later ? firstDifference(earlier.request, later.request) : undefined;
  return `the cache missed unexpectedly (${reason}): ${where ?? "the earlier request is a prefix of this one"}`;
}

/** Returns true for events that change the prefix, or whether it has images at all (provider-facts §3). */
function explains(event: LogEvent): boolean {
  switch (event.type) {
    case "context_edited":
    case "model_changed":
      return true;
    case "user_message":
      return event.content.some((block) => block.type === "image");
    case "tool_result":
      return typeof event.content !== "string" && event.content.some((block) => block.type === "image");
    case "session_started":
    case "session_named":
    case "settings_changed":
    case "assistant_message":
    case "permission_decided":
    case "sandbox":
    case "quarantined":
    case "runs_elsewhere":
    case "reminder":
    case "tools_gated":
    case "model_request":
    case "summary_call":
    case "model_failed":
    case "warning":
    case "egress":
    case "mcp_called":
    case "delegate_started":
    case "delegate_called":
    case "delegate_ended":
    case "turn_ended":
      return false;
    default:
      return event satisfies never;
  }
}

/** Returns true when the request at this index held a reminder for itself alone, or for the paused reply that it continues. */
function hadPassing(events: readonly LogEvent[], request: number): boolean {
  for (let index = request - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "assistant_message" && event.stopReason !== "pause_turn") return false;
    if (event?.type === "reminder" && event.channel !== "logged") return true;
  }
  return false;
}

/** Returns the first position at which `later` does not continue `earlier`; undefined when it does. */
export function firstDifference(earlier: ModelRequest, later: ModelRequest): string | undefined {
  if (earlier.model !== later.model) return "the model differs";
  if (JSON.stringify(earlier.tools) !== JSON.stringify(later.tools)) return "the tools differ";
  if (earlier.system !== later.system) return "the system text differs";
  for (const [index, message] of earlier.messages.entries()) {
    const other = later.messages[index];
    if (other?.role !== message.role) return `messages.${index} differs in its role`;
    const block = message.content.findIndex(
      (each, at) => JSON.stringify(each) !== JSON.stringify(other.content[at]),
    );
    if (block >= 0) return `messages.${index}.content.${block} differs`;
  }
  return undefined;
}
