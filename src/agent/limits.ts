/** Enforces the limits of a session: checked before each model call, over the whole log. */

import { stackNamed } from "../context/policies/stacks.ts";
import { type Composed, fitsWindow } from "../context/request/compose.ts";
import type { LogEvent, TurnEnd } from "../core/events.ts";
import { costOf, inputTotal, noUsage } from "../core/model-card.ts";
import { currentEngine, currentModel, lastOf, spending } from "../core/questions.ts";
import type { Agent, Limits } from "./agent.ts";

export type ReachedLimit = { reason: TurnEnd; detail: string };

type Limited = Pick<Agent, "log" | "limits" | "clock" | "account">;

/**
 * Returns the first limit that the next call would exceed, if any. In a sub-agent the dollars of a call that may be made
 * are held until it is billed.
 */
export function reachedLimit(
  { log, limits, clock, account }: Limited,
  composed: Composed,
): ReachedLimit | undefined {
  const events = log.events();
  const spent = account?.spent() ?? spending(events);
  const next = limits.maxBudgetUsd === undefined ? 0 : expectedCost(events, composed);
  const reached = exceeded(limits, spent, next, clock());
  if (!reached) account?.hold(next);
  return reached;
}

/** `next`: dollars of the next call. `now`: milliseconds since 1970. */
function exceeded(
  limits: Limits,
  spent: { turns: number; cost: number },
  next: number,
  now: number,
): ReachedLimit | undefined {
  if (limits.maxTurns !== undefined && spent.turns >= limits.maxTurns)
    return { reason: "max_turns", detail: `${spent.turns} of ${limits.maxTurns} model calls were made` };
  if (limits.deadline !== undefined && now >= limits.deadline)
    return { reason: "max_time", detail: "the time limit was reached" };
  if (limits.maxBudgetUsd !== undefined) {
    if (spent.cost + next > limits.maxBudgetUsd) {
      const sum = `$${spent.cost.toFixed(4)} spent, about $${next.toFixed(4)} for the next call`;
      return { reason: "max_budget", detail: `${sum}, limit $${limits.maxBudgetUsd}` };
    }
  }
  return undefined;
}

/**
 * Dollars that the next call is expected to cost: what was sent before as a cache read, the rest as a write, and
 * the mean output so far; never less than the last call cost, because prices of a session rise with its length.
 */
function expectedCost(events: readonly LogEvent[], composed: Composed): number {
  const { model } = currentModel(events);
  const { usage, turns } = spending(events);
  const last = lastOf(events, "assistant_message");
  const read = Math.min(composed.expected, last ? inputTotal(last.usage) : 0);
  const output = usage.outputTokens / Math.max(1, turns);
  const next = costOf(
    { ...noUsage, cacheReadTokens: read, cacheWrite5mTokens: composed.expected - read, outputTokens: output },
    model.prices,
  );
  return Math.max(next, last ? costOf(last.usage, model.prices) : 0);
}

/** Returns an error sentence when the input leaves no room for an answer in the model's window. */
export function overWindow(events: readonly LogEvent[], composed: Composed): string | undefined {
  const { model } = currentModel(events);
  if (fitsWindow(composed, model)) return undefined;
  const size = `about ${composed.expected} of ${model.window} tokens`;
  return `the context is full (${size}): continue ${wayOut(events)}`;
}

function wayOut(events: readonly LogEvent[]): string {
  const forgets = stackNamed(currentEngine(events).context).policies.length > 0;
  const stack = forgets ? "" : "with --context economist, ";
  return `${stack}with a model of a larger window, or in a new session`;
}
