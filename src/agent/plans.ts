/** Carries out what the policies plan: edits are appended; a summary is asked of the model first. */

import { policyInputOf } from "../context/policies/policy-input.ts";
import { composeRequest } from "../context/request/compose.ts";
import type { View, ViewReader } from "../context/view/view.ts";
import type { Agent } from "./agent.ts";
import { reachedLimit } from "./limits.ts";
import { summarize } from "./summarize.ts";

/** The view after the edits, the tokens that could be forgotten but are held back, and what that would write anew. */
export type Planned = { view: View; heldTokens: number; flushTokens: number };

/**
 * Asks each policy in turn what to forget, and forgets it. An interrupted summary leaves the history as it was.
 */
export async function applyPlans(agent: Agent, reader: ViewReader, signal: AbortSignal): Promise<Planned> {
  let [heldTokens, flushTokens] = [0, 0];
  for (const policy of agent.policies) {
    const events = agent.log.events();
    const view = reader.read(events);
    const decision = policy.plan(policyInputOf(events, view, agent.clock()));
    heldTokens += decision.heldTokens ?? 0;
    flushTokens += decision.flushTokens ?? 0;
    const { plan } = decision;
    if (plan?.summarize) {
      // A summary is a call like any other: none is made that would pass a limit.
      const limit = reachedLimit(events, agent.limits, composeRequest(events, view), agent.clock());
      if (!limit || plan.mechanical) await summarize(agent, plan, plan.summarize, view, signal);
    } else if (plan) agent.log.append({ type: "context_edited", ...plan });
  }
  return { view: reader.read(agent.log.events()), heldTokens, flushTokens };
}
