/** Computes the savings of a context edit in the steps after it, as far as known. Pure. */

import type { EventOf } from "../../core/events.ts";
import { costOf, inputTotal, type Prices, type Usage } from "../../core/model-card.ts";
import { indexFrom } from "../../core/questions.ts";
import { firstChanged } from "../view/view.ts";

/** The events that an edit touched, and the seq of the later edit that collapsed them all; infinite while none did. */
export type Standing = { first: number; last: number; until: number };

/**
 * Follows the edits of a log in its order: a later one that collapses all that an edit touched ends its savings.
 * Returns the place of the edit given, whose `until` later edits set.
 */
export function coverings(): (edit: EventOf<"context_edited">) => Standing {
  let open: Standing[] = [];
  return ({ seq, edits }) => {
    for (const edit of edits)
      if (edit.type === "collapse") open = open.filter((one) => !covered(one, edit, seq));
    const last = Math.max(...edits.map((edit) => (edit.type === "replace" ? edit.seq : edit.to)));
    const standing = { first: firstChanged(edits), last, until: Number.POSITIVE_INFINITY };
    open.push(standing);
    return standing;
  };
}

function covered(one: Standing, { from, to }: { from: number; to: number }, seq: number): boolean {
  if (from > one.first || to < one.last) return false;
  one.until = seq;
  return true;
}

/** A number of tokens from one event to another, both left out. */
type Load = { seq: number; until: number; removed: number };

/** Returns the answered steps over which a load would have been carried, and its cost in dollars. */
export type Carried = (load: Load, prices: Prices) => { steps: number; dollars: number };

/** A step with reported usage. */
export type Answered = { seq: number; usage: Usage };

/** Prices loads on the answered steps of a session, which may grow: each load is read from the cache and may lift a step above a price tier. */
export function carriedCost(answered: readonly Answered[]): Carried {
  const tiers = new Map<Prices, Tier>();
  return ({ seq, until, removed }, prices) => {
    const [from, to] = [indexFrom(answered, seq + 1), indexFrom(answered, until)];
    const steps = Math.max(0, to - from);
    const each = (removed * prices.cacheRead) / 1e6;
    if (!prices.tier || steps === 0) return { steps, dollars: steps * each };
    const tier = tiers.get(prices) ?? { above: [0], below: [] };
    tiers.set(prices, tier);
    extend(tier, answered, prices.tier.aboveTokens);
    const above = (tier.above[to] ?? 0) - (tier.above[from] ?? 0);
    let dollars = (above * prices.tier.input + steps - above) * each;
    for (const { index, input, usage } of tier.below) {
      if (input + removed <= prices.tier.aboveTokens) break;
      if (index < from || index >= to) continue;
      const more = { ...usage, cacheReadTokens: usage.cacheReadTokens + removed };
      dollars += costOf(more, prices) - costOf(usage, prices) - each;
    }
    return { steps, dollars };
  };
}

/** `above`: number of the first n steps above the tier; `below`: the others, nearest to the tier first. */
type Tier = { above: number[]; below: { index: number; usage: Usage; input: number }[] };

/** Adds the steps that a tier does not have yet. */
function extend({ above, below }: Tier, answered: readonly Answered[], aboveTokens: number): void {
  const from = above.length - 1;
  if (from === answered.length) return;
  for (let index = from; index < answered.length; index++) {
    const { usage } = answered[index] as Answered;
    const input = inputTotal(usage);
    above.push((above.at(-1) ?? 0) + (input > aboveTokens ? 1 : 0));
    if (input <= aboveTokens) below.push({ index, usage, input });
  }
  below.sort((a, b) => b.input - a.input);
}
