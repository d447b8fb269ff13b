/** The texts of instruction files that stand: read, and not forgotten whatever else is. Pure. */

import { resultText } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { textTokens } from "./tokens.ts";

/** The text that one event brought. `tokens`: the estimate, before calibration. */
export type StandingText = { seq: number; paths: readonly string[]; tokens: number };

/** Lists them, the oldest first, as the view has them: the newest text of a file stands, until it is released. */
export const standingTexts = memoizedReduce<readonly StandingText[]>(
  () => [],
  (texts, event) => {
    const rest = withoutReleased(texts, event);
    if ((event.type !== "tool_result" && event.type !== "reminder") || !event.instructions) return rest;
    const { seq, instructions: paths } = event;
    const text = event.type === "reminder" ? event.text : resultText(event.content);
    const others = rest.filter((each) => !each.paths.every((path) => paths.includes(path)));
    return [...others, { seq, paths, tokens: textTokens(text) }];
  },
);

function withoutReleased(texts: readonly StandingText[], event: LogEvent): readonly StandingText[] {
  const released = event.type === "reminder" ? event.released : undefined;
  return released ? texts.filter(({ seq }) => !released.includes(seq)) : texts;
}
