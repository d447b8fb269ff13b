/** Carries out what the policies plan: edits are appended; a summary is asked of the model first. */

import { composeRequest } from "../context/compose.ts";
import { handoffText, proseOf, rejectProse } from "../context/handoff.ts";
import type { Plan } from "../context/policy.ts";
import { snapshotOf } from "../context/snapshot.ts";
import { textTokens } from "../context/tokens.ts";
import { foldView, unheard, type View } from "../context/view.ts";
import { noUsage } from "../core/model-card.ts";
import { ModelError, type ModelReply } from "../core/ports.ts";
import type { ModelRequest } from "../core/request.ts";
import type { Agent } from "./agent.ts";
import { reachedLimit } from "./limits.ts";

/** The view after the edits, and the tokens that could be forgotten but are held back. */
export type Planned = { view: View; heldTokens: number };

/**
 * Asks each policy in turn what to forget, and forgets it. An interrupted summary leaves the history as it was.
 */
export async function applyPlans(agent: Agent, view: View, signal: AbortSignal): Promise<Planned> {
  let heldTokens = 0;
  for (const policy of agent.policies) {
    const events = agent.log.events();
    const decision = policy.plan(snapshotOf(events, foldView(events, view), agent.clock()));
    heldTokens += decision.heldTokens ?? 0;
    const { plan } = decision;
    if (plan?.summarize) {
      // A summary is a call like any other: none is made that would pass a limit.
      const limit = reachedLimit(events, agent.limits, composeRequest(events, view), agent.clock());
      if (!limit) await summarize(agent, plan, plan.summarize, view, signal);
    } else if (plan) agent.log.append({ type: "context_edited", ...plan });
  }
  return { view: foldView(agent.log.events(), view), heldTokens };
}

async function summarize(
  agent: Agent,
  plan: Plan,
  { from, to }: { from: number; to: number },
  view: View,
  signal: AbortSignal,
): Promise<void> {
  const span = view.entries.filter((entry) => entry.seq >= from && entry.seq <= to);
  const replaced = span.reduce((sum, entry) => sum + entry.tokens, 0);
  const prose = await askForProse(agent, view, replaced, signal);
  if (signal.aborted) return;
  const text = handoffText(agent.log.events(), prose);
  const removed = replaced - textTokens(text);
  const { policy, reason } = plan;
  agent.log.append({
    type: "context_edited",
    policy,
    reason,
    edits: [{ type: "collapse", from, to, text }],
    economics: { ...plan.economics, removedTokens: removed, freedShare: removed / Math.max(1, view.tokens) },
  });
  const lost = unheard(agent.log.events(), foldView(agent.log.events(), view));
  if (lost > 0)
    agent.log.append({ type: "warning", text: `${lost} user messages are no longer in the context` });
}

/** The model's part of the handoff, in a call that re-uses the session's own prefix; "" when there is none to use. */
async function askForProse(agent: Agent, view: View, replaced: number, signal: AbortSignal): Promise<string> {
  const events = agent.log.events();
  const { request } = composeRequest(events, view);
  const sentAt = agent.clock();
  const note = (outcome: "accepted" | "rejected" | "failed", reply?: ModelReply, detail?: string) => {
    const usage = reply?.usage ?? noUsage;
    const durationMs = agent.clock() - sentAt;
    const facts = { usage, model: agent.model.card.id, durationMs, outcome, ...(detail ? { detail } : {}) };
    agent.log.append({ type: "side_call", purpose: "summary", ...facts });
  };
  try {
    const asked = withQuestion(request, agent.summaryPrompt);
    const reply = await agent.model.send(asked, agent.model.encode(asked), () => {}, signal);
    const rejected = rejectProse(reply, replaced, events);
    note(rejected ? "rejected" : "accepted", reply, rejected);
    return rejected ? "" : proseOf(reply.content);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (error.kind !== "aborted") note("failed", undefined, error.message);
    return "";
  }
}

/** The question goes after everything else: appending is always legal, and the prefix is read from the cache. */
function withQuestion(request: ModelRequest, text: string): ModelRequest {
  const messages = [...request.messages];
  const last = messages.at(-1);
  if (last?.role === "user")
    messages[messages.length - 1] = { ...last, content: [...last.content, { type: "text", text }] };
  else messages.push({ role: "user", content: [{ type: "text", text }] });
  return { ...request, messages };
}
