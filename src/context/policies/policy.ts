/** A policy decides what to forget. Pure types. */

import type { ContextEdit, Economics } from "../../core/events.ts";
import type { PolicyInput } from "./policy-input.ts";

/** Edits that are due now. `summarize` requests a model call that summarises a span of events. */
export type Plan = {
  policy: string;
  reason: string;
  edits: ContextEdit[];
  economics: Economics;
  /** Present when the edits fold a focus. */
  fold?: { objective: string };
  summarize?: { from: number; to: number };
  /** Summarise from the log alone, because asking the model has not paid. */
  mechanical?: true;
  /** Do not summarise unless the model writes usable prose. */
  withProse?: true;
};

/**
 * `deferredTokens`: tokens kept because forgetting them does not pay yet; `flushTokens`: tokens that forgetting them
 * would rewrite (both calibrated).
 */
export type Decision = { plan?: Plan; deferredTokens?: number; flushTokens?: number };

export type Policy = { name: string; plan(snapshot: PolicyInput): Decision };

/** One edit that could be made: mostly of a block. `removes`: tokens it takes out of the view, uncalibrated. */
export type Candidate<Edit extends ContextEdit = ContextEdit & { type: "replace" }> = {
  edit: Edit;
  index: number;
  removes: number;
};

/** Merges lists of candidates, oldest first; of several for one block the earliest list's wins. */
export function mergeCandidates(...lists: readonly Candidate[][]): Candidate[] {
  const taken = new Map<string, Candidate>();
  for (const candidate of lists.flat()) {
    const key = `${candidate.edit.seq}.${candidate.edit.block}`;
    if (!taken.has(key)) taken.set(key, candidate);
  }
  return [...taken.values()].sort((a, b) => a.index - b.index);
}

/** Returns the calibrated tokens that the candidates remove (Q) and that follow the first of them (T). */
export function freedAndRewritten(
  candidates: readonly Candidate<ContextEdit>[],
  snapshot: PolicyInput,
): { removed: number; after: number } {
  const { view, calibration } = snapshot;
  const first = candidates[0]?.index ?? view.entries.length;
  const removed = candidates.reduce((sum, candidate) => sum + candidate.removes, 0);
  let after = 0;
  for (let index = first; index < view.entries.length; index++) after += view.entries[index]?.tokens ?? 0;
  return { removed: Math.round(removed * calibration), after: Math.round(after * calibration) };
}

/** Returns the decision to make all edits at once, as the published policies do. */
export function editImmediately(
  name: string,
  reason: string,
  candidates: readonly Candidate<ContextEdit>[],
  snapshot: PolicyInput,
): Decision {
  if (candidates.length === 0) return {};
  const { removed, after } = freedAndRewritten(candidates, snapshot);
  const edits = candidates.map((candidate) => candidate.edit);
  return { plan: { policy: name, reason, edits, economics: { removedTokens: removed, afterTokens: after } } };
}
