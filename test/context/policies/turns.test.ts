/** When the stack `turns` flushes its queue: every reason, with the numbers that it follows from. */

import { describe, expect, test } from "vitest";
import { type PolicyInput, policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { relativePrices } from "../../../src/context/policies/timing.ts";
import { turnsPolicy } from "../../../src/context/policies/turns.ts";
import { textTokens } from "../../../src/context/view/tokens.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { findCard } from "../../../src/models/cards.ts";
import { call, memoryLog, reply, result, started, testCard, text, user } from "../../support/logs.ts";

/** Small sessions count, and only the newest turn is kept, so that the queue holds what the test put into it. */
const eager = { maskKeep: 1, quietSteps: 0 };

function begin(engine: Record<string, number> = eager, card = testCard()): EventBody[] {
  return [{ ...started(card), engine } as EventBody, user("go"), ...step("first", 4)];
}

/** One call and its result of `tokens` tokens (and 12 for the block). */
function step(id: string, tokens: number): EventBody[] {
  return [reply(call(id)), result(id, "x".repeat(4 * tokens))];
}

function requests(count: number, deferredTokens: number): EventBody[] {
  // As many tokens as `reply` reports: estimates are right, and nothing is calibrated.
  const request: EventBody = {
    type: "model_request",
    bodyHash: "",
    tokensEstimated: 100,
    cacheAfter: [],
    deferredTokens,
  };
  return Array.from({ length: count }, () => request);
}

/** The snapshot one second after the last event, or `wait` milliseconds after it. */
function snap(bodies: EventBody[], wait = 1000): PolicyInput {
  const events = memoryLog(bodies).events();
  return policyInputOf(events, applyEvents(events), (events.at(-1)?.at ?? 0) + wait);
}

function decide(bodies: EventBody[], wait?: number) {
  return turnsPolicy.plan(snap(bodies, wait));
}

/** A queue of one result of 10,000 tokens, and 20,000 in the newest turn. */
function queued(engine?: Record<string, number>, card = testCard()): EventBody[] {
  return [...begin(engine, card), ...step("old", 10_000), ...step("new", 20_000)];
}

/** Q: the old result without its placeholder. Reads of the test card cost 0.1, writes 1.25 of the input price. */
const removed = 10_000 - textTokens("[1 line omitted — line 6 of /s/1/events.jsonl]");
/** T − Q: the placeholder's own block, the newest call (18) and its result. */
const rest = 10_012 - removed + 18 + 20_012;
const threshold = 1.15 * rest;
const enough = Math.ceil(threshold / (0.1 * removed));

describe("break-even", () => {
  test("comes with the request that makes carrying as dear as re-writing, and not one earlier", () => {
    expect(enough).toBe(24);
    const held = { deferredTokens: removed, flushTokens: rest };
    expect(decide([...queued(), ...requests(enough - 2, removed)])).toEqual(held);
    const { plan } = decide([...queued(), ...requests(enough - 1, removed)]);
    expect(plan?.economics).toMatchObject({
      reason: "break-even",
      r: 0.1,
      w: 1.25,
      removedTokens: removed,
      afterTokens: rest + removed,
      meter: Math.round(0.1 * enough * removed),
      threshold: Math.round(threshold),
    });
    expect(plan?.edits).toMatchObject([{ type: "replace", seq: 5, block: 0 }]);
  });

  test("what it is expected to save is the reads of as many more steps, less the re-write", () => {
    const { plan } = decide([...queued(), ...requests(enough - 1, removed)]);
    // Three more steps would read 9,988 tokens at a tenth of the price: 2,996. Re-writing 20,054 at 1.25 instead of
    // 0.1 costs 23,062. The difference, 20,066, at $2 a million tokens:
    expect(plan?.economics.expectedSavingUsd).toBeCloseTo(-0.04013, 5);
  });

  test("a flush restarts the meter, a fold does not", () => {
    const edited = (policy: string): EventBody => ({
      type: "context_edited",
      policy,
      reason: "",
      edits: [],
      economics: {},
      ...(policy === "focus" ? { fold: { objective: "look" } } : {}),
    });
    const carried = [...queued(), ...requests(enough - 1, removed)];
    const after = requests(1, removed);
    expect(decide([...carried, edited("economist"), ...after]).deferredTokens).toBe(removed);
    expect(decide([...carried, edited("focus"), ...after]).plan?.reason).toBe("break-even");
  });

  test("where writes cost nothing more than reads it comes at once", () => {
    const { contract } = testCard();
    const uncached = testCard("free", {
      contract: { ...contract, cache: { ...contract.cache, kind: "none" } },
    });
    expect(decide([...queued(eager, uncached), ...requests(1, 0)]).plan?.reason).toBe("break-even");
  });
});

describe("a session that has lasted", () => {
  const lasted = (engine: Record<string, number>): EventBody[] => [
    ...queued(engine),
    ...Array.from({ length: 30 }, () => reply(text("ok"))),
  ];
  /** The meter of the first request that flushes, as a share of the break-even. */
  function shareAtFlush(engine: Record<string, number>): number {
    for (let count = 1; count < 100; count++) {
      const { plan } = decide([...lasted(engine), ...requests(count, removed)]);
      if (plan) return Number(plan.economics.meter) / Number(plan.economics.threshold);
    }
    return Number.NaN;
  }

  test("is expected to last as long again, and is flushed at half the break-even", () => {
    const step = (0.1 * removed) / threshold;
    expect(shareAtFlush(eager)).toBeGreaterThanOrEqual(0.5);
    expect(shareAtFlush(eager)).toBeLessThan(0.5 + step);
    expect(shareAtFlush({ ...eager, earlyShare: 1 })).toBeGreaterThanOrEqual(1);
  });

  test("waits for the whole when as many steps again would not pay for the re-write", () => {
    const short = [...queued(), ...Array.from({ length: 10 }, () => reply(text("ok")))];
    expect(decide([...short, ...requests(Math.ceil(0.7 * enough), removed)]).plan).toBeUndefined();
  });
});

describe("a prefix-bound history", () => {
  const bound = (): EventBody[] => queued(eager, testCard("prefix_bound"));
  const late = Math.ceil((4 * threshold) / (0.1 * removed));

  test("waits four times as long", () => {
    expect(late).toBe(93);
    expect(decide([...bound(), ...requests(late - 2, removed)])).toMatchObject({ deferredTokens: removed });
    expect(decide([...bound(), ...requests(late - 1, removed)]).plan?.reason).toBe("break-even");
  });

  test("does not wait longer than any other where a turn begins or a focus was folded", () => {
    const turn = user("now this");
    const fold: EventBody = {
      type: "context_edited",
      policy: "focus",
      reason: "",
      edits: [],
      economics: {},
      fold: { objective: "" },
    };
    for (const boundary of [turn, fold]) {
      const carried = [...bound(), ...requests(enough, removed)];
      expect(decide([...carried, boundary]).plan?.reason).toBe("break-even");
      expect(decide([...bound(), ...requests(enough - 3, removed), boundary]).plan).toBeUndefined();
    }
  });

  test("is flushed at once when the prefix must be written anew anyway", () => {
    expect(decide([...bound(), ...requests(1, 0)], 300_001).plan?.reason).toBe("cold");
  });
});

describe("cold", () => {
  test("begins when the last request is older than the life of its cache entry", () => {
    const log = [...queued(), ...requests(1, 0)];
    expect(decide(log, 300_000).plan).toBeUndefined();
    const { plan } = decide(log, 300_001);
    expect(plan?.reason).toBe("cold");
    // Nothing is re-written that would not be: the three reads, 2,996 at $2 a million, are gain.
    expect(plan?.economics.expectedSavingUsd).toBeCloseTo(0.00599, 5);
  });

  test("comes later where an entry lives for half an hour, as those of the gpt-6 family do", () => {
    const { card } = findCard("openai/gpt-6.1-sol");
    const log = [...queued(eager, card), ...requests(1, 0)];
    expect(decide(log, 1_800_000).plan).toBeUndefined();
    expect(decide(log, 1_800_001).plan?.reason).toBe("cold");
  });

  test("is every first request to another model", () => {
    const model = testCard("free", { id: "anthropic/other" });
    const log: EventBody[] = [...queued(), ...requests(1, 0), { type: "model_changed", model }];
    expect(decide(log).plan?.reason).toBe("cold");
  });

  test("does not reach what stands before an open focus within the hour that its checkpoint lives", () => {
    const log = [
      ...queued({ maskKeep: 1 }),
      reply(call("f", "start_focus", { objective: "look" })),
      result("f", "Focus opened", "start_focus"),
      ...step("inside", 500),
      ...step("newest", 10),
      ...requests(1, 0),
    ];
    const seqs = (wait: number) =>
      decide(log, wait).plan?.edits.map((edit) => (edit.type === "replace" ? edit.seq : -1));
    expect(seqs(300_000)).toBeUndefined();
    expect(seqs(300_001)).toEqual([11]);
    expect(seqs(3_600_000)).toEqual([11]);
    expect(seqs(3_600_001)).toEqual([5, 7, 11]);
  });

  test("is not the first request of a session", () => {
    expect(decide(queued(), 3_600_000).plan).toBeUndefined();
  });
});

describe("the window's ends", () => {
  test("at nine tenths of the soft window the queue goes, whatever it costs", () => {
    const { expected } = snap(queued());
    const at = (window: number) => decide([...queued({ ...eager, window }), ...requests(1, 0)]);
    // Ninths: the largest window that this fills to nine tenths, and the next.
    const full = Math.floor(expected / 0.9);
    expect(at(full).plan?.reason).toBe("pressure");
    expect(at(full + 1).plan).toBeUndefined();
  });

  test("the price tier counts when the queue is what stands above it", () => {
    const { expected } = snap(queued());
    const prices = (aboveTokens: number) =>
      testCard("free", { prices: { ...testCard().prices, tier: { aboveTokens, input: 2, output: 2 } } });
    const reasonAt = (aboveTokens: number) =>
      decide([...queued(eager, prices(aboveTokens)), ...requests(1, 0)]).plan?.reason;
    expect(reasonAt(expected - 1)).toBe("cliff");
    expect(reasonAt(expected - removed)).toBe("cliff");
    // Above the tier with and without the queue, and below it: only the pressure of the soft window is left.
    expect(reasonAt(expected - removed - 1)).toBe("pressure");
    expect(reasonAt(expected)).toBe("pressure");
  });

  test("old inputs and large results join the queue from 85 % of the soft window on", () => {
    const input = { command: "create", path: "/w/a", file_text: "y".repeat(400) };
    const log = (window?: number): EventBody[] => [
      ...begin({ ...eager, ...(window ? { window } : {}) }),
      reply(call("w", "str_replace_editor", input)),
      result("w", "ok", "str_replace_editor"),
      ...step("old", 10_000),
      // Kept by masking, but no longer of the newest step.
      ...step("large", 10_000),
      reply({ type: "text", text: "hm" }),
      user("more"),
    ];
    const { expected } = snap(log());
    const edits = (window: number) => decide([...log(window), ...requests(1, 0)], 300_001).plan?.edits;
    const full = Math.floor(expected / 0.85);
    expect(edits(full)).toMatchObject([
      { seq: 4, block: 0 },
      { seq: 7, block: 0 },
      { seq: 9, block: 0 },
    ]);
    expect(edits(full + 1)).toMatchObject([{ seq: 7, block: 0 }]);
  });
});

describe("what is left alone", () => {
  const overdue = requests(200, 10_000);
  const steps = (count: number, tokens: number): EventBody[] =>
    Array.from({ length: count }, (_, index) => step(`s${index}`, tokens)).flat();

  test("a session of under 30 steps and 60,000 tokens, however long its queue was carried", () => {
    // With the first turn 29 and 30 steps; all but the first and the ten newest turns are queued.
    expect(decide([...begin({}), ...steps(28, 1000), ...overdue]).deferredTokens).toBeGreaterThan(17_000);
    expect(decide([...begin({}), ...steps(29, 1000), ...overdue]).plan?.reason).toBe("break-even");
    expect(decide([...begin({}), ...steps(28, 2200), ...overdue]).plan?.reason).toBe("break-even");
  });

  test("a queue of under 5,000 tokens", () => {
    const log = (tokens: number): EventBody[] => [...begin(), ...step("old", tokens), ...step("new", 10)];
    const marker = 10_000 - removed;
    expect(decide([...log(4999 + marker), ...overdue])).toMatchObject({ deferredTokens: 4999 });
    expect(decide([...log(5000 + marker), ...overdue]).plan?.economics.removedTokens).toBe(5000);
  });

  test("neither holds when the prefix is cold", () => {
    expect(
      decide([...begin({ maskKeep: 1 }), ...step("old", 100), ...step("new", 10), ...overdue]),
    ).toMatchObject({
      deferredTokens: 100 - (10_000 - removed),
    });
    const cold = decide(
      [...begin({ maskKeep: 1 }), ...step("old", 100), ...step("new", 10), ...overdue],
      300_001,
    );
    expect(cold.plan?.reason).toBe("cold");
  });

  test("but not what a later call made stale, however new it is", () => {
    const again: EventBody[] = [reply(call("again", "bash", { command: "old" })), result("again")];
    const log = [...begin({ quietSteps: 0 }), ...step("old", 10_000), ...again, ...requests(1, 0)];
    expect(decide(log, 300_001).plan?.edits).toMatchObject([{ seq: 5 }]);
  });

  test("a session with nothing to forget is neither edited nor held", () => {
    expect(decide([...begin(), ...step("new", 20_000)], 600_000)).toEqual({});
  });
});

describe("prices as shares of the input price", () => {
  const { prices } = testCard();
  test("a write price of 0 means that writing costs what input costs", () => {
    expect(relativePrices(testCard("free", { prices: { ...prices, cacheWrite5m: 0 } }))).toEqual({
      r: 0.1,
      w: 1,
    });
  });
  test("where no price is known, time stands in for money", () => {
    expect(relativePrices(testCard("free", { prices: { ...prices, input: 0 } }))).toEqual({ r: 0.1, w: 1 });
  });
});
