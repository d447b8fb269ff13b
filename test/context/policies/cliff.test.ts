/** The price tier as a reason of its own to flush (context-engine §4, `cliff`). */

import { expect, test } from "vitest";
import { policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { turnsPolicy } from "../../../src/context/policies/turns.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, testCard, user } from "../../support/logs.ts";

/** A queue of 10,000 tokens, 20,000 in the newest turn, and a soft window of 60,000 that the user set. */
function session(card: ReturnType<typeof testCard>): EventBody[] {
  const step = (id: string, tokens: number) => [reply(call(id)), result(id, "x".repeat(4 * tokens))];
  const engine = { maskKeep: 1, quietSteps: 0, window: 60_000 };
  const begun = { ...started(card), engine } as EventBody;
  const sent: EventBody = {
    type: "model_request",
    bodyHash: "",
    tokensEstimated: 100,
    cacheAfter: [],
    deferredTokens: 0,
  };
  return [begun, user("go"), ...step("first", 4), ...step("old", 10_000), ...step("new", 20_000), sent];
}

function snap(card: ReturnType<typeof testCard>) {
  const events = memoryLog(session(card)).events();
  return policyInputOf(events, applyEvents(events), (events.at(-1)?.at ?? 0) + 1000);
}

/** With a price tier there; prices above it are five-fold. */
function reasonAt(aboveTokens: number, history: "free" | "prefix_bound" = "free"): string | undefined {
  const prices = { ...testCard().prices, tier: { aboveTokens, input: 5, output: 5 } };
  return turnsPolicy.plan(snap(testCard(history, { prices }))).plan?.reason;
}

test("a step that jumps over the price tier is flushed below it at once, on both histories", () => {
  const { expected } = snap(testCard());
  expect(turnsPolicy.plan(snap(testCard())).plan).toBeUndefined();
  expect(reasonAt(expected - 1)).toBe("cliff");
  expect(reasonAt(expected - 1, "prefix_bound")).toBe("cliff");
});

test("a tier that the next request stays below, or that a flush cannot get below, is no cliff", () => {
  const { expected } = snap(testCard());
  // The soft window ends a tenth below the tier, so the pressure is there all the same.
  expect(reasonAt(expected)).toBe("pressure");
  expect(reasonAt(expected - 15_000)).toBe("pressure");
  expect(reasonAt(2 * expected)).toBeUndefined();
});
