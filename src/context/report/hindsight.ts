/** Computes the savings of a context edit in the steps after it, as far as known. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { costOf, inputTotal, type Prices, type Usage } from "../../core/model-card.ts";
import { allOf, indexFrom } from "../../core/questions.ts";
import { firstChanged } from "../view/view.ts";
import type { StepRow } from "./steps.ts";

/** Finds the later edit that collapses all that an edit touched, where the savings of the earlier one end. */
export function coverings(events: readonly LogEvent[]): (edit: EventOf<"context_edited">) => number {
  const collapses = allOf(events, "context_edited").flatMap(({ seq, edits }) =>
    edits.flatMap((edit) => (edit.type === "collapse" ? [{ at: seq, from: edit.from, to: edit.to }] : [])),
  );
  let next = 0;
  return ({ seq, edits }) => {
    // Callers ask about edits in log order.
    while (next < collapses.length && (collapses[next]?.at ?? 0) <= seq) next += 1;
    const first = firstChanged(edits);
    const last = Math.max(...edits.map((edit) => (edit.type === "replace" ? edit.seq : edit.to)));
    for (let index = next; index < collapses.length; index++) {
      const { at, from, to } = collapses[index] as (typeof collapses)[number];
      if (from <= first && to >= last) return at;
    }
    return Number.POSITIVE_INFINITY;
  };
}

/** A number of tokens from one event to another, both left out. */
type Load = { seq: number; until: number; removed: number };

/** Returns the answered steps over which a load would have been carried, and its cost in dollars. */
export type Carried = (load: Load, prices: Prices) => { steps: number; dollars: number };

/** Prices loads on the steps of a session: each load is read from the cache and may lift a step above a price tier. */
export function carriedCost(rows: readonly StepRow[]): Carried {
  const answered = rows.flatMap(({ seq, usage }) => (usage ? [{ seq, usage }] : []));
  const tiers = new Map<Prices, ReturnType<typeof tierOf>>();
  return ({ seq, until, removed }, prices) => {
    const [from, to] = [indexFrom(answered, seq + 1), indexFrom(answered, until)];
    const steps = Math.max(0, to - from);
    const each = (removed * prices.cacheRead) / 1e6;
    if (!prices.tier || steps === 0) return { steps, dollars: steps * each };
    const tier = tiers.get(prices) ?? tierOf(answered, prices.tier.aboveTokens);
    tiers.set(prices, tier);
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
function tierOf(steps: readonly { usage: Usage }[], aboveTokens: number) {
  const sized = steps.map(({ usage }, index) => ({ index, usage, input: inputTotal(usage) }));
  const above = [0];
  for (const { input } of sized) above.push((above.at(-1) ?? 0) + (input > aboveTokens ? 1 : 0));
  const below = sized.filter(({ input }) => input <= aboveTokens).sort((a, b) => b.input - a.input);
  return { above, below };
}
