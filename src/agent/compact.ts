/** Makes a handoff summary at the user's request, as the policies make theirs. */

import { compactPlan } from "../context/policies/compact.ts";
import { planSummary } from "../context/policies/planner.ts";
import { policyInputOf } from "../context/policies/policy-input.ts";
import { composeRequest } from "../context/request/compose.ts";
import { viewReader } from "../context/view/view.ts";
import type { LogEvent } from "../core/events.ts";
import { lastOf } from "../core/questions.ts";
import type { Agent } from "./agent.ts";
import { reachedLimit } from "./limits.ts";
import { carryOut, plannedLog } from "./plans.ts";

/** Calibrated tokens of the next request; `why`: nothing was changed. */
export type Compaction = { before: number; after: number } | { why: string };

/** Asks the model once. When it is interrupted, fails or writes nothing of use, the history stays as it was. */
export async function compactNow(agent: Agent, signal: AbortSignal): Promise<Compaction> {
  const events = agent.log.events();
  const reader = viewReader();
  const view = reader.read(events);
  const plan = compactPlan(events, view);
  if (!plan?.summarize) return { why: "there is nothing to compact yet" };
  const limit = reachedLimit(agent, composeRequest(events, view));
  if (limit) return { why: `no summary was made: ${limit.detail}` };
  const before = policyInputOf(events, view, agent.clock()).expected;
  const last = lastOf(events, "context_edited")?.seq;
  const firstNew = events.length;
  await carryOut(agent, planSummary(plannedLog(agent, signal), plan, plan.summarize, reader), signal);
  const now = agent.log.events();
  if (lastOf(now, "context_edited")?.seq !== last)
    return { before, after: policyInputOf(now, reader.read(now), agent.clock()).expected };
  const why = signal.aborted
    ? "interrupted: the history is as it was"
    : `nothing was changed: ${failure(now, firstNew)}`;
  return { why };
}

function failure(events: readonly LogEvent[], firstNew: number): string {
  const call = lastOf(events.slice(firstNew), "summary_call");
  if (!call) return "the context is too large for the model to be asked";
  const what = call.outcome === "rejected" ? "was unusable" : "failed";
  return `the summary ${what}${call.detail ? ` (${call.detail})` : ""}`;
}
