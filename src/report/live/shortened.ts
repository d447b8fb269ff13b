/** Events with the long texts cut that a live page shows in one piece, so that no update is large. Pure. */

import type { LogEvent } from "../../core/events.ts";

/** Characters of a text that is shown. */
const longest = 200;

/** Cuts nothing that the model was sent: messages, results and edits stay as they are. */
export function shortened(event: LogEvent): LogEvent {
  switch (event.type) {
    case "warning":
      return { ...event, text: cut(event.text) };
    case "model_failed":
      return { ...event, message: cut(event.message) };
    case "summary_call":
      return event.detail === undefined ? event : { ...event, detail: cut(event.detail) };
    case "delegate_ended":
    case "turn_ended":
      return event.detail === undefined ? event : { ...event, detail: cut(event.detail) };
    case "permission_decided":
      return cutIn(event);
    case "egress":
      return cutIn(event);
    case "context_edited":
      return {
        ...event,
        policy: cut(event.policy),
        reason: cut(event.reason),
        economics: few(event.economics),
      };
    default:
      return event;
  }
}

function cut(text: string): string {
  return text.length > longest ? `${text.slice(0, longest).toWellFormed()}…` : text;
}

/** Cuts every text in a value, but not the ids by which others name it. */
function cutIn<T>(value: T): T {
  if (typeof value === "string") return cut(value) as T;
  if (Array.isArray(value)) return value.slice(0, 10).map(cutIn) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, cutIn(item)])) as T;
}

function few(economics: Record<string, number | string>): Record<string, number | string> {
  const entries = Object.entries(economics).slice(0, 16);
  return Object.fromEntries(
    entries.map(([key, value]) => [cut(key), typeof value === "string" ? cut(value) : value]),
  );
}
