/** A session as JSON: its log, whole, with secrets taken out and no control code bare. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { redactedValue } from "../../core/secrets/redact.ts";

/** `{"events": […]}`, each event as in the log. */
export function exportJson(events: readonly LogEvent[], redact: (text: string) => string): string {
  const text = JSON.stringify({ events: redactedValue(events, redact) }, null, 2);
  // JSON itself leaves the 8-bit controls as they are.
  return `${text.replace(/[\u007f-\u009f]/g, (code) => `\\u${code.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}
