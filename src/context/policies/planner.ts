/**
 * Plans a step: the edits and summaries that the policies request, in order. A generator, so that the agent and the
 * replay run the same code: each appends what it yields to its own log, and asks its own model for prose. Pure.
 */

import type { EventBody, LogEvent } from "../../core/events.ts";
import { currentModel } from "../../core/questions.ts";
import { handoffText } from "../handoff/handoff.ts";
import { type Composed, composeRequest, fitsWindow } from "../request/compose.ts";
import { textTokens } from "../view/tokens.ts";
import { missingUserMessages, type View, type ViewReader } from "../view/view.ts";
import type { Plan, Policy } from "./policy.ts";
import { policyInputOf } from "./policy-input.ts";
import { haveNotPaid } from "./summary.ts";

/** A request of the planner to its driver. */
export type PlannerRequest =
  | { type: "append"; event: EventBody }
  /** Asks a model for the prose of a handoff that replaces `replaced` tokens; the answer is "" when none is usable. */
  | { type: "ask_for_prose"; view: View; replaced: number };

/** Resumed with the prose after `ask_for_prose`, with nothing after `append`. */
export type Planning<Result> = Generator<PlannerRequest, Result, string | undefined>;

/** The log to plan for; `events` is live, so it shows what was appended since the last call. */
export type PlannedLog = {
  events(): readonly LogEvent[];
  /** Milliseconds since 1970. */
  now(): number;
  /** Returns true once the turn was interrupted: no more summaries are made. */
  isInterrupted(): boolean;
};

export type StepInputs = {
  policies: readonly Policy[];
  reader: ViewReader;
  /** Returns false when a summary call would pass a limit of the session. */
  mayAsk(composed: Composed): boolean;
};

/** Tokens kept for now, and the tokens that forgetting them would rewrite. */
export type Planned = { deferredTokens: number; flushTokens: number };

/**
 * Asks each policy in turn what to forget, and yields the edits. An interrupted summary leaves the history as it was.
 */
export function* planStep(log: PlannedLog, { policies, reader, mayAsk }: StepInputs): Planning<Planned> {
  let [deferredTokens, flushTokens] = [0, 0];
  for (const policy of policies) {
    const events = log.events();
    const view = reader.read(events);
    const decision = policy.plan(policyInputOf(events, view, log.now()));
    deferredTokens += decision.deferredTokens ?? 0;
    flushTokens += decision.flushTokens ?? 0;
    const { plan } = decision;
    if (plan?.summarize) {
      if (plan.mechanical || mayAsk(composeRequest(events, view)))
        yield* planSummary(log, plan, plan.summarize, reader);
    } else if (plan) yield { type: "append", event: { type: "context_edited", ...plan } };
  }
  return { deferredTokens, flushTokens };
}

/** Replaces the span with a handoff. If interrupted, it leaves the history unchanged. */
export function* planSummary(
  log: PlannedLog,
  plan: Plan,
  { from, to }: { from: number; to: number },
  reader: ViewReader,
): Planning<void> {
  const events = log.events();
  const view = reader.read(events);
  const span = view.entries.filter((entry) => entry.seq >= from && entry.seq <= to);
  const replaced = span.reduce((sum, entry) => sum + entry.tokens, 0);
  // A request that does not fit the window cannot be sent, not even for a summary.
  const tooLarge = !fitsWindow(composeRequest(events, view), currentModel(events).model);
  const prose = plan.mechanical || tooLarge ? "" : ((yield { type: "ask_for_prose", view, replaced }) ?? "");
  if (log.isInterrupted() || (plan.withProse && prose === "")) return;
  if (haveNotPaid(log.events())) yield* warnOnce(log, view);
  const text = handoffText(log.events(), prose);
  const removed = replaced - textTokens(text);
  const event: EventBody = {
    type: "context_edited",
    policy: plan.policy,
    reason: tooLarge ? `${plan.reason}; the model was not asked: the request would not fit` : plan.reason,
    edits: [{ type: "collapse", from, to, text }],
    economics: { ...plan.economics, removedTokens: removed, freedShare: removed / Math.max(1, view.tokens) },
  };
  yield { type: "append", event };
  const missing = missingUserMessages(log.events(), reader.read(log.events()));
  if (missing === 0) return;
  const warning = `${missing} user messages are no longer in the context`;
  yield { type: "append", event: { type: "warning", code: "messages_lost", text: warning } };
}

/** Warns once per session that the model is no longer asked for summaries, and names the largest items. */
function* warnOnce(log: PlannedLog, view: View): Planning<void> {
  if (log.events().some((event) => event.type === "warning" && event.code === "summaries_stopped")) return;
  const largest = view.entries.toSorted((a, b) => b.tokens - a.tokens).slice(0, 3);
  const named = largest.map(({ seq, tokens }) => `line ${seq + 1} of the log, about ${tokens} tokens`);
  const stopped = "summaries by the model have not paid: from now on they are made from the log alone";
  const text = `${stopped}. The largest items: ${named.join("; ")}`;
  yield { type: "append", event: { type: "warning", code: "summaries_stopped", text } };
}
