/** The cards of all known models, and what settings may change of them. */

import { describe, expect, test } from "vitest";
import { costOf, noUsage } from "../../src/core/model-card.ts";
import { findCard, listCards } from "../../src/models/cards.ts";

test("every model of the price list is known", () => {
  const priced = listCards().map(({ id, window, maxOutput, prices, contract }) =>
    [
      id.split("/")[1],
      `${window / 1000}k/${maxOutput / 1000}k`,
      [prices.input, prices.output, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h].join(" "),
      contract.history,
      contract.cache.minTokens,
      contract.cache.ttls.join(" "),
    ].join(" | "),
  );
  expect(priced).toEqual([
    "claude-fable-5-2 | 1000k/128k | 8 40 0.2 10 16 | prefix_bound | 512 | 5m 1h",
    "claude-fable-5-1 | 1000k/128k | 10 50 0.25 12.5 20 | prefix_bound | 512 | 5m 1h",
    "claude-opus-5-5 | 1000k/128k | 4 20 0.2 5 8 | prefix_bound | 512 | 5m 1h",
    "claude-sonnet-5-5 | 1000k/128k | 2 10 0.1 2.5 4 | prefix_bound | 512 | 5m 1h",
    "claude-haiku-5-5 | 1000k/128k | 0.1 0.5 0.01 0.125 0.2 | prefix_bound | 512 | 5m 1h",
    "claude-opus-5 | 1000k/128k | 5 25 0.5 6.25 10 | free | 512 | 5m 1h",
    "claude-sonnet-5 | 1000k/128k | 2 10 0.2 2.5 4 | free | 1024 | 5m 1h",
    "claude-sonnet-4-6 | 1000k/128k | 3 15 0.3 3.75 6 | free | 1024 | 5m 1h",
    "claude-haiku-4-5 | 200k/64k | 1 5 0.1 1.25 2 | free | 4096 | 5m 1h",
    "gpt-6.1-sol | 272k/128k | 2 10 0.1 2.5 2.5 | free | 1024 | 30m",
    "gpt-6-sol | 272k/128k | 2 10 0.2 2.5 2.5 | free | 1024 | 30m",
    "gpt-5.5 | 272k/128k | 5 30 0.5 0 0 | free | 1024 | 5m",
    "deepseek-flash | 1000k/384k | 0.3 1.2 0.006 0 0 | free | 1024 | 5m",
    "glm-5.3 | 1000k/131k | 1.4 4.4 0.26 0 0 | free | 1024 | 5m",
  ]);
});

test("every card would be accepted as an override", () => {
  for (const { id, ...card } of listCards())
    expect(findCard(id, { [id]: card }).card).toEqual({ id, ...card });
});

test("the one-hour write of a Claude model costs twice its input", () => {
  const claude = listCards().filter(({ id }) => id.startsWith("anthropic/"));
  for (const { prices } of claude) expect(prices.cacheWrite1h).toBeCloseTo(2 * prices.input, 10);
});

test("above its tier a haiku request costs five times as much", () => {
  const { prices } = findCard("anthropic/claude-haiku-5-5").card;
  expect(costOf({ ...noUsage, inputTokens: 100_000 }, prices)).toBeCloseTo(0.01, 10);
  expect(costOf({ ...noUsage, inputTokens: 200_000 }, prices)).toBeCloseTo(0.1, 10);
});

test("only models that take system messages are reminded that way", () => {
  const reminded = (id: string) => findCard(`anthropic/${id}`).card.contract.reminders;
  expect(["claude-opus-5", "claude-sonnet-5-5"].map(reminded)).toEqual(["turn_scoped", "turn_scoped"]);
  expect(["claude-sonnet-5", "claude-haiku-4-5"].map(reminded)).toEqual(["tail", "tail"]);
});

test("a dated id has the card of its model under its own name", () => {
  const { card, warning } = findCard("anthropic/claude-opus-5-5-20261001");
  expect(warning).toBeUndefined();
  expect(card).toEqual({
    ...findCard("anthropic/claude-opus-5-5").card,
    id: "anthropic/claude-opus-5-5-20261001",
  });
});

describe("a model that is not known", () => {
  test("works with zero prices, a window of 128k, free history and a warning", () => {
    const { card, warning } = findCard("openai/qwen-coder");
    expect(card).toMatchObject({ id: "openai/qwen-coder", window: 128_000, contract: { history: "free" } });
    expect(Object.values(card.prices)).toEqual([0, 0, 0, 0, 0]);
    expect(warning).toMatch(/^openai\/qwen-coder is not a known model.*128,000/);
  });

  test("of Anthropic is treated as bound, which is legal on every model", () => {
    const { contract, thinking } = findCard("anthropic/claude-next").card;
    expect([contract.history, contract.reminders, thinking]).toEqual(["prefix_bound", "logged", "none"]);
    expect(contract.cache.kind).toBe("breakpoints");
  });

  test("is no reason to warn once the settings tell its window and prices", () => {
    const own = { window: 32_000, prices: { input: 1 } };
    const { card, warning } = findCard("openai/mine", { "openai/mine": own });
    expect(warning).toBeUndefined();
    expect(card).toMatchObject({ window: 32_000, prices: { input: 1, output: 0 } });
  });
});

describe("settings", () => {
  const id = "anthropic/claude-sonnet-5-5";

  test("change single fields, deep inside, and leave the rest", () => {
    const override = { prices: { input: 3 }, contract: { cache: { ttls: ["5m"] } } };
    const { card } = findCard(id, { [id]: override });
    const plain = findCard(id).card;
    expect(card).toEqual({
      ...plain,
      prices: { ...plain.prices, input: 3 },
      contract: { ...plain.contract, cache: { ...plain.contract.cache, ttls: ["5m"] } },
    });
    expect(findCard(id).card).toEqual(plain);
  });

  test("for other models change nothing", () => {
    expect(findCard(id, { "openai/x": { window: 5 } })).toEqual(findCard(id));
  });

  test.each([
    [{ window: 0 }, `models.${id}.window must be at least 1`],
    [{ prices: { input: -1 } }, `models.${id}.prices.input must be at least 0`],
    [{ prices: { input: "3" } }, `models.${id}.prices.input must be a number, not a string`],
    [{ prices: { inptu: 3 } }, `models.${id}.prices.inptu is not known`],
    [{ prices: { tier: { factor: 2 } } }, `models.${id}.prices.tier.aboveTokens is missing`],
    [{ contract: { history: "loose" } }, `models.${id}.contract.history must be one of free, prefix_bound`],
    [{ id: "other" }, `models.${id}.id is not known`],
    ["cheap", `models.${id} must be an object, not a string`],
  ])("that make no sense are refused by name: %j", (override, message) => {
    expect(() => findCard(id, { [id]: override })).toThrow(new Error(message));
  });
});
