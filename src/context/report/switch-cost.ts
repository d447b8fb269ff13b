/** Computes the cost of changing the model: lost cache, rewritten context, lost thinking. Pure. */

import { isThinking } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { cacheLifeMs, costOf, type ModelCard, noUsage, usualLife } from "../../core/model-card.ts";
import { currentModel, lastOf } from "../../core/questions.ts";
import { policyInputOf } from "../policies/policy-input.ts";
import { blocksTokens, calibration, fixedTokens } from "../view/tokens.ts";
import { applyEvents, firstChanged, type View } from "../view/view.ts";

export type SwitchCost = {
  /** Input tokens of the next request, as the present model counts them. */
  tokens: number;
  /** The part of them that the present model would read from its cache. */
  cached: number;
  /** Dollars for the input of the next request: with the other model, and with the present one. */
  next: number;
  stay: number;
  /** Dollars for the input of each request after it, read from the cache. */
  later: number;
  /** Tokens of thinking in the context. `gone`: lost for good; else merely not sent to the other model. */
  thinking: { tokens: number; gone: boolean };
  /** Tokens above which the engine shortens the context under the other model. */
  soft: number;
};

/** `now`: milliseconds since 1970. */
export function switchCost(events: readonly LogEvent[], to: ModelCard, now: number): SwitchCost {
  const { model: from } = currentModel(events);
  const view = applyEvents(events);
  const { expected: tokens } = policyInputOf(events, view, now);
  const cached = Math.min(untouched(events, view), cachedTokens(events, from, now));
  const changed = { seq: events.length, at: now, type: "model_changed" as const, model: to };
  return {
    tokens,
    cached,
    next: inputCost(tokens, 0, to),
    stay: inputCost(tokens, cached, from),
    later: inputCost(tokens, to.contract.cache.kind === "none" ? 0 : tokens, to),
    thinking: thinkingLost(view, from, to),
    soft: policyInputOf([...events, changed], view, now).soft.tokens,
  };
}

/** Returns the tokens that the newest answered request left in the cache, until they expire. */
function cachedTokens(events: readonly LogEvent[], { contract }: ModelCard, now: number): number {
  const reply = lastOf(events, "assistant_message");
  if (!reply || contract.cache.kind === "none" || now - reply.at > cacheLifeMs[usualLife(contract)]) return 0;
  if ((lastOf(events, "model_changed")?.seq ?? 0) > reply.seq) return 0;
  const { inputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens } = reply.usage;
  // A cache without breakpoints keeps everything sent.
  const sent = contract.cache.kind === "automatic" ? inputTokens : 0;
  return sent + cacheReadTokens + cacheWrite5mTokens + cacheWrite1hTokens;
}

/** Returns the calibrated tokens before the first edit since the newest reply. */
function untouched(events: readonly LogEvent[], view: View): number {
  const reply = lastOf(events, "assistant_message")?.seq ?? 0;
  const edits = events.flatMap((event) =>
    event.type === "context_edited" && event.seq > reply ? event.edits : [],
  );
  const first = firstChanged(edits);
  const before = view.entries.filter(({ seq }) => seq < first);
  const tokens = fixedTokens(events) + before.reduce((sum, entry) => sum + entry.tokens, 0);
  return Math.round(tokens * calibration(events));
}

function inputCost(tokens: number, cached: number, { prices, contract }: ModelCard): number {
  const fresh = tokens - cached;
  const written = contract.cache.kind !== "none" && tokens >= contract.cache.minTokens;
  const usage = { ...noUsage, cacheReadTokens: cached };
  return costOf({ ...usage, [written ? "cacheWrite5mTokens" : "inputTokens"]: fresh }, prices);
}

/**
 * Returns the thinking that is lost: a bound model takes only its own, other providers' APIs take none, and what one
 * model's API carries no other model reads.
 */
function thinkingLost(view: View, from: ModelCard, to: ModelCard): SwitchCost["thinking"] {
  const tokens = view.entries.reduce((sum, { blocks }) => sum + blocksTokens(blocks.filter(isThinking)), 0);
  const gone = to.contract.history === "prefix_bound" && from.id !== to.id;
  const carried = from.contract.thinking === "carried" && from.id !== to.id;
  return gone || carried || providerOf(to) !== providerOf(from) ? { tokens, gone } : { tokens: 0, gone };
}

function providerOf({ id }: ModelCard): string {
  return id.slice(0, id.indexOf("/"));
}
