/** Shortens a request that would not fit, mechanically, without a model call (Deep Agents). Pure. */

import { maskOf } from "./masking.ts";
import { inputCandidates } from "./offload-inputs.ts";
import { type Candidate, freedAndRewritten, mergeCandidates, type Policy } from "./policy.ts";
import { newestStep, type PolicyInput } from "./policy-input.ts";

/** Share of the soft window above which any saving counts. */
const emergency = 0.97;

export const fallbackPolicy: Policy = {
  name: "fallback",
  plan(snapshot) {
    const { expected, soft, settings } = snapshot;
    if (expected < settings.pressure * soft.tokens) return {};
    const edits = enough(snapshot, settings.target * soft.tokens);
    if (edits.length === 0) return {};
    const { removed, after } = freedAndRewritten(edits, snapshot);
    // Rewriting the prefix at every step for little gain is worse than one summary, which may come next.
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

/** Takes inputs, then observations (the largest and the first included), oldest first, until the target is reached. */
function enough(snapshot: PolicyInput, target: number): Candidate[] {
  const { view } = snapshot;
  const old = view.entries.slice(0, newestStep(view));
  const all = [
    ...inputCandidates(snapshot),
    ...old.flatMap((entry, index) => maskOf(entry, snapshot, index)),
  ];
  let left = snapshot.expected - target;
  const chosen = all.filter((candidate) => {
    const needed = left > 0;
    if (needed) left -= candidate.removes * snapshot.calibration;
    return needed;
  });
  return mergeCandidates(chosen);
}
