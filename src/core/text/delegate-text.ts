/** The end of a sub-agent in a line for people. Pure. */

import type { EventOf } from "../events.ts";

/** Says how it ended, its calls and dollars, and what the same would have cost in place. */
export function delegateText({
  delegate,
  reason,
  economics,
}: Pick<EventOf<"delegate_ended">, "delegate" | "reason" | "economics">): string {
  const { calls, apartUsd, inPlaceUsd } = economics;
  const ended = reason === "completed" ? "reported" : `ended (${reason.replaceAll("_", " ")})`;
  const made = `${calls} model ${calls === 1 ? "call" : "calls"}`;
  const prices =
    apartUsd + inPlaceUsd > 0 ? `, $${apartUsd.toFixed(4)}; in place about $${inPlaceUsd.toFixed(4)}` : "";
  return `sub-agent ${delegate} ${ended}: ${made}${prices}`;
}
