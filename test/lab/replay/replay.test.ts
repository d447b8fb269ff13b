import { describe, expect, test } from "vitest";
import { isThinking } from "../../../src/core/blocks.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { inputTotal } from "../../../src/core/model-card.ts";
import { billRequest, emptyCache, layoutOf } from "../../../src/core/prompt-cache.ts";
import type { ModelRequest } from "../../../src/core/request.ts";
import { meter } from "../../../src/lab/replay/bill.ts";
import { offlineOptimum } from "../../../src/lab/replay/optimum.ts";
import { type ReplayOptions, replay } from "../../../src/lab/replay/replay.ts";
import { defaultStacks, priceCard, stackOf } from "../../../src/lab/replay/stack.ts";
import {
  call,
  memoryLog,
  reply,
  result,
  started,
  testCard,
  text,
  thinking,
  user,
} from "../../support/logs.ts";
import { seededRandom } from "../../support/random.ts";

const bound = priceCard("anthropic/claude-sonnet-5-5");
const free = priceCard("anthropic/claude-sonnet-4-6");

/**
 * `steps` steps with results of `size` tokens on average, different in every seed; `pauseAt`: a long pause before it.
 */
function recording({ steps = 60, size = 900, seed = 1, pauseAt = -1 } = {}): readonly LogEvent[] {
  const random = seededRandom(seed);
  let now = Date.UTC(2026, 0, 1);
  const log = memoryLog([], () => {
    now += 4000;
    return now;
  });
  const bodies: EventBody[] = [started(testCard()), user("Find the fault.")];
  for (let step = 0; step < steps; step++) {
    const id = `toolu_${step}`;
    const lines = Math.ceil((size / 8) * 2 * random());
    const output = Array.from(
      { length: lines },
      (_, line) => `src/${step}.ts:${line}: a line of output`,
    ).join("\n");
    bodies.push(
      reply(thinking(`thought ${step}`), text(`Step ${step}.`), call(id, "bash", { command: `cat ${step}` })),
    );
    bodies.push(result(id, output));
  }
  bodies.push(reply(text("Done.")));
  for (const [index, body] of bodies.entries()) {
    if (index === 2 + 2 * pauseAt) now += 20 * 60_000;
    log.append(body);
  }
  return log.events();
}

function run(events: readonly LogEvent[], context: string, options: Partial<ReplayOptions> = {}) {
  return replay(events, { card: free, stack: stackOf(context), gaps: "recorded", ...options });
}

function requestsOf(events: readonly LogEvent[], context: string, options: Partial<ReplayOptions> = {}) {
  const sent: ModelRequest[] = [];
  run(events, context, { ...options, onRequest: ({ request }) => sent.push(structuredClone(request)) });
  return sent;
}

describe("a replay without a policy", () => {
  test("sends what was recorded: each request begins with the one before", () => {
    const requests = requestsOf(recording({ steps: 12 }), "raw");
    expect(requests).toHaveLength(13);
    for (const [index, { messages }] of requests.entries())
      expect(messages.slice(0, 2 * index + 1)).toHaveLength(2 * index + 1);
    const last = JSON.stringify(requests.at(-1)?.messages);
    expect(last).toContain("Find the fault.");
    expect(last).toContain("src/11.ts:0: a line of output");
  });

  test("bills each request as if the whole of it were laid out anew", () => {
    const events = recording({ steps: 40, pauseAt: 25 });
    for (const context of ["raw", "masking", "focus-auto"]) {
      let cache = emptyCache;
      run(events, context, {
        onRequest({ request, bill, now }) {
          const layout = layoutOf({
            model: request.model,
            tools: request.tools,
            system: [{ type: "text", text: request.system }],
            messages: request.messages,
          });
          const breakpoints = request.cacheAfter.map((point) =>
            point.after === "system"
              ? { block: layout.systemEnd, ttl: point.ttl }
              : { block: (layout.messageStarts[point.message] ?? 0) + point.block, ttl: point.ttl },
          );
          const billed = billRequest({ blocks: layout.blocks, breakpoints, minTokens: 1024, now }, cache);
          cache = billed.cache;
          expect(bill.usage).toEqual(billed.usage);
        },
      });
    }
  });

  test("lets a recorded pause expire the cache, and does not when pauses are ignored", () => {
    const events = recording({ steps: 40, pauseAt: 30 });
    const [paused, ignored] = [run(events, "raw"), run(events, "raw", { gaps: "ignore" })];
    expect(paused.usage.cacheWrite5mTokens).toBeGreaterThan(1.5 * ignored.usage.cacheWrite5mTokens);
    expect(paused.cost).toBeGreaterThan(ignored.cost);
    expect(paused.sizes).toEqual(ignored.sizes);
  });

  test("keeps the cache over a pause of 20 minutes where an entry lives for 30, and the bound does so too", () => {
    const events = recording({ steps: 40, pauseAt: 30 });
    const change = (id: string, cost: (options: Pick<ReplayOptions, "card" | "gaps">) => number) =>
      cost({ card: priceCard(id), gaps: "recorded" }) / cost({ card: priceCard(id), gaps: "ignore" });
    for (const cost of [
      (options: Pick<ReplayOptions, "card" | "gaps">) => run(events, "raw", options).cost,
      (options: Pick<ReplayOptions, "card" | "gaps">) =>
        offlineOptimum(events, { ...options, maskKeep: 10 }).cost,
    ]) {
      expect(change("openai/gpt-6.1-sol", cost)).toBeCloseTo(1, 9);
      expect(change("openai/gpt-5.5", cost)).toBeGreaterThan(1.02);
    }
  });

  test("takes output from the recording, and from the text where the recording plainly has too little", () => {
    const said = "word ".repeat(400);
    const log = memoryLog([started(), user("go"), reply(text(said)), user("more"), reply(text("Yes."))]);
    // 500 tokens of text stand against 10 recorded; the second reply has the 10 that it recorded.
    expect(run(log.events(), "raw").usage.outputTokens).toBe(510);
  });

  test("goes on from the whole conversation: what the recorded stack forgot and reminded is left out", () => {
    const log = memoryLog(
      [...recording({ steps: 5 }).map(({ seq: _, at: __, ...body }) => body)].slice(0, -1),
    );
    log.append({
      type: "context_edited",
      policy: "recorded",
      reason: "",
      edits: [{ type: "collapse", from: 1, to: 9, text: "gone" }],
      economics: {},
    });
    log.append({ type: "reminder", channel: "logged", text: "keep the list up to date", about: ["todo"] });
    log.append(reply(text("Done.")));
    const last = JSON.stringify(requestsOf(log.events(), "raw").at(-1));
    expect(last).toContain("src/0.ts:0: a line of output");
    expect(last).not.toContain("gone");
    expect(last).not.toContain("keep the list");
  });

  test("puts a word of the user's between two replies, since no request may end with a reply", () => {
    const log = memoryLog([started(), user("go"), reply(text("I will")), reply(text("Done."))]);
    expect(run(log.events(), "raw")).toMatchObject({ steps: 2, invalid: 0 });
  });
});

