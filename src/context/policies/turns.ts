/** Forgets by age (context-engine §4): old and stale observations wait in a queue until a flush is worth its cost. Pure. */

import { memoizedReduce } from "../../core/memoize.ts";
import { spending } from "../../core/questions.ts";
import { maskCandidates } from "./masking.ts";
import { offloadCandidates } from "./offload.ts";
import { inputCandidates } from "./offload-inputs.ts";
import { type Candidate, type Decision, freedAndRewritten, mergeCandidates, type Policy } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";
import { supersedeCandidates } from "./supersede.ts";
import {
  coldFrom,
  expectedSaving,
  flushSavings,
  forcedReason,
  isQuiet,
  patienceOf,
  relativePrices,
} from "./timing.ts";

export const turnsPolicy: Policy = { name: "turns", plan: decide };

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
      policy: "turns",
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
  const forced = forcedReason(snapshot, removed);
  if (forced || isQuiet(snapshot, removed)) return forced;
  const share = willPay(snapshot, removed, sums) ? snapshot.settings.earlyShare : 1;
  return sums.meter >= share * patienceOf(snapshot) * sums.threshold ? "break-even" : undefined;
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
