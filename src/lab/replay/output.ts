/** The output of a recorded model: its number of tokens, and its last words. Pure. */

import { proseTokens } from "../../context/request/summary-call.ts";
import { blockTokens, textTokens } from "../../context/view/tokens.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";

/**
 * As recorded; estimated from the content where the recording plainly has too few (Claude Code's, while it streams).
 */
export function outputTokens({ content, usage }: EventOf<"assistant_message">): number {
  const written = content.reduce(
    (sum, block) => sum + (block.type === "thinking" ? textTokens(block.thinking) : blockTokens(block)),
    0,
  );
  return usage.outputTokens >= written / 2 ? usage.outputTokens : written;
}

/** The newest words, to the length of a summary. */
export function lastWords(log: readonly LogEvent[]): string {
  let words = "";
  for (let index = log.length - 1; index >= 0 && words.length < 4 * proseTokens; index--) {
    const event = log[index];
    if (event?.type !== "assistant_message") continue;
    const said = event.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
    words = `${said.join("\n")}\n${words}`;
  }
  return words
    .slice(-4 * proseTokens)
    .toWellFormed()
    .trim();
}
