/** Carries out what the policies plan: edits are appended; a summary is asked of the model first. */

import { composeRequest } from "../context/compose.ts";
import { handoffText, proseOf, rejectProse } from "../context/handoff.ts";
import { brokenRules } from "../context/invariants.ts";
import type { Plan } from "../context/policy.ts";
import { snapshotOf } from "../context/snapshot.ts";
import { textTokens } from "../context/tokens.ts";
import { foldView, unheard, type View } from "../context/view.ts";
import { noUsage } from "../core/model-card.ts";
import { ModelError, type ModelPart, type ModelReply } from "../core/ports.ts";
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
      if (!limit || plan.mechanical) await summarize(agent, plan, plan.summarize, view, signal);
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
  const prose = plan.mechanical ? "" : await askForProse(agent, view, replaced, signal);
  if (signal.aborted) return;
  if (plan.mechanical) tellOnce(agent, view);
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
    const reply = await askTwice(agent, asked, signal);
    const rejected = rejectProse(reply, replaced, events);
    note(rejected ? "rejected" : "accepted", reply, rejected);
    return rejected ? "" : proseOf(reply.content);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (!signal.aborted) note("failed", undefined, error.message);
    return "";
  }
}

/** Two attempts at the most: a summary can be done without, so a provider in trouble is not waited for. */
async function askTwice(agent: Agent, asked: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
  const broken = brokenRules(asked);
  if (broken.length > 0)
    throw new Error(`a summary that the API would refuse was asked for: ${broken.join("; ")}`);
  const enough = new AbortController();
  const hear = (part: ModelPart): void => {
    if (part.type !== "attempt_failed") return;
    const { kind, message, attempt, waitMs } = part;
    agent.log.append({ type: "model_failed", kind, message, attempt, waitMs });
    if (attempt >= 2) enough.abort();
  };
  return agent.model.send(asked, agent.model.encode(asked), hear, AbortSignal.any([signal, enough.signal]));
}

const stopped = "summaries by the model have not paid: from now on they are made from the log alone";

/** Says it once, with what is large, so that the person can do something about it. */
function tellOnce(agent: Agent, view: View): void {
  if (agent.log.events().some((event) => event.type === "warning" && event.text.startsWith(stopped))) return;
  const largest = view.entries.toSorted((a, b) => b.tokens - a.tokens).slice(0, 3);
  const named = largest.map(({ seq, tokens }) => `line ${seq + 1} of the log, about ${tokens} tokens`);
  agent.log.append({ type: "warning", text: `${stopped}. The largest items: ${named.join("; ")}` });
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
