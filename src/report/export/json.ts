/** A session as JSON: its log, whole, with secrets taken out and no control code bare. Pure. */

import type { LogEvent } from "../../core/events.ts";

/** `{"events": […]}`, each event as in the log. */
export function exportJson(events: readonly LogEvent[], redact: (text: string) => string): string {
  const text = JSON.stringify({ events: redacted(events, redact) }, null, 2);
  // JSON itself leaves the 8-bit controls as they are.
  return `${text.replace(/[\u007f-\u009f]/g, (code) => `\\u${code.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}

function redacted(value: unknown, redact: (text: string) => string): unknown {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return value.map((item) => redacted(item, redact));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, redacted(item, redact)]));
}
