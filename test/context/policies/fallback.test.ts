/** The order in which things are shortened when a request would not fit. */

import { describe, expect, test } from "vitest";
import { fallbackPolicy } from "../../../src/context/policies/fallback.ts";
import { policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

function snap(bodies: EventBody[], engine: Record<string, number> = {}) {
  const events = memoryLog([{ ...started(), engine } as EventBody, user("go"), ...bodies]).events();
  return policyInputOf(events, applyEvents(events), 0);
}

function step(id: string, tokens: number): EventBody[] {
  return [reply(call(id)), result(id, "x".repeat(4 * tokens))];
}

function write(id: string, tokens: number): EventBody[] {
  const input = { command: "create", path: `/w/${id}`, file_text: "y".repeat(4 * tokens) };
  return [reply(call(id, "str_replace_editor", input)), result(id, "ok", "str_replace_editor")];
}

/** Observations at 3 and 5, an input at 6, an observation at 9, and a newest step of 1,000 tokens each. */
const mixed = [
  ...step("a", 1000),
  ...step("b", 1000),
  ...write("w", 1000),
  ...step("c", 1000),
  ...write("n", 1000),
];

/** The plan where the log fills `share` of the soft window, to be trimmed down to `target` of it. */
function planAt(bodies: EventBody[], share: number, target: number) {
  const window = Math.floor(snap(bodies).expected / share);
  return fallbackPolicy.plan(snap(bodies, { window, target })).plan;
}

function seqs(plan: ReturnType<typeof planAt>): number[] {
  return plan?.edits.flatMap((edit) => (edit.type === "replace" ? [edit.seq] : [])) ?? [];
}

describe("what is shortened", () => {
  test("inputs come first, though observations are older", () => {
    expect(seqs(planAt(mixed, 1, 0.85))).toEqual([6]);
  });

  test("then observations, the oldest first, and no more than reach the target", () => {
    expect(seqs(planAt(mixed, 1, 0.78))).toEqual([3, 6]);
    expect(seqs(planAt(mixed, 1, 0.6))).toEqual([3, 5, 6]);
    expect(seqs(planAt(mixed, 1, 0.42))).toEqual([3, 5, 6, 9]);
  });

  test("what is left is at or below the target when there is enough to take", () => {
    for (const target of [0.85, 0.78, 0.6, 0.42]) {
      const { soft, expected } = snap(mixed, { window: snap(mixed).expected });
      const removed = Number(planAt(mixed, 1, target)?.economics.removedTokens);
      expect(expected - removed).toBeLessThanOrEqual(target * soft.tokens);
    }
  });

  test("never the newest step, however far off the target is", () => {
    expect(seqs(planAt(mixed, 1, 0.01))).toEqual([3, 5, 6, 9]);
    expect(planAt([...step("only", 5000)], 1, 0.35)).toBeUndefined();
    expect(seqs(planAt([...step("old", 5000), ...step("only", 5000)], 1, 0.35))).toEqual([3]);
  });

  test("never a word of the user", () => {
    const log = [user("z".repeat(40_000)), ...step("a", 1000), ...step("b", 10)];
    expect(seqs(planAt(log, 1, 0.01))).toEqual([4]);
  });

  test("each block is edited once, whatever was shortened before", () => {
    const window = snap(mixed).expected;
    const first = fallbackPolicy.plan(snap(mixed, { window, target: 0.01 })).plan;
    if (!first) throw new Error("nothing was planned");
    const edited: EventBody[] = [...mixed, { type: "context_edited", ...first }];
    const again = Math.floor(snap(edited).expected);
    expect(fallbackPolicy.plan(snap(edited, { window: again, target: 0.01 }))).toEqual({});
  });
});

describe("when", () => {
  test("from nine tenths of the soft window on", () => {
    const { expected } = snap(mixed);
    const full = Math.floor(expected / 0.9);
    expect(fallbackPolicy.plan(snap(mixed, { window: full })).plan?.policy).toBe("fallback");
    expect(fallbackPolicy.plan(snap(mixed, { window: full + 1 }))).toEqual({});
  });

  test("the reason names how full the window is", () => {
    expect(planAt(mixed, 1.2, 0.35)?.reason).toBe("the next request would fill 120 % of the soft window");
  });

  test("a crumb is not worth it before the window is as good as full", () => {
    const crumb = [...step("a", 1500), ...step("n", 8500)];
    expect(planAt(crumb, 0.92, 0.35)).toBeUndefined();
    expect(seqs(planAt(crumb, 0.98, 0.35))).toEqual([3]);
    // A fifth of what is there is no crumb.
    expect(seqs(planAt([...step("a", 2500), ...step("n", 7500)], 0.92, 0.35))).toEqual([3]);
  });
});
