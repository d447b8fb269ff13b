/** The request for a summary, and which model is asked: the session's own, or a cheaper one of its provider. Pure. */

import { isThinking, type Message } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import {
  cacheLifeMs,
  costOf,
  inputTotal,
  type ModelCard,
  noUsage,
  usualLife,
} from "../../core/model-card.ts";
import { currentModel, lastOf } from "../../core/questions.ts";
import type { ModelRequest } from "../../core/request.ts";
import { applyEvents, type View } from "../view/view.ts";
import { composeRequest } from "./compose.ts";

/** Tokens that a summary usually takes. */
export const proseTokens = 800;

/**
 * Builds the request for a summary: `question` after everything else, which is always legal, and re-uses the session's
 * own prefix. For another model (`card`) the request is what it would be had the session changed to it; nothing is
 * written to a cache.
 */
export function summaryRequest(
  events: readonly LogEvent[],
  view: View,
  { question, card }: { question: string; card?: ModelCard | undefined },
): ModelRequest {
  if (!card) {
    const { request } = composeRequest(events, view);
    const { temperature } = currentModel(events).model;
    return withQuestion(request, request.messages, question, temperature);
  }
  const seq = (events.at(-1)?.seq ?? 0) + 1;
  const changed: LogEvent[] = [...events, { type: "model_changed", seq, at: 0, model: card }];
  const { previousMessageId: _, ...request } = composeRequest(changed, applyEvents(changed)).request;
  const bare = request.thinking === "none";
  const messages = bare ? request.messages.map(withoutThinking) : request.messages;
  return withQuestion({ ...request, cacheAfter: [] }, messages, question, card.temperature);
}

/** Only for another model: on the own one all that was sent stays as it was, or the cached prefix would be lost. */
function withoutThinking(message: Message): Message {
  return { ...message, content: message.content.filter((block) => !isThinking(block)) };
}

/** A search that waits for its result cannot stand before a question. */
function withoutWaiting(message: Message): Message {
  if (message.role !== "assistant") return message;
  const found = new Set(
    message.content.map((block) => (block.type === "web_search_tool_result" ? block.tool_use_id : "")),
  );
  const content = message.content.filter((block) => block.type !== "server_tool_use" || found.has(block.id));
  return content.length === message.content.length ? message : { ...message, content };
}

/** Thinking stays on where the session has it on: to turn it off for one call would throw the cached prefix away. */
function withQuestion(
  request: ModelRequest,
  sent: readonly Message[],
  text: string,
  temperature: ModelCard["temperature"],
): ModelRequest {
  const messages = sent.map((message, at) => (at === sent.length - 1 ? withoutWaiting(message) : message));
  // A system message stands last, or before a reply: the question goes before it.
  const at = messages.findLastIndex(({ role }) => role !== "system");
  const last = messages[at];
  if (last?.role === "user") messages[at] = { ...last, content: [...last.content, { type: "text", text }] };
  else messages.push({ role: "user", content: [{ type: "text", text }] });
  const steady = request.thinking === "none" && temperature;
  return { ...request, messages, ...(steady ? { temperature: 0 } : {}) };
}

/** The request of summary call `number` (from 1), rebuilt from the log alone; undefined when the log cannot. */
export function requestOfSummary(events: readonly LogEvent[], number: number): ModelRequest | undefined {
  let seen = 0;
  const index = events.findIndex((event) => event.type === "summary_call" && ++seen === number);
  const call = events[index];
  if (call?.type !== "summary_call" || call.question === undefined) return undefined;
  const before = events.slice(0, index);
  return summaryRequest(before, applyEvents(before), { question: call.question, card: call.card });
}

/** Dollars that a summary is expected to cost on the session's own model, and on the cheapest other one that could. */
export type SummaryPrice = { ownUsd: number; otherUsd?: number };
/** `card`: the other model, when it wins. */
export type SummaryChoice = { card?: ModelCard; price: SummaryPrice };

/**
 * A lesser model writes a lesser handoff, and a lost fact costs steps: it must cost half or less, and save two cents.
 */
const worthIt = { share: 0.5, usd: 0.02 };

/**
 * Asks where it is cheapest. `tokens`: of the request; `warm`: of them read from the session's own cache. Others that
 * could not hold the request, or have no price, are passed over.
 */
export function cheapestSummaryCard(
  own: ModelCard,
  { tokens, warm }: { tokens: number; warm: number },
  others: readonly ModelCard[],
): SummaryChoice {
  const read = Math.min(warm, tokens);
  const writes = own.contract.cache.kind === "breakpoints";
  const rest = writes ? { cacheWrite5mTokens: tokens - read } : { inputTokens: tokens - read };
  const ownUsd = costOf(
    { ...noUsage, cacheReadTokens: read, ...rest, outputTokens: proseTokens },
    own.prices,
  );
  const [cheapest] = others
    .filter(({ id, prices, window }) => id !== own.id && prices.input > 0 && 1.2 * tokens + 8_000 < window)
    .map((card) => ({
      card,
      usd: costOf({ ...noUsage, inputTokens: tokens, outputTokens: proseTokens }, card.prices),
    }))
    .sort((a, b) => a.usd - b.usd);
  if (!cheapest) return { price: { ownUsd } };
  const price = { ownUsd, otherUsd: cheapest.usd };
  const wins = cheapest.usd <= worthIt.share * ownUsd && ownUsd - cheapest.usd >= worthIt.usd;
  return wins ? { card: cheapest.card, price } : { price };
}

/** Tokens that the session's own cache still holds: none after a pause, a change of model or an edit. */
export function warmTokens(events: readonly LogEvent[], now: number): number {
  const reply = lastOf(events, "assistant_message");
  const request = lastOf(events, "model_request");
  const { contract } = currentModel(events).model;
  if (!reply || !request || now - request.at > cacheLifeMs[usualLife(contract)]) return 0;
  if (contract.cache.kind === "none") return 0;
  const since = events.slice(events.indexOf(reply));
  const isBroken = since.some(({ type }) => type === "context_edited" || type === "model_changed");
  return isBroken ? 0 : inputTotal(reply.usage);
}

/** Returns the cards whose last summary in this session was of use; one that was never asked may be tried. */
export function usableCards(events: readonly LogEvent[], cards: readonly ModelCard[]): ModelCard[] {
  return cards.filter(({ id }) => {
    const last = events.findLast(
      (event): event is EventOf<"summary_call"> => event.type === "summary_call" && event.model === id,
    );
    return !last || last.outcome === "accepted";
  });
}
