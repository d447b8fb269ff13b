import { describe, expect, test } from "vitest";
import { switchCost } from "../../../src/context/report/switch-cost.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { inputTotal, noUsage } from "../../../src/core/model-card.ts";
import { findCard } from "../../../src/models/cards.ts";
import { started, thinking, user } from "../../support/logs.ts";

const card = (id: string) => findCard(id).card;
const sonnet = card("anthropic/claude-sonnet-5-5");
const usage = { ...noUsage, inputTokens: 100, cacheReadTokens: 30_000, cacheWrite5mTokens: 9_900 };

function log(model = sonnet, more: EventBody[] = []): LogEvent[] {
  const bodies: EventBody[] = [
    started(model),
    user(`go ${"word ".repeat(32_000)}`),
    { type: "model_request", bodyHash: "", tokensEstimated: 40_000, cacheAfter: [] },
    {
      type: "assistant_message",
      content: [thinking("a thought ".repeat(100)), { type: "text", text: "done" }],
      stopReason: "end_turn",
      usage,
      model: "m",
      durationMs: 1,
    },
    ...more,
  ];
  return bodies.map((body, seq) => ({ seq, at: 1000 * seq, ...body }));
}

describe("the price of another model", () => {
  test("is the context written at its prices, against a read at the present ones", () => {
    const cost = switchCost(log(), card("anthropic/claude-opus-5-5"), 10_000);
    expect(cost.cached).toBe(39_900);
    expect(cost.tokens).toBeGreaterThan(inputTotal(usage) * 0.9);
    expect(cost.next).toBeCloseTo((cost.tokens * 5) / 1e6, 6);
    expect(cost.stay).toBeCloseTo((39_900 * 0.1 + (cost.tokens - 39_900) * 2.5) / 1e6, 6);
    expect(cost.later).toBeCloseTo((cost.tokens * 0.2) / 1e6, 6);
  });

  test("takes nothing for cached that is older than five minutes, or of another model, or behind an edit", () => {
    const opus = card("anthropic/claude-opus-5-5");
    expect(switchCost(log(), opus, 400_000).cached).toBe(0);
    const other: EventBody = { type: "model_changed", model: card("anthropic/claude-haiku-5-5") };
    expect(switchCost(log(sonnet, [other]), opus, 10_000).cached).toBe(0);
    const edit = { type: "replace" as const, seq: 1, block: 0, text: "less" };
    const edited: EventBody = {
      type: "context_edited",
      policy: "p",
      reason: "",
      edits: [edit],
      economics: {},
    };
    const { cached } = switchCost(log(sonnet, [edited]), opus, 10_000);
    expect(cached).toBeLessThan(3000);
  });

  test("counts the thinking that a bound model drops, and that another provider does not get", () => {
    const haiku = card("anthropic/claude-haiku-4-5");
    expect(switchCost(log(haiku), sonnet, 10_000).thinking).toMatchObject({ gone: true });
    expect(switchCost(log(haiku), sonnet, 10_000).thinking.tokens).toBeGreaterThan(200);
    expect(switchCost(log(haiku), card("openai/gpt-6.1-sol"), 10_000).thinking).toMatchObject({
      gone: false,
    });
    expect(switchCost(log(sonnet), haiku, 10_000).thinking.tokens).toBe(0);
  });

  test("rises with the tier of the other model, and its soft window is told", () => {
    const gpt = card("openai/gpt-6.1-sol");
    const dear = { ...gpt, prices: { ...gpt.prices, tier: { aboveTokens: 10_000, input: 2, output: 2 } } };
    const cost = switchCost(log(), dear, 10_000);
    expect(cost.next).toBeCloseTo((2 * cost.tokens * gpt.prices.cacheWrite5m) / 1e6, 6);
    expect(cost.soft).toBe(9_000);
  });
});
