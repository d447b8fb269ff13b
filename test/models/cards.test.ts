/** The cards of all known models, and what settings may change of them. */

import { describe, expect, test } from "vitest";
import { UsageError } from "../../src/core/errors.ts";
import { costOf, noUsage } from "../../src/core/model-card.ts";
import { cardSource, findCard, listCards } from "../../src/models/cards.ts";
import { providers, splitName } from "../../src/models/providers.ts";

test("the models of the price list have its figures", () => {
  const priced = (id: string) => {
    const { window, maxOutput, prices, contract } = findCard(id).card;
    return [
      id.split("/")[1],
      `${window / 1000}k/${maxOutput / 1000}k`,
      [prices.input, prices.output, prices.cacheRead, prices.cacheWrite5m, prices.cacheWrite1h].join(" "),
      contract.history,
      contract.cache.minTokens,
      contract.cache.ttls.join(" "),
    ].join(" | ");
  };
  const anthropic = [
    "claude-fable-5-2 | 1000k/128k | 8 40 0.2 10 16 | prefix_bound | 512 | 5m 1h",
    "claude-fable-5-1 | 1000k/128k | 10 50 0.25 12.5 20 | prefix_bound | 512 | 5m 1h",
    "claude-opus-5-5 | 1000k/128k | 4 20 0.2 5 8 | prefix_bound | 512 | 5m 1h",
    "claude-sonnet-5-5 | 1000k/128k | 2 10 0.1 2.5 4 | prefix_bound | 512 | 5m 1h",
    "claude-haiku-5-5 | 1000k/128k | 0.1 0.5 0.01 0.125 0.2 | prefix_bound | 512 | 5m 1h",
    "claude-opus-5 | 1000k/128k | 5 25 0.5 6.25 10 | free | 512 | 5m 1h",
    "claude-sonnet-5 | 1000k/128k | 2 10 0.2 2.5 4 | free | 1024 | 5m 1h",
    "claude-opus-4-7 | 1000k/128k | 5 25 0.5 6.25 10 | free | 2048 | 5m 1h",
    "claude-sonnet-4-6 | 1000k/128k | 3 15 0.3 3.75 6 | free | 1024 | 5m 1h",
    "claude-haiku-4-5 | 200k/64k | 1 5 0.1 1.25 2 | free | 4096 | 5m 1h",
  ];
  const openai = [
    "gpt-6.1-sol | 272k/128k | 2 10 0.1 2.5 2.5 | free | 1024 | 30m",
    "gpt-6-sol | 272k/128k | 2 10 0.2 2.5 2.5 | free | 1024 | 30m",
    "gpt-5.5 | 272k/128k | 5 30 0.5 0 0 | free | 1024 | 5m",
  ];
  const named = (line: string) => line.split(" | ")[0];
  expect(anthropic.map((line) => priced(`anthropic/${named(line)}`))).toEqual(anthropic);
  expect(openai.map((line) => priced(`openai/${named(line)}`))).toEqual(openai);
  expect(priced("deepseek/deepseek-flash")).toBe(
    "deepseek-flash | 1000k/384k | 0.3 1.2 0.006 0 0 | free | 1024 | 5m",
  );
  expect(priced("zai/glm-5.3")).toBe("glm-5.3 | 1000k/131.072k | 1.4 4.4 0.26 0 0 | free | 1024 | 5m");
});

test("each card has an id of its own, of a provider of the table, and the figures have a date", () => {
  const ids = listCards().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const names = providers.map(({ name }) => name);
  expect(ids.filter((id) => !names.includes(splitName(id).provider))).toEqual([]);
  expect(cardSource.date).toMatch(/^\d{4}-\d{2}-\d{2}$/);
});

test("a request of 300k tokens to gpt-5.5 costs twice for input and one and a half times for output", () => {
  const { prices } = findCard("openai/gpt-5.5").card;
  expect(costOf({ ...noUsage, inputTokens: 300_000 }, prices)).toBeCloseTo(2 * 300_000 * 5e-6, 10);
  const both = { ...noUsage, inputTokens: 100_000, cacheReadTokens: 200_000, outputTokens: 10_000 };
  expect(costOf(both, prices)).toBeCloseTo(2 * (0.5 + 0.1) + 1.5 * 0.3, 10);
});

