import { beforeAll, describe, expect, test } from "vitest";
import { editsByPolicy, type SessionReport, sessionReport } from "../../../src/context/report/report.ts";
import type { EventBody, EventOf, LogEvent } from "../../../src/core/events.ts";
import { noUsage, type Usage } from "../../../src/core/model-card.ts";
import { allOf, spending } from "../../../src/core/questions.ts";
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
import { logOf, masked, sessionLog, type Timed } from "../../support/report-log.ts";

function request(tokensEstimated = 1000, extra: Partial<EventOf<"model_request">> = {}): EventBody {
  return { type: "model_request", bodyHash: "", tokensEstimated, cacheAfter: [], ...extra };
}

function answer(usage: Partial<Usage>, ...content: Parameters<typeof reply>): EventBody {
  return { ...reply(...content), usage: { ...noUsage, ...usage } } as EventBody;
}

/** About `tokens` tokens of text. */
const long = (tokens: number) => "abcd".repeat(tokens);

describe.each(["free", "prefix_bound"] as const)("of a session on a %s history", (history) => {
  let events: readonly LogEvent[] = [];
  let report: SessionReport;
  beforeAll(async () => {
    events = await sessionLog(history);
    report = sessionReport(events);
  });

  test("every step stands in a row with what was reported for it", () => {
    const replies = allOf(events, "assistant_message");
    expect(report.steps).toHaveLength(allOf(events, "model_request").length);
    expect(report.steps.map(({ usage }) => usage)).toEqual(replies.map(({ usage }) => usage));
    expect(report.size.peak).toBe(Math.max(...report.steps.map(({ tokens }) => tokens)));
    expect(report.steps[19]?.retries).toBe(1);
  });

  test("buckets and kinds each add up to what the session cost", () => {
    const { buckets, byKind, total } = report.cost;
    expect(total).toBeCloseTo(spending(events).cost, 9);
    expect(Object.values(buckets).reduce((sum, dollars) => sum + dollars, 0)).toBeCloseTo(total, 9);
    const kinds = byKind.reduce((sum, { input, output }) => sum + input + output, 0);
    expect(kinds + buckets.side).toBeCloseTo(total, 6);
    expect(byKind[0]?.kind).toBe("observations");
  });

  test("kinds add up to the next request, and folds are knowledge", () => {
    const sum = report.now.byKind.reduce((total, { tokens }) => total + tokens, 0);
    expect(Math.abs(sum - report.now.tokens)).toBeLessThan(12);
    expect(report.now.byKind.reduce((total, { share }) => total + share, 0)).toBeCloseTo(1, 9);
    const of = (kind: string) => report.now.byKind.find((row) => row.kind === kind)?.tokens ?? 0;
    expect(of("knowledge")).toBeGreaterThan(100);
    expect(of("instructions")).toBeGreaterThan(100);
  });

  test("every edit has its numbers, and folding in place misses no cache", () => {
    expect(report.edits.map(({ policy }) => policy)).toEqual(["focus", "economist", "focus", "economist"]);
    const [fold, flush, , cold] = report.edits;
    for (const edit of report.edits) {
      expect(edit.removed).toBeGreaterThan(5_000);
      expect(edit.hindsight.worth).toBeGreaterThan(0);
    }
    expect(report.steps[(fold?.step ?? 0) - 1]?.miss).toBeUndefined();
    expect(report.steps[(flush?.step ?? 0) - 1]?.miss).toBe("edit");
    expect(report.steps[(cold?.step ?? 0) - 1]?.miss).toBe("cold");
    expect(cold).toMatchObject({ reason: "cold", hindsight: { spent: 0 } });
    expect(flush?.economics.meter).toBeGreaterThan(0);
    expect(report.cache).toMatchObject({ misses: { edit: 1, cold: 1, model: 0, unexpected: 0 } });
    expect(editsByPolicy(report.edits).map(({ policy, edits }) => [policy, edits])).toEqual([
      ["focus", 2],
      ["economist", 2],
    ]);
  });

  test("the estimate is close once a reply was reported", () => {
    expect(report.estimate.median).toBeLessThan(0.05);
    expect(report.estimate.p95).toBeLessThan(0.05);
    // Exact to the digit it would be the reported numbers themselves, not an estimate.
    expect(report.estimate.p95).toBeGreaterThan(0);
  });
});

