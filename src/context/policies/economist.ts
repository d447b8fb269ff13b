/** Decides when forgetting pays (context-engine §4): edits wait in a queue until a flush is worth its cost. Pure. */

import type { Economics, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { cacheLifeMs, type ModelCard, usualLife } from "../../core/model-card.ts";
import { lastOf, openFocus, spending } from "../../core/questions.ts";
import { maskCandidates } from "./masking.ts";
import { offloadCandidates } from "./offload.ts";
import { inputCandidates } from "./offload-inputs.ts";
import { type Candidate, type Decision, freedAndRewritten, mergeCandidates, type Policy } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";
import { supersedeCandidates } from "./supersede.ts";

export const economistPolicy: Policy = { name: "economist", plan: decide };

function decide(snapshot: PolicyInput): Decision {
  const queue = queueOf(snapshot);
  if (queue.length === 0) return {};
  const cold = coldFrom(snapshot);
  const free = queue.filter(({ index }) => index >= cold);
  const candidates = free.length > 0 ? free : queue;
  const { removed, after } = freedAndRewritten(candidates, snapshot);
  const sums = breakEven(snapshot, removed, after);
  const reason = free.length > 0 ? "cold" : flushReason(snapshot, removed, sums);
  if (!reason) return { deferredTokens: removed, flushTokens: Math.max(0, after - removed) };
  const economics = { ...sums, reason, removedTokens: removed, afterTokens: after };
  return {
    plan: {
      policy: "economist",
      reason,
      edits: candidates.map((candidate) => candidate.edit),
      economics: { ...economics, expectedSavingUsd: expectedSaving(snapshot, removed, after, reason) },
    },
  };
}

/** Queues stale and old observations; near the end of the window also large ones and old inputs. */
function queueOf(snapshot: PolicyInput): Candidate[] {
  const { settings, soft, expected } = snapshot;
  const old = mergeCandidates(supersedeCandidates(snapshot), maskCandidates(snapshot, settings.maskKeep));
  if (expected < settings.inputsAt * soft.tokens) return old;
  return mergeCandidates(old, offloadCandidates(snapshot), inputCandidates(snapshot));
}

/** Returns read and write prices as shares of the input price. Without known prices it uses time instead of money. */
export function relativePrices({ prices, contract }: ModelCard): { r: number; w: number } {
  if (contract.cache.kind === "none") return { r: 1, w: 1 };
  if (prices.input === 0) return { r: 0.1, w: 1 };
  return { r: prices.cacheRead / prices.input, w: (prices.cacheWrite5m || prices.input) / prices.input };
}

/** Compares, in tokens at the input price, sending stale tokens once more with rewriting the tokens after them. */
function flushSavings(
  model: ModelCard,
  deferred: number,
  rewritten: number,
): { carry: number; flush: number } {
  const { r, w } = relativePrices(model);
  return { carry: r * deferred, flush: (w - r) * rewritten };
}

/** Returns dollars: what stale tokens cost each step, and what forgetting them now would cost once. */
export function deferralCostOf(
  model: ModelCard,
  { deferredTokens = 0, flushTokens = 0 }: Pick<Decision, "deferredTokens" | "flushTokens">,
): { step: number; flush: number } {
  const { carry, flush } = flushSavings(model, deferredTokens, flushTokens);
  const price = model.prices.input / 1e6;
  return { step: carry * price, flush: flush * price };
}

type Sums = { r: number; w: number; meter: number; threshold: number };

/** Ski rental: compares the cost so far of carrying the queue with the cost of rewriting the rest. */
function breakEven(snapshot: PolicyInput, removed: number, after: number): Sums {
  const { r, w } = relativePrices(snapshot.model);
  const deferred = removed + deferredSinceFlush(snapshot.events);
  const { carry, flush } = flushSavings(snapshot.model, deferred, Math.max(0, after - removed));
  return { r, w, meter: Math.round(carry), threshold: Math.round(flush) };
}

/** Sums the forgettable tokens carried by each request since the last edit. */
const deferredSinceFlush = memoizedReduce(
  () => 0,
  (deferred, event) => {
    if (event.type === "context_edited") return event.fold ? deferred : 0;
    return event.type === "model_request" ? deferred + (event.deferredTokens ?? 0) : deferred;
  },
);

function flushReason(snapshot: PolicyInput, removed: number, sums: Sums): string | undefined {
  const { model, expected, soft, settings } = snapshot;
  const tier = model.prices.tier?.aboveTokens ?? Number.POSITIVE_INFINITY;
  if (expected > tier && expected - removed <= tier) return "cliff";
  if (expected >= settings.pressure * soft.tokens) return "pressure";
  if (isQuiet(snapshot, removed)) return undefined;
  const patience = model.contract.history === "prefix_bound" && !isBoundary(snapshot.events) ? 4 : 1;
  const share = willPay(snapshot, removed, sums) ? settings.earlyShare : 1;
  return sums.meter >= share * patience * sums.threshold ? "break-even" : undefined;
}

/**
 * Returns true when a flush now pays if the session continues for as many steps as it has had: a thing's age predicts
 * its remaining life (Lindy). A ski rental that trusts such a prediction buys at a share of the threshold; at one half
 * it pays at most 1.5 times the best in hindsight when the prediction holds, and 3 times when it does not (Purohit,
 * Svitkina, Kumar: Improving Online Algorithms via ML Predictions, NeurIPS 2018).
 */
function willPay({ events }: PolicyInput, removed: number, { r, threshold }: Sums): boolean {
  return r * removed * spending(events).replies >= threshold;
}

/** Returns true when there is too little to gain: a small queue, or a session that may end before a flush pays. */
function isQuiet({ events, expected, soft, settings }: PolicyInput, removed: number): boolean {
  // Both bounds shrink with the window, because sessions in a small window fill it sooner.
  const scale = Math.min(1, soft.tokens / 120_000);
  if (removed < settings.minFlush * scale) return true;
  return spending(events).replies < settings.quietSteps && expected < settings.quietTokens * scale;
}

/**
 * Index of the first entry that the next request must rewrite anyway: 0 when the cache entry has expired or the
 * model changed, the entry after the checkpoint when that one lives longer, and infinity while all is warm.
 */
function coldFrom({ events, now, view, model }: PolicyInput): number {
  const [request, change] = [lastOf(events, "model_request"), lastOf(events, "model_changed")];
  if (change && change.seq > (request?.seq ?? 0)) return 0;
  const waited = request ? now - request.at : 0;
  if (waited <= cacheLifeMs[usualLife(model.contract)]) return Number.POSITIVE_INFINITY;
  const focus = model.contract.cache.ttls.includes("1h") ? openFocus(events) : undefined;
  if (!focus || waited > cacheLifeMs["1h"]) return 0;
  const after = view.entries.findIndex((entry) => entry.seq >= focus.resultSeq);
  return after < 0 ? view.entries.length : after;
}

/** Returns true at the start of a turn or after a fold: later thinking does not depend on dropped thinking. */
function isBoundary(events: readonly LogEvent[]): boolean {
  const last = events.at(-1);
  return last?.type === "user_message" || (last?.type === "context_edited" && last.fold !== undefined);
}

/** Returns dollars saved if the session goes on for as many steps as it has had, the best guess available. */
function expectedSaving(
  snapshot: PolicyInput,
  removed: number,
  after: number,
  reason: string,
): Economics[string] {
  const { r, w } = relativePrices(snapshot.model);
  const steps = spending(snapshot.events).replies;
  const rewrite = reason === "cold" ? 0 : (w - r) * Math.max(0, after - removed);
  const saved = (r * removed * steps - rewrite) * snapshot.model.prices.input;
  return Math.round(saved) / 1e6;
}
