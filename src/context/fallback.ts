/** When a request would not fit: shortened mechanically, without a model call (Deep Agents). Pure. */

import { resultText } from "../core/blocks.ts";
import { eventAt } from "../core/questions.ts";
import { maskOf } from "./masking.ts";
import { inputCandidates } from "./offload-inputs.ts";
import { whereabouts } from "./placeholder.ts";
import { type Candidate, mergeCandidates, type Policy, weigh } from "./policy.ts";
import { newestStep, type Snapshot } from "./snapshot.ts";
import { textTokens } from "./tokens.ts";

/** Share of the soft window from which any crumb counts. */
const emergency = 0.97;

export const fallbackPolicy: Policy = {
  name: "fallback",
  plan(snapshot) {
    const { expected, soft, settings } = snapshot;
    if (expected < settings.pressure * soft.tokens) return {};
    const edits = enough(snapshot, settings.target * soft.tokens);
    if (edits.length === 0) return {};
    const { removed, after } = weigh(edits, snapshot);
    // To re-write the prefix for a crumb at every step is worse than one summary, which may come next.
    if (removed < 0.2 * expected && expected < emergency * soft.tokens) return {};
    return {
      plan: {
        policy: "fallback",
        reason: `the next request would fill ${Math.round((100 * expected) / soft.tokens)} % of the soft window`,
        edits: edits.map((candidate) => candidate.edit),
        economics: { removedTokens: removed, afterTokens: after, expectedTokens: expected },
      },
    };
  },
};

/** Inputs, then observations, then the largest result: the first of these, oldest first, that reach the target. */
function enough(snapshot: Snapshot, target: number): Candidate[] {
  const { view } = snapshot;
  const old = view.entries.slice(0, newestStep(view));
  const all = [
    ...inputCandidates(snapshot),
    ...old.flatMap((entry) => maskOf(entry, snapshot)),
    ...largest(snapshot),
  ];
  let left = snapshot.expected - target;
  const chosen = all.filter((candidate) => {
    const needed = left > 0;
    if (needed) left -= candidate.removes * snapshot.calibration;
    return needed;
  });
  return mergeCandidates(chosen);
}

const keptCharacters = 2_000;

/** The head of the largest observation that is still whole, the newest step's included when nothing else is left. */
function largest(snapshot: Snapshot): Candidate[] {
  const { view, events } = snapshot;
  const whole = view.entries.filter((entry) => !entry.edited && entry.blocks[0]?.type === "tool_result");
  const entry = whole.sort((a, b) => b.tokens - a.tokens)[0];
  const event = entry && eventAt(events, entry.seq);
  const index = entry ? view.entries.indexOf(entry) : -1;
  if (!entry || event?.type !== "tool_result" || index >= newestStep(view)) return [];
  const head = resultText(event.content).slice(0, keptCharacters).toWellFormed();
  const text = `${head}\n[the rest was shortened — ${whereabouts(event, events)}]`;
  const removes = entry.tokens - textTokens(text);
  return removes > 0 ? [{ edit: { type: "replace", seq: entry.seq, block: 0, text }, index, removes }] : [];
}
