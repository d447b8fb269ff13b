/** Plans the handoff that the user asks for: from after the first message to before the newest step. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { handoffText } from "../handoff/handoff.ts";
import { textTokens } from "../view/tokens.ts";
import type { Entry, View } from "../view/view.ts";
import type { Plan } from "./policy.ts";
import { newestStep } from "./policy-input.ts";

/** A handoff that frees less is not worth a model call. */
const leastTokens = 1_000;

/** Returns the plan; undefined when nothing is worth a summary. */
export function compactPlan(events: readonly LogEvent[], view: View): Plan | undefined {
  const entries = compactable(view);
  const [first, last] = [entries[0], entries.at(-1)];
  if (!first || !last) return undefined;
  // User messages and instructions stay in any summary, and the mechanical facts take room too.
  const taken = entries
    .filter(({ isUserText, standing }) => !isUserText && !standing)
    .reduce((sum, { tokens }) => sum + tokens, 0);
  if (taken - textTokens(handoffText(events, "")) < leastTokens) return undefined;
  const summarize = { from: first.seq, to: last.seq };
  const reason = "the person asked for it";
  return {
    policy: "compact",
    reason,
    edits: [],
    economics: { takenTokens: taken },
    summarize,
    withProse: true,
  };
}

/** Returns the entries that a handoff covers: whole steps, without the newest. */
export function compactable({ entries, ...view }: View): Entry[] {
  const first = entries.findIndex(({ role }) => role === "user");
  return entries.slice(first + 1, newestStep({ entries, ...view }));
}