test("a session in the middle of a step is reported as it is", () => {
  const events = logOf(
    started(),
    user("go"),
    request(1000),
    answer({ inputTokens: 2000 }, call("a")),
    result("a"),
    request(1500, { deferredTokens: 70 }),
  );
  const report = sessionReport(events);
  expect(report.session.end).toBeUndefined();
  expect(report.steps[1]).toMatchObject({ step: 2, expected: 3000, tokens: 3000, cost: 0 });
  expect(report.size).toEqual({ peak: 2000, mean: 2000, last: 2000 });
  expect(report.deferredTokens).toBe(70);
});

test("a log that has only begun is reported without steps", () => {
  const report = sessionReport(logOf(started()));
  expect(report).toMatchObject({
    steps: [],
    edits: [],
    size: { peak: 0 },
    cache: { hitRate: 0 },
    cost: { total: 0 },
  });
});

test("every block belongs to its kind", () => {
  const folder = { ...user("do it"), preamble: [{ type: "text" as const, text: long(30) }] } as EventBody;
  const events = logOf(
    started(),
    folder,
    answer({}, thinking(long(50)), text(long(60)), call("a")),
    result("a", long(70)),
    answer({}, call("b", "start_focus", {})),
    result("b", "open", "start_focus"),
    answer({}, call("c")),
    result("c", long(500)),
    {
      type: "context_edited",
      policy: "focus",
      reason: "",
      economics: {},
      edits: [{ type: "collapse", from: 5, to: 7, text: long(80) }],
    },
    { type: "reminder", channel: "logged", text: long(90) },
  );
  const tokens = Object.fromEntries(sessionReport(events).now.byKind.map((row) => [row.kind, row.tokens]));
  expect(tokens).toMatchObject({ instructions: 30, user: 2, observations: 82, knowledge: 92, reminders: 90 });
  expect(tokens.reasoning).toBeGreaterThanOrEqual(100);
  expect(tokens.actions).toBeGreaterThan(60);
  expect(tokens.system).toBeGreaterThan(0);
  expect(tokens.tools).toBeGreaterThan(0);
});

test("input is priced by its place in the prompt: what was read first, then what was written", () => {
  const card = testCard("free", {
    prices: { input: 10, output: 0, cacheRead: 1, cacheWrite5m: 20, cacheWrite1h: 40 },
  });
  const usage = { cacheReadTokens: 1000, cacheWrite5mTokens: 0, inputTokens: 1000 };
  const events = logOf(
    { ...started(card), system: "", tools: [] } as EventBody,
    user(long(1000)),
    answer({}, call("a")),
    result("a", long(988)),
    request(2000),
    answer(usage),
  );
  const costs = Object.fromEntries(sessionReport(events).cost.byKind.map(({ kind, input }) => [kind, input]));
  expect(costs.user).toBeCloseTo(0.001, 4);
  expect(costs.observations).toBeCloseTo(0.01, 3);
});

describe("in hindsight", () => {
  const card = testCard("free", {
    prices: { input: 10, output: 0, cacheRead: 1, cacheWrite5m: 11, cacheWrite1h: 0 },
  });
  const usage = { cacheReadTokens: 1000 };
  const before = [
    { ...started(card), system: "", tools: [] } as EventBody,
    user("go"),
    request(1000),
    answer({ inputTokens: 1000 }, call("a")),
    result("a", long(1014)),
    request(1000),
  ];
  const worthOf = (...after: readonly Timed[]) => sessionReport(logOf(...before, ...after)).edits[0];

  test("an edit is worth what later steps did not read, less what was written again", () => {
    const edit = worthOf(masked(4), answer(usage), request(), answer(usage), request(), answer(usage));
    // The masked result leaves 1,012 tokens out and is itself re-written: 14 tokens of it are left.
    expect(edit).toMatchObject({ removed: 1012, rewritten: 14, step: 3 });
    const saved = (1012 * 2 * 1) / 1e6;
    expect(edit?.hindsight.saved).toBeCloseTo(saved, 9);
    expect(edit?.hindsight.spent).toBeCloseTo((14 * (11 - 1)) / 1e6, 9);
    expect(edit?.hindsight.steps).toBe(2);
  });

  test("re-writing a cold prefix costs nothing extra", () => {
    const edit = worthOf({ ...masked(4), at: 600 }, request(), answer(usage));
    expect(edit?.hindsight.spent).toBe(0);
  });

  test("it counts what a price tier would have cost", () => {
    const tiered = testCard("free", {
      prices: { ...card.prices, tier: { aboveTokens: 1500, input: 2, output: 2 } },
    });
    const tail = [masked(4), request(), answer(usage)];
    const events = logOf(
      { ...started(tiered), system: "", tools: [] } as EventBody,
      ...before.slice(1),
      ...tail,
    );
    expect(sessionReport(events).edits[0]?.hindsight.saved).toBeCloseTo((2 * 2012 - 1000) / 1e6, 9);
  });

  test("it ends where a later edit takes the same span away, and a summary's call is paid for", () => {
    const span = { type: "collapse" as const, from: 3, to: 4, text: "short" };
    const side: EventBody = {
      type: "summary_call",
      purpose: "summary",
      usage: { ...noUsage, inputTokens: 100 },
      model: "",
      durationMs: 1,
      outcome: "accepted",
    };
    const events = logOf(
      ...before,
      masked(4),
      answer(usage),
      request(),
      answer(usage),
      side,
      masked(4, { edits: [span] }),
      request(),
      answer(usage),
    );
    const [first, second] = sessionReport(events).edits;
    expect(first?.hindsight.steps).toBe(1);
    expect(second?.hindsight.spent).toBeGreaterThanOrEqual(0.001);
  });

  test("two edits before one request share the re-writing", () => {
    const edits = sessionReport(
      logOf(...before, masked(4), masked(4, { policy: "again" }), request(), answer(usage)),
    ).edits;
    expect(edits.map(({ rewritten }) => rewritten)).toEqual([14, 0]);
  });
});

