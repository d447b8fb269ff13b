/** Questions to a log cost no more than in proportion to its length: counted, not timed. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { resultObject } from "../../../src/cli/headless/result.ts";
import { contextSizes, drawCurve } from "../../../src/context/report/curve.ts";
import { sessionReport } from "../../../src/context/report/report.ts";
import { switchCost } from "../../../src/context/report/switch-cost.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { changedFiles, spending } from "../../../src/core/questions.ts";
import { checkUsage } from "../../../src/lab/replay/usage-check.ts";
import { exportJson } from "../../../src/report/export/json.ts";
import { exportMarkdown } from "../../../src/report/export/markdown.ts";
import { exportOf } from "../../../src/report/export/parts.ts";
import { testCard } from "../../support/logs.ts";
import { countedLog, startCounting } from "../../support/operations.ts";
import { plannedLog } from "../../support/planned-log.ts";

const steps = 100;
/** Four times the steps, with more edits each as the window fills; a square would be sixteen times. */
const limit = 10;

/** Every call was asked about and denied before it was let through. */
function denied(events: readonly LogEvent[]): readonly LogEvent[] {
  const bodies = events.flatMap((event): EventBody[] => {
    if (event.type !== "tool_result") return [event];
    const { toolUseId } = event;
    return [{ type: "permission_decided", toolUseId, decision: "deny", rule: "bash", by: "headless" }, event];
  });
  return bodies.map((body, seq) => ({ at: seq, ...body, seq }));
}

const questions: Record<string, (events: readonly LogEvent[]) => unknown> = {
  "the report": sessionReport,
  "the result of a headless run": (events) => resultObject(events, { durationMs: 1 }),
  "the view": (events) => applyEvents(events),
  "what was spent": spending,
  "the changed files": changedFiles,
  "the curve": (events) => drawCurve(contextSizes(events)),
  "the cost of another model": (events) => switchCost(events, testCard("prefix_bound"), 0),
  "the check of the estimate": checkUsage,
  "the export as Markdown": (events) => exportMarkdown(exportOf(events, (text) => text)),
  "the export as JSON": (events) => exportJson(events, (text) => text),
};

let counting: ReturnType<typeof startCounting>;
beforeAll(() => {
  counting = startCounting();
});
afterAll(() => counting.stop());

/** Blocks of our code that ran, and events that were read. */
function costOf(events: readonly LogEvent[], ask: (events: readonly LogEvent[]) => unknown): number {
  const { events: counted, reads } = countedLog([...events]);
  return counting.count(() => ask(counted)) + reads();
}

type Log = readonly LogEvent[];

/**
 * Cost of the long log over that of the short one: the least of three, as a count came out too high once in ten runs.
 * Those after the first below `limit` are not made.
 */
function growthOf([short, long]: [Log, Log], ask: (events: Log) => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  for (let count = 0; count < 3 && least >= limit; count++)
    least = Math.min(least, costOf(long, ask) / costOf(short, ask));
  return least;
}

test.each(["economist", "masking", "focus"])("under %s nothing costs more than in proportion", (stack) => {
  const [short, long] = [plannedLog(steps, stack), plannedLog(4 * steps, stack)];
  for (const [name, ask] of Object.entries(questions)) {
    // What is remembered of each event counts for neither.
    for (const events of [short, long]) ask([...events]);
    expect(growthOf([short, long], ask), name).toBeLessThan(limit);
  }
});

test("a run in which each call was denied ends with a result that costs in proportion to its length", () => {
  const result = (events: readonly LogEvent[]) => resultObject(events, { durationMs: 1 });
  const [short, long] = [denied(plannedLog(steps, "raw")), denied(plannedLog(4 * steps, "raw"))];
  expect(growthOf([short, long], result)).toBeLessThan(limit);
});

/** How often the log is folded to a view: only that reads where the knowledge of a message stands. */
function folds(events: readonly LogEvent[], ask: (events: readonly LogEvent[]) => unknown): number {
  let reads = 0;
  const first = events.findIndex(({ type }) => type === "user_message");
  const watched = {
    ...(events[first] as LogEvent),
    get knowledge() {
      reads += 1;
      return undefined;
    },
  };
  ask(events.with(first, watched as LogEvent));
  return reads;
}

test("the report and the result of a headless run each fold the log once", () => {
  const events = plannedLog(steps, "economist");
  expect(folds(events, applyEvents)).toBe(1);
  expect(folds(events, sessionReport)).toBe(1);
  expect(folds(events, (log) => resultObject(log, { durationMs: 1 }))).toBe(1);
});
