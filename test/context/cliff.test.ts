/** The price tier as a reason of its own to flush (context-engine §4, `cliff`). */

import { expect, test } from "vitest";
import { economistPolicy } from "../../src/context/economist.ts";
import { snapshotOf } from "../../src/context/snapshot.ts";
import { foldView } from "../../src/context/view.ts";
import type { EventBody } from "../../src/core/events.ts";
import { call, memoryLog, reply, result, started, testCard, user } from "../support/logs.ts";

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
    heldTokens: 0,
  };
  return [begun, user("go"), ...step("first", 4), ...step("old", 10_000), ...step("new", 20_000), sent];
}

function snap(card: ReturnType<typeof testCard>) {
  const events = memoryLog(session(card)).events();
  return snapshotOf(events, foldView(events), (events.at(-1)?.at ?? 0) + 1000);
}

test("where the user set a window above the tier, the tier alone asks for a flush", () => {
  const { expected } = snap(testCard());
  const tier = (aboveTokens: number) => ({
    prices: { ...testCard().prices, tier: { aboveTokens, factor: 5 } },
  });
  const reason = (card: ReturnType<typeof testCard>) => economistPolicy.plan(snap(card)).plan?.reason;
  // Half of the window is in use: there is no pressure, and break-even is far.
  expect(snap(testCard("free", tier(expected - 1))).soft.tokens).toBe(60_000);
  expect(reason(testCard("free"))).toBeUndefined();
  expect(reason(testCard("free", tier(expected - 1)))).toBe("cliff");
  expect(reason(testCard("free", tier(expected)))).toBeUndefined();
  // At once on a bound history too: no turn or fold is waited for.
  expect(reason(testCard("prefix_bound", tier(expected - 1)))).toBe("cliff");
});

test("a tier that a flush cannot get below is no reason for one", () => {
  const { expected } = snap(testCard());
  const prices = { ...testCard().prices, tier: { aboveTokens: expected - 15_000, factor: 5 } };
  expect(economistPolicy.plan(snap(testCard("free", { prices }))).plan).toBeUndefined();
});
