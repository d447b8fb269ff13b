/** The cost of each text of instructions that stands in the context. Pure. */

import { costOf, noUsage } from "../../core/model-card.ts";
import { allOf, started } from "../../core/questions.ts";
import type { PolicyInput } from "../policies/policy-input.ts";
import { standingTexts } from "../view/standing.ts";

/**
 * `tokens`: calibrated. `requests`: the answered ones that it was sent with. `dollars`: what that cost, written to the cache
 * once and read from it then; less than was billed where the cache was cold.
 */
export type InstructionCost = { paths: readonly string[]; tokens: number; requests: number; dollars: number };

/** Lists them, the dearest first. */
export function instructionCosts({ events, calibration }: PolicyInput): InstructionCost[] {
  const replies = allOf(events, "assistant_message");
  const changes = allOf(events, "model_changed");
  const modelAt = (at: number) => changes.findLast(({ seq }) => seq < at)?.model ?? started(events).model;
  return standingTexts(events)
    .map(({ paths, seq, tokens: estimate }) => {
      const tokens = Math.round(estimate * calibration);
      const later = replies.filter((reply) => reply.seq > seq);
      const dollars = later.reduce((sum, reply, index) => {
        const usage = index === 0 ? { cacheWrite5mTokens: tokens } : { cacheReadTokens: tokens };
        return sum + costOf({ ...noUsage, ...usage }, modelAt(reply.seq).prices);
      }, 0);
      return { paths, tokens, requests: later.length, dollars };
    })
    .sort((a, b) => b.tokens - a.tokens);
}
