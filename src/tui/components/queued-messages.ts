/** Messages that wait for the next step. */

import { createElement as h, type ReactNode } from "react";
import { Line, Span } from "./text.ts";

export type QueuedMessagesProps = { messages: readonly string[] };

export function QueuedMessages({ messages }: QueuedMessagesProps): ReactNode {
  return messages.map((text, index) =>
    h(Line, { key: index }, h(Span, { tone: "dim" }, `  queued: ${text}`)),
  );
}
