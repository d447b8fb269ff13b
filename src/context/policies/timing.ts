/** Prices and moments of a flush (context-engine §4), whatever it takes out. Pure. */

import type { Economics, LogEvent } from "../../core/events.ts";
import { cacheLifeMs, type ModelCard, usualLife } from "../../core/model-card.ts";
import { lastOf, openFocus, spending } from "../../core/questions.ts";
import type { Decision } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";

/** Returns read and write prices as shares of the input price. Without known prices it uses time instead of money. */
export function relativePrices({ prices, contract }: ModelCard): { r: number; w: number } {
  if (contract.cache.kind === "none") return { r: 1, w: 1 };
  if (prices.input === 0) return { r: 0.1, w: 1 };
  return { r: prices.cacheRead / prices.input, w: (prices.cacheWrite5m || prices.input) / prices.input };
}

/** Compares, in tokens at the input price, sending stale tokens once more with rewriting the tokens after them. */
export function flushSavings(
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

/** Returns true when there is too little to gain: a small queue, or a session that may end before a flush pays. */
export function isQuiet({ events, expected, soft, settings }: PolicyInput, removed: number): boolean {
  // Both bounds shrink with the window, because sessions in a small window fill it sooner.
  const scale = Math.min(1, soft.tokens / 120_000);
  if (removed < settings.minFlush * scale) return true;
  return spending(events).replies < settings.quietSteps && expected < settings.quietTokens * scale;
}

/**
 * Index of the first entry that the next request must rewrite anyway: 0 when the cache entry has expired or the
 * model changed, the entry after the checkpoint when that one lives longer, and infinity while all is warm.
 */
export function coldFrom({ events, now, view, model }: PolicyInput): number {
  const [request, change] = [lastOf(events, "model_request"), lastOf(events, "model_changed")];
  if (change && change.seq > (request?.seq ?? 0)) return 0;
  const waited = request ? now - request.at : 0;
  if (waited <= cacheLifeMs[usualLife(model.contract)]) return Number.POSITIVE_INFINITY;
  const focus = model.contract.cache.ttls.includes("1h") ? openFocus(events) : undefined;
  if (!focus || waited > cacheLifeMs["1h"]) return 0;
  const after = view.entries.findIndex((entry) => entry.seq >= focus.resultSeq);
  return after < 0 ? view.entries.length : after;
}

/** Returns why a flush is due whatever it costs: it keeps the request below a price tier, or the window is full. */
export function forcedReason(
  { model, expected, soft, settings }: PolicyInput,
  removed: number,
): "cliff" | "pressure" | undefined {
  const tier = model.prices.tier?.aboveTokens ?? Number.POSITIVE_INFINITY;
  if (expected > tier && expected - removed <= tier) return "cliff";
  return expected >= settings.pressure * soft.tokens ? "pressure" : undefined;
}

/** Returns how many times the break-even a flush waits for: on a bound history for a boundary, where it costs no thinking. */
export function patienceOf({ model, events }: PolicyInput): number {
  return model.contract.history === "prefix_bound" && !isBoundary(events) ? 4 : 1;
}

/** Returns true at the start of a turn or after a fold: later thinking does not depend on dropped thinking. */
function isBoundary(events: readonly LogEvent[]): boolean {
  const last = events.at(-1);
  return last?.type === "user_message" || (last?.type === "context_edited" && last.fold !== undefined);
}

/** Returns dollars saved if the session goes on for as many steps as it has had, the best guess available. */
export function expectedSaving(
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
