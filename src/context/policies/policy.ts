/** A policy says what may be forgotten, and what it would bring. Pure types. */

import type { ContextEdit, Economics } from "../../core/events.ts";
import type { PolicyInput } from "./policy-input.ts";

/** Edits that are due now. `summarize` asks for a model call that turns a span of events into a text. */
export type Plan = {
  policy: string;
  reason: string;
  edits: ContextEdit[];
  economics: Economics;
  /** Present when the edits fold a focus. */
  fold?: { objective: string };
  summarize?: { from: number; to: number };
  /** The summary is made from the log alone: asking the model has not paid. */
  mechanical?: true;
  /** Nothing is summarised when the model writes nothing of use. */
  withProse?: true;
};

/**
 * `deferredTokens`: what could be forgotten but is not, because it does not pay yet; `flushTokens`: what forgetting it
 * would write anew (both calibrated).
 */
export type Decision = { plan?: Plan; deferredTokens?: number; flushTokens?: number };

export type Policy = { name: string; plan(snapshot: PolicyInput): Decision };

/** One edit that could be made. `removes`: tokens it takes out of the view, uncalibrated. */
export type Candidate = { edit: ContextEdit & { type: "replace" }; index: number; removes: number };

/** The same candidates without those for a block that an earlier one already takes, oldest first. */
export function mergeCandidates(...lists: readonly Candidate[][]): Candidate[] {
  const taken = new Map<string, Candidate>();
  for (const candidate of lists.flat()) {
    const key = `${candidate.edit.seq}.${candidate.edit.block}`;
    if (!taken.has(key)) taken.set(key, candidate);
  }
  return [...taken.values()].sort((a, b) => a.index - b.index);
}

/** Calibrated tokens that the candidates take out (Q) and that stand from the first of them on (T). */
export function freedAndRewritten(
  candidates: readonly Candidate[],
  snapshot: PolicyInput,
): { removed: number; after: number } {
  const { view, calibration } = snapshot;
  const first = candidates[0]?.index ?? view.entries.length;
  const removed = candidates.reduce((sum, candidate) => sum + candidate.removes, 0);
  let after = 0;
  for (let index = first; index < view.entries.length; index++) after += view.entries[index]?.tokens ?? 0;
  return { removed: Math.round(removed * calibration), after: Math.round(after * calibration) };
}

/** The decision of a policy that edits whatever it finds at once, as the published ones do. */
export function editImmediately(
  name: string,
  reason: string,
  candidates: readonly Candidate[],
  snapshot: PolicyInput,
): Decision {
  if (candidates.length === 0) return {};
  const { removed, after } = freedAndRewritten(candidates, snapshot);
  const edits = candidates.map((candidate) => candidate.edit);
  return { plan: { policy: name, reason, edits, economics: { removedTokens: removed, afterTokens: after } } };
}
