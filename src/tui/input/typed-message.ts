/** A message that the user typed. */

import type { Queued } from "../ports/session.ts";

export function typedMessage(text: string): Queued {
  return { content: [{ type: "text", text }], typed: true };
}
