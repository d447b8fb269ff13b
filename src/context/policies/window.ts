/** The soft window and its origin (context-engine §4). Pure. */

import type { ModelCard } from "../../core/model-card.ts";

export type SoftWindow = { tokens: number; source: string };

/** Returns the smallest of 0.6 of the model's window, a tenth below its price tier, and the user's setting. */
export function softWindow({ window, prices }: ModelCard, wanted?: number): SoftWindow {
  const bounds: SoftWindow[] = [{ tokens: Math.floor(0.6 * window), source: "0.6 of the model's window" }];
  if (prices.tier) {
    const { aboveTokens, input } = prices.tier;
    bounds.push({
      tokens: Math.floor(0.9 * aboveTokens),
      source: `a tenth below ${aboveTokens} tokens, where prices rise ${input}-fold`,
    });
  }
  if (wanted !== undefined) bounds.push({ tokens: wanted, source: "set by the user" });
  return bounds.reduce((least, bound) => (bound.tokens < least.tokens ? bound : least));
}
