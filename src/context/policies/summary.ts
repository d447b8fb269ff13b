/** Decides when to summarise the history, and which span. Pure; the agent makes the call. */

import type { LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { turnsOf } from "../view/turns.ts";
import type { Decision, Policy } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";

/** As published: once there are N + M unsummarised turns, summarises the oldest N. */
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

/** The last resort: nothing mechanical is left and the next request would still be too large. */
export const lastResortPolicy: Policy = {
  name: "last-resort",
  plan(snapshot) {
    const { expected, soft, settings } = snapshot;
    if (expected < settings.pressure * soft.tokens) return {};
    return summarize(snapshot, "summary", "nothing else is left to shorten", 1);
  },
};

function summarize(snapshot: PolicyInput, policy: string, reason: string, keep: number): Decision {
  const span = freedTooLittle(snapshot.events) ? undefined : spanOf(snapshot, keep);
  if (!span) return {};
  const economics = { expectedTokens: snapshot.expected };
  const mechanical = mayAsk(snapshot.events) ? {} : { mechanical: true as const };
  return { plan: { policy, reason, edits: [], economics, summarize: span, ...mechanical } };
}

/** Returns the span from after the first user message to before the newest `keep` turns, in whole steps. */
function spanOf({ view }: Pick<PolicyInput, "view">, keep: number): { from: number; to: number } | undefined {
  const { entries } = view;
  const firstUser = entries.findIndex((entry) => entry.role === "user");
  const turns = turnsOf(entries);
  const end = turns.length > keep ? turns[turns.length - keep]?.index : undefined;
  const from = entries[firstUser + 1];
  const to = end === undefined ? undefined : entries[end - 1];
  return from && to && to.seq > from.seq ? { from: from.seq, to: to.seq } : undefined;
}

/** Steps to look back on. */
const recently = 10;

/** Returns true when a summary of the last ten steps freed less than a fifth: another would not pay for itself. */
function freedTooLittle(events: readonly LogEvent[]): boolean {
  return newestSteps(events).some(
    (event) => event.type === "context_edited" && Number(event.economics.freedShare ?? 1) < 0.2,
  );
}

/** Allows two requests for summaries in ten steps, and none after two useless ones in a row. */
function mayAsk(events: readonly LogEvent[]): boolean {
  const requests = newestSteps(events).reduce(
    (sum, event) => sum + (event.type === "summary_call" ? (event.attempts ?? 1) : 0),
    0,
  );
  return requests < 2 && !haveNotPaid(events);
}

/** Returns true when the last two summary calls were useless: then the model is not asked again. */
export function haveNotPaid(events: readonly LogEvent[]): boolean {
  return uselessInARow(events) >= 2;
}

const uselessInARow = memoizedReduce<number>(
  () => 0,
  (count, event) => {
    if (event.type !== "summary_call") return count;
    return event.outcome === "accepted" ? 0 : count + 1;
  },
);

function newestSteps(events: readonly LogEvent[]): readonly LogEvent[] {
  let steps = 0;
  const from = events.findLastIndex((event) => event.type === "model_request" && ++steps === recently);
  return events.slice(Math.max(0, from));
}