describe("a replay under a policy", () => {
  test("breaks no rule on either kind of history, whatever the stack", () => {
    const events = recording({ steps: 80, pauseAt: 50 });
    const stacks = [...defaultStacks, "summary", "focus-top-auto", "supersede", "economist-auto+ingest"];
    for (const context of stacks)
      for (const card of [free, bound, priceCard("openai/deepseek-flash")])
        expect([context, run(events, context, { card }).broken]).toEqual([context, []]);
  });

  test("masks: the context stays small, and on a bound history no thinking after an edit is sent", () => {
    const events = recording({ steps: 80 });
    const [raw, masked] = [run(events, "raw"), run(events, "masking")];
    expect(Math.max(...masked.sizes)).toBeLessThan(0.5 * Math.max(...raw.sizes));
    const last = requestsOf(events, "masking", { card: bound }).at(-1);
    const thoughts = last?.messages.flatMap(({ content }) => content.filter(isThinking));
    expect(last?.blockBinding).toBe("drop_block");
    expect(thoughts?.length).toBeLessThan(10);
  });

  test("pays for a summary: a call that reads the session and writes 800 tokens", () => {
    const events = recording({ steps: 40 });
    const [raw, summary] = [run(events, "raw"), run(events, "summary")];
    expect(summary.summaries).toBeGreaterThan(0);
    expect(summary.usage.outputTokens - raw.usage.outputTokens).toBe(800 * summary.summaries);
    expect(summary.sizes.at(-1)).toBeLessThan(raw.sizes.at(-1) ?? 0);
  });

  test("folds by counting, bills the two steps that this takes, and leaves recorded folds alone", () => {
    const events = recording({ steps: 40 });
    const [raw, folded] = [run(events, "raw"), run(events, "focus-auto")];
    expect(folded.edits).toBe(3);
    expect(folded.steps).toBe(raw.steps + 2 * folded.edits + 1);
    expect(folded.sizes.at(-1)).toBeLessThan(raw.sizes.at(-1) ?? 0);
    expect(run(events, "focus-auto:foldAfter=6").edits).toBe(6);
    const log = memoryLog([
      started(),
      user("go"),
      reply(call("f", "start_focus", { objective: "look" })),
      result("f", "open", "start_focus"),
      ...Array.from({ length: 20 }, (_, n) => [reply(call(`c${n}`)), result(`c${n}`)]).flat(),
      reply(text("Done.")),
    ]);
    expect(run(log.events(), "focus-auto")).toMatchObject({ steps: 22, edits: 0 });
  });

  test("shortens results before they are first sent, by the budget of the stack", () => {
    const events = recording({ steps: 10, size: 30_000 });
    const [raw, shortened] = [run(events, "raw"), run(events, "raw+ingest")];
    expect(shortened.sizes.at(-1)).toBeLessThan(0.6 * (raw.sizes.at(-1) ?? 0));
    const last = JSON.stringify(requestsOf(events, "ingest").at(-1));
    expect(last).toMatch(/\[omitted [\d,]+ of [\d,]+ lines/);
  });

  test("keeps to the window that was asked for", () => {
    const { sizes, invalid } = run(recording({ steps: 80 }), "economist:window=30000");
    expect(Math.max(...sizes)).toBeLessThan(30_000);
    expect(invalid).toBe(0);
  });
});

describe("what an API would refuse", () => {
  const request = (messages: ModelRequest["messages"]): ModelRequest => ({
    model: bound.id,
    system: "s",
    tools: [],
    messages,
    cacheAfter: [],
    maxTokens: 100,
    thinking: "adaptive",
  });
  const said = (words: string) => ({
    role: "user" as const,
    content: [{ type: "text" as const, text: words }],
  });

  test("is counted: thinking that is sent after what stood before it was changed", () => {
    const api = meter(bound);
    expect(api.bill(request([said("one")]), 0).broken).toEqual([]);
    const thought = { type: "thinking" as const, thinking: "hm", signature: api.sign() };
    const answer = { role: "assistant" as const, content: [thought, { type: "text" as const, text: "yes" }] };
    expect(api.bill(request([said("one"), answer, said("two")]), 0).broken).toEqual([]);
    const changed = [said("1"), answer, said("two")];
    expect(api.bill(request(changed), 0).broken).toEqual([
      "thinking sig0 is sent after what stood before it was changed",
    ]);
    const without = { ...answer, content: answer.content.slice(1) };
    expect(api.bill(request([said("1"), without, said("two")]), 0).broken).toEqual([]);
  });

  test("is counted: a request above the window, and one that breaks a rule of the engine", () => {
    const small = meter({ ...free, window: 10 });
    expect(small.bill(request([said("word ".repeat(50))]), 0).broken[0]).toMatch(/exceed the window of 10/);
    const options = { card: free, stack: stackOf("raw"), gaps: "ignore" as const };
    const counted = (words: string) =>
      replay(memoryLog([started(), user(words), reply(text("b"))]).events(), options);
    expect(counted("whole")).toMatchObject({ invalid: 0, broken: [] });
    expect(counted("half a sign: \ud83d")).toMatchObject({
      invalid: 1,
      broken: [expect.stringMatching(/^rule 2: messages.0: text is not valid Unicode/)],
    });
  });
});

describe("the best masking in hindsight", () => {
  test("is never dearer than any schedule of the same masking, and what it says can be done", () => {
    for (const seed of [1, 4]) {
      const events = recording({ steps: 50, seed, pauseAt: 10 * seed, size: 400 * seed });
      for (const card of [".1/1.25", ".025/1.25", ".4/1"].map(priceCard).concat(bound)) {
        const best = offlineOptimum(events, { card, gaps: "recorded", maskKeep: 10 });
        const schedules = ["raw", ...[1, 5, 10, 20, 30].map((batch) => `masking:maskBatch=${batch}`)];
        const costs = schedules.map((context) => run(events, context, { card }).cost);
        expect(best.cost).toBeLessThanOrEqual(Math.min(...costs) * 1.000_1);
        expect(best.cost).toBeGreaterThan(0.3 * Math.min(...costs));
      }
    }
  });

  test("flushes at every step when re-writing is as cheap as reading, and never when it is dear", () => {
    const events = recording({ steps: 50 });
    const at = (prices: string) =>
      offlineOptimum(events, { card: priceCard(prices), gaps: "ignore", maskKeep: 10 }).flushes.length;
    expect(at("1/1")).toBeGreaterThan(30);
    expect(at(".001/9")).toBe(0);
  });
});

test("words that name no stack or no price are refused in one sentence", () => {
  expect(() => stackOf("maskng")).toThrow(/^--context maskng: must be one of economist, raw/);
  expect(() => stackOf("masking+more")).toThrow(/^--context/);
  expect(() => stackOf("masking:keep=3")).toThrow(/keep is not known: .*maskKeep/);
  expect(() => stackOf("masking:maskKeep=few")).toThrow(/maskKeep must be a number of at least 0, not "few"/);
  expect(() => stackOf("masking-auto:foldAfter=x")).toThrow(/foldAfter must be a whole number/);
  expect(() => priceCard("gpt-0")).toThrow(/^--prices gpt-0: must be of anthropic\/claude-fable-5-2/);
  expect(priceCard("claude-sonnet-5-5").id).toBe("anthropic/claude-sonnet-5-5");
  expect(priceCard(".1/1.25").prices).toMatchObject({ input: 1, cacheRead: 0.1, cacheWrite5m: 1.25 });
  expect(stackOf("economist-auto+ingest:foldAfter=8:maskKeep=5")).toMatchObject({
    base: "economist",
    foldAfter: 8,
    ingests: true,
    engine: { maskKeep: 5 },
  });
  expect(inputTotal(run(recording({ steps: 3 }), "raw").usage)).toBeGreaterThan(0);
});
