/** When a span of the history is due to become a summary, and which span. */

import { describe, expect, test } from "vitest";
import { policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { lastResortPolicy, summaryPolicy } from "../../../src/context/policies/summary.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody, EventOf } from "../../../src/core/events.ts";
import { noUsage } from "../../../src/core/model-card.ts";
import { call, memoryLog, reply, result, started, text, user } from "../../support/logs.ts";

function snap(bodies: EventBody[], engine: Record<string, number> = {}) {
  const events = memoryLog([{ ...started(), engine } as EventBody, user("go"), ...bodies]).events();
  return policyInputOf(events, applyEvents(events), 0);
}

/** The nth turn (from 0) has its reply at seq 2 + 2n and its result at seq 3 + 2n. */
function turns(count: number, name = "c"): EventBody[] {
  return Array.from({ length: count }, (_, index) => [
    reply(call(`${name}${index}`)),
    result(`${name}${index}`, "x".repeat(400)),
  ]).flat();
}

const small = { summaryTurns: 3, summaryKeep: 2 };
const summary = summaryPolicy("summary");
const planOf = (bodies: EventBody[], engine?: Record<string, number>) =>
  summary.plan(snap(bodies, engine)).plan;

describe("the trigger", () => {
  test("is 21 turns beyond the ten that stay", () => {
    expect(summary.plan(snap(turns(30)))).toEqual({});
    expect(planOf(turns(31))).toMatchObject({ policy: "summary", reason: "31 turns are not summarised" });
  });

  test("is 43 beyond them for hybrid", () => {
    expect(summaryPolicy("hybrid").plan(snap(turns(52)))).toEqual({});
    expect(summaryPolicy("hybrid").plan(snap(turns(53))).plan?.policy).toBe("hybrid");
  });

  test("counts turns that called tools, repeated ones too, and no others", () => {
    expect(planOf([...turns(4), reply(text("so")), user("and")], small)).toBeUndefined();
    expect(planOf([...turns(4), ...turns(1)], small)).toBeDefined();
  });

  test("does not count what a summary stands for already", () => {
    const edits = [{ type: "collapse" as const, from: 2, to: 7, text: "[Handoff]" }];
    const once: EventBody[] = [
      ...turns(5),
      { type: "context_edited", policy: "summary", reason: "", edits, economics: { freedShare: 0.5 } },
    ];
    expect(planOf(once, small)).toBeUndefined();
    expect(planOf([...once, ...turns(2, "d")], small)).toBeUndefined();
    // The next one begins with the summary before it, and takes the oldest three turns.
    expect(planOf([...once, ...turns(3, "d")], small)?.summarize).toEqual({ from: 2, to: 14 });
  });
});

describe("the span", () => {
  test("is the oldest N turns, whole: all after the first message and before the newest M", () => {
    const plan = planOf(turns(31));
    expect(plan?.summarize).toEqual({ from: 2, to: 2 + 2 * 21 - 1 });
    expect(plan?.edits).toEqual([]);
  });

  test("leaves the first message of the user out, also when it is not the first entry", () => {
    const events = memoryLog([started(), user("one"), user("two"), ...turns(5)]).events();
    const engine = [{ ...started(), engine: small } as EventBody, user("one"), user("two"), ...turns(5)];
    const log = memoryLog(engine).events();
    expect(summary.plan(policyInputOf(log, applyEvents(log), 0)).plan?.summarize).toEqual({ from: 2, to: 8 });
    expect(summary.plan(policyInputOf(events, applyEvents(events), 0))).toEqual({});
  });

  test("never ends between a call and its result", () => {
    const two = [reply(call("p"), call("q")), result("p"), result("q")];
    expect(planOf([...turns(2), ...two, ...turns(2, "d")], small)?.summarize).toEqual({ from: 2, to: 8 });
  });
});

describe("what was tried before", () => {
  const request: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 100, cacheAfter: [] };
  const freed = (freedShare: number): EventBody => ({
    type: "context_edited",
    policy: "summary",
    reason: "",
    edits: [],
    economics: { freedShare },
  });
  const asked = (outcome: EventOf<"summary_call">["outcome"]): EventBody => ({
    type: "summary_call",
    purpose: "summary",
    usage: noUsage,
    model: "anthropic/test",
    durationMs: 1,
    outcome,
  });
  const requests = (count: number): EventBody[] => Array.from({ length: count }, () => request);
  const planAfter = (...bodies: EventBody[]) => planOf([...turns(5), ...bodies], small);

  test("none follows within ten steps on one that freed less than a fifth", () => {
    expect(planAfter(freed(0.19))).toBeUndefined();
    expect(planAfter(freed(0.2))).toBeDefined();
    expect(planAfter(freed(0.19), ...requests(9))).toBeUndefined();
    expect(planAfter(freed(0.19), ...requests(10))).toBeDefined();
  });

  test("the model is asked at most twice in ten steps, then the log alone makes the summary", () => {
    const twice = [asked("accepted"), asked("accepted")];
    expect(planAfter(asked("accepted"))?.mechanical).toBeUndefined();
    expect(planAfter(...twice)?.mechanical).toBe(true);
    expect(planAfter(...twice, ...requests(9))?.mechanical).toBe(true);
    expect(planAfter(...twice, ...requests(10))).toBeDefined();
    expect(planAfter(...twice, ...requests(10))?.mechanical).toBeUndefined();
  });

  test("it is not asked again at all once two in a row were of no use", () => {
    const late = requests(20);
    expect(planAfter(asked("rejected"), asked("failed"), ...late)?.mechanical).toBe(true);
    expect(planAfter(asked("rejected"), asked("accepted"), ...late)?.mechanical).toBeUndefined();
    expect(planAfter(asked("rejected"), ...late)?.mechanical).toBeUndefined();
  });
});

describe("the last resort", () => {
  test("comes at nine tenths of the soft window, and leaves the newest turn alone", () => {
    const log = turns(4);
    const full = Math.floor(snap(log).expected / 0.9);
    const plan = (window: number) => lastResortPolicy.plan(snap(log, { window })).plan;
    expect(plan(full)?.summarize).toEqual({ from: 2, to: 7 });
    expect(plan(full + 1)).toBeUndefined();
  });

  test("does nothing where one turn is all there is", () => {
    expect(lastResortPolicy.plan(snap(turns(1), { window: 10 }))).toEqual({});
  });
});
