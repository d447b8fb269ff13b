/** Which model writes a summary, and the request that asks for it. */

import { describe, expect, test } from "vitest";
import { composeRequest } from "../../../src/context/request/compose.ts";
import {
  cheapestSummaryCard,
  requestOfSummary,
  summaryRequest,
  usableCards,
  warmTokens,
} from "../../../src/context/request/summary-call.ts";
import { brokenRules } from "../../../src/context/rules/request.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { noUsage } from "../../../src/core/model-card.ts";
import { encodeAnthropic } from "../../../src/models/anthropic/encoding.ts";
import { findCard, listCards } from "../../../src/models/cards.ts";
import { call, memoryLog, reply, result, started, testCard, thinking, user } from "../../support/logs.ts";

const card = (id: string) => findCard(`anthropic/${id}`).card;
const claude = listCards().filter(({ id }) => id.startsWith("anthropic/"));

describe("the cheapest card", () => {
  const choose = (id: string, tokens: number, warm: number, others = claude) =>
    cheapestSummaryCard(card(id), { tokens, warm }, others);

  test("is another one after a pause, when the own prefix would be written anew", () => {
    // 90,000 tokens at $2.50 and 800 at $10, against $0.10 and $0.50, for a million.
    expect(choose("claude-sonnet-5-5", 90_000, 0)).toMatchObject({
      card: { id: "anthropic/claude-haiku-5-5" },
      price: { ownUsd: 0.233, otherUsd: 0.0094 },
    });
  });

  test("is the own one while its cache is warm and the other saves less than half", () => {
    const { card: other, price } = choose("claude-sonnet-5-5", 90_000, 90_000);
    expect(other).toBeUndefined();
    expect(price).toEqual({ ownUsd: 0.017, otherUsd: 0.0094 });
    // Above 100,000 tokens the other costs five times as much.
    expect(choose("claude-opus-5-5", 150_000, 150_000).card).toBeUndefined();
    expect(choose("claude-opus-5-5", 90_000, 90_000).card?.id).toBe("anthropic/claude-haiku-5-5");
    // Two cents are the least that is worth a lesser handoff.
    expect(choose("claude-sonnet-5-5", 6_000, 0).price).toEqual({ ownUsd: 0.023, otherUsd: 0.001 });
    expect(choose("claude-sonnet-5-5", 6_000, 0).card).toBeDefined();
    expect(choose("claude-sonnet-5-5", 4_000, 0).card).toBeUndefined();
  });

  test("is never one that could not hold the request, that has no price, or the own one", () => {
    const small = { ...testCard("free", { window: 100_000 }), prices: { ...testCard().prices, input: 0.01 } };
    expect(choose("claude-opus-5", 90_000, 0, [small]).price).toEqual({ ownUsd: 0.5825 });
    const unpriced = findCard("anthropic/claude-new-9").card;
    expect(choose("claude-opus-5", 9_000, 0, [unpriced, card("claude-opus-5")]).card).toBeUndefined();
  });

  test("is not one whose last summary here was unusable", () => {
    const cards = [card("claude-haiku-5-5"), card("claude-haiku-4-5")];
    const log = memoryLog([started(), side("anthropic/claude-haiku-5-5", "failed")]).events();
    expect(usableCards(log, cards).map(({ id }) => id)).toEqual(["anthropic/claude-haiku-4-5"]);
    const later = memoryLog([...log, side("anthropic/claude-haiku-5-5", "accepted")]).events();
    expect(usableCards(later, cards)).toHaveLength(2);
  });
});

function side(model: string, outcome: "accepted" | "failed", more: object = {}): EventBody {
  return { type: "summary_call", purpose: "summary", usage: noUsage, model, durationMs: 1, outcome, ...more };
}

test("the own cache is warm for five minutes after a request, and until an edit or a change of model", () => {
  const request: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 1, cacheAfter: [] };
  const log = memoryLog([started(), user("go"), request, reply(call("a"))]);
  const at = log.events()[2]?.at ?? 0;
  expect(warmTokens(log.events(), at + 300_000)).toBe(100);
  expect(warmTokens(log.events(), at + 300_001)).toBe(0);
  log.append({ type: "context_edited", policy: "masking", reason: "", edits: [], economics: {} });
  expect(warmTokens(log.events(), at + 1000)).toBe(0);
});

describe("the request", () => {
  const own = card("claude-sonnet-5-5");
  const bodies = [{ ...started(own) }, user("go"), reply(thinking("t"), call("a")), result("a")];
  const log = memoryLog(bodies as EventBody[]);
  const ask = (other?: string) =>
    summaryRequest(log.events(), applyEvents(log.events()), {
      question: "Sum up.",
      card: other ? card(other) : undefined,
    });

  test("on the own model is the next request with the question at its end, its thinking and cache marks", () => {
    const request = ask();
    expect(request.messages.at(-1)?.content.at(-1)).toEqual({ type: "text", text: "Sum up." });
    expect(request.cacheAfter.length).toBeGreaterThan(1);
    expect(encodeAnthropic(request)).toContain('"signature"');
    expect(request.temperature).toBeUndefined();
    expect(brokenRules(request)).toEqual([]);
  });

  test("on an own model that does not think keeps the thinking of an earlier model, as its steps do", () => {
    const changed = { type: "model_changed", model: card("claude-haiku-4-5") } as EventBody;
    const mixed = memoryLog([...(bodies as EventBody[]), changed]).events();
    const view = applyEvents(mixed);
    const step = composeRequest(mixed, view).request;
    const request = summaryRequest(mixed, view, { question: "Sum up." });
    expect(step.thinking).toBe("none");
    expect(request.cacheAfter).toEqual(step.cacheAfter);
    expect(request.messages.slice(0, -1)).toEqual(step.messages.slice(0, -1));
    expect(brokenRules(request)).toEqual([]);
  });

  test("on another model has no thinking of the own one and writes nothing to a cache", () => {
    for (const id of ["claude-haiku-5-5", "claude-haiku-4-5"]) {
      const request = ask(id);
      expect(request).toMatchObject({ model: `anthropic/${id}`, cacheAfter: [] });
      expect(encodeAnthropic(request)).not.toMatch(/"signature"|cache_control/);
      expect(brokenRules(request)).toEqual([]);
    }
  });

  test("asks for temperature 0 where the model takes one and does not think", () => {
    expect(ask("claude-haiku-4-5").temperature).toBe(0);
    expect(ask("claude-haiku-5-5").temperature).toBeUndefined();
    expect(ask("claude-sonnet-4-6").temperature).toBeUndefined();
  });

  test("comes back from the log alone, of whichever model", () => {
    for (const other of [undefined, "claude-haiku-5-5"]) {
      const asked = ask(other);
      const facts = { question: "Sum up.", ...(other ? { card: card(other) } : {}) };
      const made = memoryLog([...(bodies as EventBody[]), side("m", "accepted", facts)]);
      expect(requestOfSummary(made.events(), 1)).toEqual(asked);
    }
    expect(requestOfSummary(memoryLog([started(), side("m", "accepted")]).events(), 1)).toBeUndefined();
  });
});
