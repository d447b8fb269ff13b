/** The cost of the calls of a sub-agent, apart and as it would have been in place. */

import { expect, test } from "vitest";
import { delegateEconomics } from "../../../src/context/report/delegates.ts";
import { type ModelCard, noUsage } from "../../../src/core/model-card.ts";
import { testCard } from "../../support/logs.ts";

const prices = { input: 1, output: 10, cacheRead: 0.1, cacheWrite5m: 1.25, cacheWrite1h: 2 };
const card: ModelCard = { ...testCard(), prices };
const first = { card, usage: { ...noUsage, cacheWrite5mTokens: 2000 } };
const later = { card, usage: { ...noUsage, cacheReadTokens: 2000 } };

test("a large context and many steps make it pay; a small one makes it cost more than in place", () => {
  const calls = [first, ...Array.from({ length: 19 }, () => later)];
  const apartUsd = (2000 * 1.25 + 19 * 2000 * 0.1) / 1e6;
  const large = delegateEconomics(calls, { tokens: 100_000, card });
  expect(large.apartUsd).toBeCloseTo(apartUsd, 12);
  // 20 × (100,000 − 2,000) × 0.1 − 2,000 × 1.15
  expect(large.inPlaceUsd - apartUsd).toBeCloseTo((196_000 - 2300) / 1e6, 12);
  const small = delegateEconomics(calls.slice(0, 3), { tokens: 3000, card });
  expect(small.inPlaceUsd).toBeLessThan(small.apartUsd);
});

test("one that never called costs nothing", () => {
  expect(delegateEconomics([], { tokens: 5000, card })).toEqual({ calls: 0, apartUsd: 0, inPlaceUsd: 0 });
});
