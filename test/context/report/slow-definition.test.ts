/** The report, which walks a log once, beside the slow definition of each of its figures. */

import { describe, expect, test } from "vitest";
import { sessionReport } from "../../../src/context/report/report.ts";
import type { LogEvent } from "../../../src/core/events.ts";
import type { Prices } from "../../../src/core/model-card.ts";
import { plannedLog } from "../../support/planned-log.ts";
import { sessionLog } from "../../support/report-log.ts";
import { sized } from "../../support/size.ts";
import { slowEdits, slowExpected, slowKinds } from "../../support/slow-report.ts";

/** The same session at other prices: with a tier that some steps pass, and some would with what was forgotten. */
function tiered(events: readonly LogEvent[]): readonly LogEvent[] {
  return events.map((event) => {
    if (event.type !== "session_started") return event;
    const prices: Prices = { ...event.model.prices, tier: { aboveTokens: 30_000, input: 2, output: 2 } };
    return { ...event, model: { ...event.model, prices } };
  });
}

function expectSame(events: readonly LogEvent[]): void {
  const report = sessionReport(events);
  expect(report.steps.map(({ expected }) => expected)).toEqual(slowExpected(events));
  const slow = slowEdits(events, report.steps);
  const fast = report.edits.map(({ seq, step, removed, hindsight, elongation }) => {
    return { seq, step, removed, steps: hindsight.steps, elongation };
  });
  expect(fast).toEqual(slow.map(({ saved: _, ...row }) => row));
  for (const [index, { saved }] of slow.entries())
    expect(report.edits[index]?.hindsight.saved, `edit ${index}`).toBeCloseTo(saved, 9);
  const kinds = slowKinds(events);
  expect(report.cost.byKind.map(({ kind }) => kind).sort()).toEqual([...kinds.keys()].sort());
  for (const { kind, input, output } of report.cost.byKind) {
    expect(input, kind).toBeCloseTo(kinds.get(kind)?.input ?? Number.NaN, 9);
    expect(output, kind).toBeCloseTo(kinds.get(kind)?.output ?? Number.NaN, 9);
  }
}

describe.each(["economist", "masking", "focus", "summary", "raw"])("under %s", (stack) => {
  test.each([1, 2, 3, 4])("the report of session %i says what the slow definition says", (seed) => {
    const events = plannedLog(sized(25 + 15 * seed, 60 + 20 * seed), stack, seed);
    expectSame(events);
    expectSame(tiered(events));
  });
});

test.each(["free", "prefix_bound"] as const)(
  "the report of a session of the real loop on a %s history says what the slow definition says",
  async (history) => {
    const events = await sessionLog(history);
    expectSame(events);
    expectSame(tiered(events));
  },
);
