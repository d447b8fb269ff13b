/** When a span of the history is due to become a summary, and which span. Pure; the agent makes the call. */

import type { LogEvent } from "../core/events.ts";
import type { Decision, Plan, Policy } from "./policy.ts";
import type { Snapshot } from "./snapshot.ts";
import { turnsOf } from "./turns.ts";

/** As published: when N + M unsummarised turns have gathered, the oldest N become one summary. */
export function summaryPolicy(name: "summary" | "hybrid"): Policy {
  return {
    name,
    plan(snapshot) {
      const { summaryTurns, hybridTurns, summaryKeep } = snapshot.settings;
      const due = (name === "hybrid" ? hybridTurns : summaryTurns) + summaryKeep;
      const turns = turnsOf(snapshot.view.entries).length;
      if (turns < due) return {};
      return summarize(snapshot, name, `${turns} turns are not summarised`, summaryKeep);
    },
  };
}

/** The last resort: the mechanical means are used up and the next request would still be too large. */
export const lastResortPolicy: Policy = {
  name: "last-resort",
  plan(snapshot) {
    const { expected, soft, settings } = snapshot;
    if (expected < settings.pressure * soft.tokens) return {};
    return summarize(snapshot, "summary", "nothing else is left to shorten", 1);
  },
};

function summarize(snapshot: Snapshot, policy: string, reason: string, keep: number): Decision {
  if (!mayTry(snapshot.events)) return {};
  const span = spanOf(snapshot, keep);
  if (!span) return {};
  const plan: Plan = {
    policy,
    reason,
    edits: [],
    economics: { expectedTokens: snapshot.expected },
    summarize: span,
  };
  return { plan };
}

/** From after the first user message to before the newest `keep` turns; whole steps only. */
function spanOf({ view }: Pick<Snapshot, "view">, keep: number): { from: number; to: number } | undefined {
  const { entries } = view;
  const firstUser = entries.findIndex((entry) => entry.role === "user");
  const turns = turnsOf(entries);
  const end = turns.length > keep ? turns[turns.length - keep]?.index : undefined;
  const from = entries[firstUser + 1];
  const to = end === undefined ? undefined : entries[end - 1];
  return from && to && to.seq > from.seq ? { from: from.seq, to: to.seq } : undefined;
}

/**
 * At most two summary calls in ten steps, and none after one that freed less than a fifth: it would be paid for
 * again and again. After a failed or rejected one the mechanical part stands alone.
 */
function mayTry(events: readonly LogEvent[]): boolean {
  let steps = 0;
  let calls = 0;
  for (let index = events.length - 1; index >= 0 && steps < 10; index--) {
    const event = events[index];
    if (event?.type === "model_request") steps += 1;
    if (event?.type === "side_call") calls += 1;
    const freed = event?.type === "context_edited" ? event.economics.freedShare : undefined;
    if (typeof freed === "number" && freed < 0.2) return false;
  }
  return calls < 2;
}