describe("the card of the same model at its maker", () => {
  const facts = (id: string) => {
    const { card, warning } = findCard(id);
    const { history, reminders, toolGating } = card.contract;
    return [card.window, card.prices.input, history, reminders, toolGating, warning].join(" ");
  };
  test.each(["anthropic.claude-opus-5-5", "us.anthropic.claude-opus-5-5-v1:0"])(
    "is that of %s on Bedrock, without what needs beta features",
    (id) => expect(facts(`bedrock/${id}`)).toBe("1000000 4 prefix_bound logged none "),
  );
  test("is that of a dated name on Vertex", () =>
    expect(facts("vertex/claude-sonnet-4-5@20250929")).toBe("200000 3 free tail none "));
  test("is that of a model behind a gateway with chat completions", () =>
    expect(facts("openai/deepseek-flash")).toBe("1000000 0.3 free tail none "));
  test("is not that of a model on this machine, which costs nothing", () =>
    expect(findCard("ollama/gpt-oss-120b").card.prices.input).toBe(0));
});

describe("what the server says of a model", () => {
  test("beats the card, and what the settings say beats both", () => {
    const told = { window: 64_000 };
    expect(findCard("openai/gpt-5.5", { told }).card).toMatchObject({ window: 64_000, maxOutput: 16_000 });
    const overrides = { "openai/gpt-5.5": { window: 50_000 } };
    expect(findCard("openai/gpt-5.5", { told, overrides }).card.window).toBe(50_000);
  });
  test("makes a model of this machine known", () => {
    expect(findCard("ollama/qwen3-coder").warning).toMatch(/window is taken as 128,000/);
    expect(findCard("ollama/qwen3-coder", { told: { window: 32_768 } })).toMatchObject({
      card: { window: 32_768, maxOutput: 8192 },
    });
    expect(findCard("ollama/qwen3-coder", { told: { window: 32_768 } }).warning).toBeUndefined();
  });
});

test("every card would be accepted as an override", () => {
  for (const { id, ...card } of listCards())
    expect(findCard(id, { overrides: { [id]: card } }).card).toEqual({ id, ...card });
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
    const { card, warning } = findCard("openai/mine", { overrides: { "openai/mine": own } });
    expect(warning).toBeUndefined();
    expect(card).toMatchObject({ window: 32_000, prices: { input: 1, output: 0 } });
  });
});

describe("settings", () => {
  const id = "anthropic/claude-sonnet-5-5";

  test("change single fields, deep inside, and leave the rest", () => {
    const override = { prices: { input: 3 }, contract: { cache: { ttls: ["5m"] } } };
    const { card } = findCard(id, { overrides: { [id]: override } });
    const plain = findCard(id).card;
    expect(card).toEqual({
      ...plain,
      prices: { ...plain.prices, input: 3 },
      contract: { ...plain.contract, cache: { ...plain.contract.cache, ttls: ["5m"] } },
    });
    expect(findCard(id).card).toEqual(plain);
  });

  test("for other models change nothing", () => {
    expect(findCard(id, { overrides: { "openai/x": { window: 5 } } })).toEqual(findCard(id));
  });

  test.each([
    [{ window: 0 }, `models.${id}.window must be at least 1`],
    [{ prices: { input: -1 } }, `models.${id}.prices.input must be at least 0`],
    [{ prices: { input: "3" } }, `models.${id}.prices.input must be a number, not a string`],
    [
      { prices: { inptu: 3 } },
      `models.${id}.prices.inptu is not known: use input, output, cacheRead, cacheWrite5m, cacheWrite1h, webSearch, tier`,
    ],
    [{ prices: { tier: { input: 2 } } }, `models.${id}.prices.tier.aboveTokens is missing`],
    [{ contract: { history: "loose" } }, `models.${id}.contract.history must be one of free, prefix_bound`],
    [
      { id: "other" },
      `models.${id}.id is not known: use window, maxOutput, thinking, temperature, prices, contract`,
    ],
    ["cheap", `models.${id} must be an object, not a string`],
  ])("that make no sense are refused by name: %j", (override, message) => {
    expect(() => findCard(id, { overrides: { [id]: override } })).toThrow(
      new UsageError(`${message}: correct or remove it in settings`),
    );
  });
});

test("only a known model of a provider whose own server searches has a price for searches", () => {
  const priceOf = (id: string) => findCard(id).card.prices.webSearch;
  expect(priceOf("anthropic/claude-sonnet-5-5")).toBe(10);
  for (const id of [
    "anthropic/unknown",
    "bedrock/anthropic.claude-opus-4-5",
    "vertex/claude-opus-4-5@20251101",
    "openai/gpt-5.5",
  ])
    expect(priceOf(id)).toBeUndefined();
});
