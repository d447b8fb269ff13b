/** How much may be in the context, and how much one result may take of it. */

import { describe, expect, test } from "vitest";
import { resultBudget } from "../../../src/context/policies/budget.ts";
import { softWindow } from "../../../src/context/policies/window.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { noUsage } from "../../../src/core/model-card.ts";
import { call, memoryLog, reply, result, started, testCard, text, user } from "../../support/logs.ts";

const tiered = (aboveTokens: number) =>
  testCard("free", { prices: { ...testCard().prices, tier: { aboveTokens, input: 2, output: 2 } } });

describe("the soft window", () => {
  test("is 0.6 of the model's window", () => {
    expect(softWindow(testCard())).toEqual({ tokens: 120_000, source: "0.6 of the model's window" });
    expect(softWindow(testCard("free", { window: 999 })).tokens).toBe(599);
  });

  test("ends a tenth below the price tier when that is less", () => {
    expect(softWindow(tiered(100_000))).toEqual({
      tokens: 90_000,
      source: "a tenth below 100000 tokens, where prices rise 2-fold",
    });
    expect(softWindow(tiered(200_000)).source).toBe("0.6 of the model's window");
  });

  test("is what the user set when that is less, and cannot be set larger", () => {
    expect(softWindow(tiered(100_000), 50_000)).toEqual({ tokens: 50_000, source: "set by the user" });
    expect(softWindow(tiered(100_000), 95_000).tokens).toBe(90_000);
    expect(softWindow(testCard(), 150_000).tokens).toBe(120_000);
  });
});

describe("the budget of one result", () => {
  /** A session whose last request and reply came to `used` tokens, over all buckets of usage. */
  function budget(used: number, more: Partial<Extract<EventBody, { type: "session_started" }>> = {}): number {
    const usage = {
      ...noUsage,
      inputTokens: 5,
      cacheReadTokens: used - 40,
      cacheWrite5mTokens: 10,
      cacheWrite1hTokens: 15,
      outputTokens: 10,
    };
    const bodies = [{ ...started(), ...more }, user("go"), { ...reply(text("hm")), usage }] as EventBody[];
    return resultBudget(memoryLog(bodies).events());
  }

  test("is 8,000 tokens before anything was sent, and while there is room", () => {
    expect(resultBudget(memoryLog([started(), user("go")]).events())).toBe(8000);
    expect(budget(40_000)).toBe(8000);
  });

  test("is a tenth of what is left of the soft window when that is less", () => {
    expect(budget(40_010)).toBe(7999);
    expect(budget(70_000)).toBe(5000);
    expect(budget(110_000)).toBe(1000);
    expect(budget(10_000, { engine: { window: 20_000 } })).toBe(1000);
  });

  test("never falls below 400 tokens: an error message must come through", () => {
    expect(budget(116_010)).toBe(400);
    expect(budget(150_000)).toBe(400);
  });

  test("follows the settings of the session and the model in force", () => {
    expect(budget(70_000, { engine: { resultShare: 0.02 } })).toBe(1000);
    expect(budget(0, { engine: { resultTokens: 500 } })).toBe(500);
    const model = testCard("free", { window: 50_000 });
    const log = memoryLog([started(), user("go"), { type: "model_changed", model }]).events();
    expect(resultBudget(log)).toBe(3000);
  });

  test("never passes what the model's window still holds", () => {
    // Six tenths of what is left of it.
    expect(budget(199_500)).toBe(300);
    expect(budget(199_500, { context: "raw" })).toBe(300);
    expect(budget(500_000)).toBe(0);
  });

  test("under raw is the hard limit, however full the soft window is", () => {
    expect(budget(119_000, { context: "raw" })).toBe(7500);
  });

  test("is shared by the calls of a reply that still wait, and results that came count as used", () => {
    const usage = { ...noUsage, inputTokens: 20_000 };
    const calls = Array.from({ length: 20 }, (_, index) => call(`c${index}`));
    const log = [started(), user("go"), { ...reply(...calls), usage }] as EventBody[];
    // Of 100,000 tokens left 60,000 for twenty.
    expect(resultBudget(memoryLog(log).events())).toBe(3000);
    log.push(...calls.slice(0, 10).map((_, index) => result(`c${index}`, "x".repeat(16_000))));
    expect(resultBudget(memoryLog(log).events())).toBe(3600);
  });
});