describe("a cache miss", () => {
  const turn = (read: number, write: number, at?: number): Timed[] => [
    { ...request(), ...(at === undefined ? {} : { at }) },
    answer({ cacheReadTokens: read, cacheWrite5mTokens: write }, call("a")),
  ];
  const misses = (...tail: readonly Timed[]) =>
    sessionReport(logOf(started(), user("go"), ...turn(0, 5000), ...turn(5000, 500), ...tail)).steps.map(
      ({ miss }) => miss,
    );

  test("is unexpected when nothing in the log explains it", () => {
    expect(misses(...turn(0, 6000))).toEqual([undefined, undefined, "unexpected"]);
    expect(misses(...turn(5500, 500))).toEqual([undefined, undefined, undefined]);
  });
  test("comes of an edit, a pause or another model", () => {
    expect(misses(masked(0), ...turn(900, 5000)).at(-1)).toBe("edit");
    expect(misses(...turn(0, 6000, 1000)).at(-1)).toBe("cold");
    expect(misses({ type: "model_changed", model: testCard() }, ...turn(0, 6000)).at(-1)).toBe("model");
  });

  test("is a pause only when it outlasts the entries of the model", () => {
    const { contract } = testCard();
    const card = testCard("free", { contract: { ...contract, cache: { ...contract.cache, ttls: ["30m"] } } });
    const missAfter = (seconds: number) => {
      const log = logOf(started(card), user("go"), ...turn(0, 5000), ...turn(0, 6000, seconds));
      return sessionReport(log).steps.at(-1)?.miss;
    };
    expect([missAfter(600), missAfter(1900)]).toEqual(["unexpected", "cold"]);
  });
});

describe("the largest items", () => {
  const adviceFor = (context: string) => {
    const steps = Array.from({ length: 14 }, (_, index) => [
      request(),
      answer({ inputTokens: 1 }, call(`c${index}`, "bash", { command: `step ${index}` })),
      result(`c${index}`, long(index === 3 ? 5000 : index === 9 ? 4000 : 10)),
    ]).flat();
    const events = logOf({ ...started(), context } as EventBody, user(long(3000)), ...steps);
    return sessionReport(events)
      .now.largest.slice(0, 3)
      .map(({ step, what, advice }) => [step, what, advice]);
  };

  test("are told with what becomes of them", () => {
    const kept = "kept; a file's path is shorter";
    expect(adviceFor("economist").map((item) => item[2])).toEqual([
      ...["goes as soon as it pays", "goes as soon as it pays", kept],
    ]);
    expect(adviceFor("turns")).toEqual([
      [4, "bash step 3", "goes as soon as it pays"],
      [10, "bash step 9", "may go in 6 steps"],
      [0, "abcd".repeat(50), kept],
    ]);
    expect(adviceFor("raw")[0]?.[2]).toBe("stays: raw forgets nothing");
    expect(adviceFor("focus")[0]?.[2]).toBe("goes with its focus or a summary");
  });
});

test("reporting changes nothing in the log", async () => {
  const log = memoryLog([started(), user("go")]);
  log.append(answer({ inputTokens: 9 }, call("a")));
  log.append(result("a", long(100)));
  log.append(masked(3));
  const before = JSON.stringify(log.events());
  sessionReport(log.events());
  expect(JSON.stringify(log.events())).toBe(before);
});
