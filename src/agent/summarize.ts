/** Asks a model for the prose of a summary, on the cheapest card that may write it, and judges the answer. */

import { judgeProse } from "../context/handoff/prose.ts";
import { composeRequest } from "../context/request/compose.ts";
import {
  cheapestSummaryCard,
  type SummaryChoice,
  type SummaryPrice,
  summaryRequest,
  usableCards,
  warmTokens,
} from "../context/request/summary-call.ts";
import { brokenRules, violationText } from "../context/rules/request.ts";
import { textTokens } from "../context/view/tokens.ts";
import type { View } from "../context/view/view.ts";
import type { EventOf, ModelErrorKind } from "../core/events.ts";
import { type ModelCard, noUsage } from "../core/model-card.ts";
import { type Model, ModelError, type ModelPart, type ModelReply } from "../core/ports.ts";
import type { ModelRequest } from "../core/request.ts";
import type { Agent } from "./agent.ts";

/** Asks a model for its part of a handoff over `replaced` tokens; returns "" when there is none to use. */
export async function askForProse(
  agent: Agent,
  { view, replaced }: { view: View; replaced: number },
  signal: AbortSignal,
): Promise<string> {
  const { card, price } = choose(agent, view);
  if (card) {
    const answer = await ask(agent, view, { card, price, replaced }, signal);
    if (answer.prose !== undefined || !answer.isOff || signal.aborted) return answer.prose ?? "";
  }
  return (await ask(agent, view, { price, replaced }, signal)).prose ?? "";
}

function choose(agent: Agent, view: View): SummaryChoice {
  const events = agent.log.events();
  const { cards, always } = agent.summaries;
  const usable = usableCards(events, cards);
  const tokens = composeRequest(events, view).expected + textTokens(agent.summaryPrompt);
  const size = { tokens, warm: warmTokens(events, agent.clock()) };
  const choice = cheapestSummaryCard(agent.model.card, size, usable);
  const [wanted] = usable;
  return always && wanted && choice.price.otherUsd !== undefined
    ? { card: wanted, price: choice.price }
    : choice;
}

/** The provider does not offer this model, or not to this key: the session's own is asked at once. */
const offKinds: readonly ModelErrorKind[] = ["not_found", "credentials", "bad_request"];

type SummaryCall = { card?: ModelCard; price: SummaryPrice; replaced: number };

async function ask(
  agent: Agent,
  view: View,
  { card, price, replaced }: SummaryCall,
  signal: AbortSignal,
): Promise<{ prose?: string; isOff?: boolean }> {
  const events = agent.log.events();
  const model = card ? await agent.summaries.open(card) : agent.model;
  const question = agent.summaryPrompt;
  const request = summaryRequest(events, view, { question, card });
  const body = model.encode(request);
  const sentAt = agent.clock();
  let attempts = 1;
  const note = (facts: Pick<EventOf<"summary_call">, "outcome" | "usage" | "detail">) => {
    const durationMs = agent.clock() - sentAt;
    const made = { model: model.card.id, durationMs, question, bodyHash: agent.hash(body), price };
    const more = { ...(card ? { card } : {}), ...(attempts > 1 ? { attempts } : {}) };
    agent.log.append({ type: "summary_call", purpose: "summary", ...made, ...more, ...facts });
  };
  try {
    const again = () => {
      attempts += 1;
    };
    const reply = await askTwice(agent, { model, request, body, again }, signal);
    const verdict = judgeProse(reply, { replaced, events, question, exists: agent.pathExists });
    const { usage } = reply;
    if ("rejected" in verdict) note({ outcome: "rejected", usage, detail: verdict.rejected });
    else
      note({ outcome: "accepted", usage, ...(verdict.corrections ? { detail: verdict.corrections } : {}) });
    return "rejected" in verdict ? {} : { prose: verdict.prose };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    if (!signal.aborted) note({ outcome: "failed", usage: noUsage, detail: error.message });
    return { isOff: offKinds.includes(error.kind) };
  }
}

/** Two attempts at the most: a summary can be done without, so a provider in trouble is not waited for. */
async function askTwice(
  agent: Agent,
  { model, request, body, again }: { model: Model; request: ModelRequest; body: string; again(): void },
  signal: AbortSignal,
): Promise<ModelReply> {
  const broken = brokenRules(request);
  if (broken.length > 0)
    throw new ModelError(
      "bad_request",
      `the request for a summary would be refused: ${broken.map(violationText).join("; ")}`,
    );
  const enough = new AbortController();
  const hear = (part: ModelPart): void => {
    if (part.type !== "attempt_failed") return;
    const { kind, message, attempt, waitMs } = part;
    agent.log.append({ type: "model_failed", kind, message, attempt, waitMs });
    if (attempt >= 2) enough.abort();
    else again();
  };
  return model.send(request, body, hear, AbortSignal.any([signal, enough.signal]));
}
