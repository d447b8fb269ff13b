/** The progress of a sub-agent for people, a line for each of its calls. Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { describeCall } from "../../core/tool-calls.ts";

const longest = 80;

/** Returns the line about a reply: its number, its last call, dollars so far; undefined for other events. */
export function progressLine(
  event: LogEvent,
  { calls, cost }: { calls: number; cost: number },
): string | undefined {
  if (event.type !== "assistant_message") return undefined;
  const last = event.content.findLast(isToolUse);
  const { verb, subject } = last ? describeCall(last) : { verb: "writes", subject: "" };
  const title = cleanLine(`${verb} ${subject.split("\n")[0] ?? ""}`).trim();
  const price = cost > 0 ? ` · $${cost.toFixed(4)}` : "";
  return `step ${calls} · ${title.slice(0, longest).toWellFormed()}${price}`;
}
