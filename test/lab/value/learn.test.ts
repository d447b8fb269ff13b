/** Tests what is learned from recordings: the chances that a thing is used again. */

import { expect, test } from "vitest";
import type { LogEvent } from "../../../src/core/events.ts";
import { learnFrom, moduleOf } from "../../../src/lab/value/learn.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

/** Reads one file, quotes it four replies later when `quotes`, and goes on searching. */
function session(quotes: boolean): readonly LogEvent[] {
  const line = "const handler = makeHandler(options);";
  const log = memoryLog([started(), user("go")]);
  log.append(reply(call("r", "str_replace_editor", { command: "view", path: "/w/app/a.ts" })));
  log.append(result("r", `${line}\n${"x\n".repeat(100)}`, "str_replace_editor"));
  for (let step = 0; step < 30; step++) {
    const command = quotes && step === 4 ? `echo '\n${line}\n'` : `ls ${step}`;
    log.append(reply(call(`s${step}`, "bash", { command })));
    log.append(result(`s${step}`, "a"));
  }
  return log.events();
}

const recordings = (quotes: boolean) => Array.from({ length: 9 }, () => ({ events: [...session(quotes)] }));

test("what was quoted at some age has a greater chance there, and none rises with age", () => {
  const { table, replies } = learnFrom(recordings(true));
  const { ages } = table.kinds.read;
  expect(replies).toBe(9 * 31);
  expect(ages).toEqual(ages.toSorted((a, b) => b - a));
  // Nine uses in six replies of that age each: three before the use, and three after it.
  expect(ages[2]).toBeGreaterThan(0.08);
  expect(ages[4]).toBeLessThan(0.02);
  expect(learnFrom(recordings(false)).table.kinds.read.ages[2]).toBeLessThan(0.03);
});

test("what was never used is not held to be impossible", () => {
  const { kinds } = learnFrom(recordings(false)).table;
  for (const { ages } of Object.values(kinds)) expect(Math.min(...ages)).toBeGreaterThan(0);
});

test("the module names its recordings, their time and how much was learned from", () => {
  const recording = {
    file: "/r/one.jsonl",
    format: "pi" as const,
    events: [...session(true)],
    leftOut: {},
    warnings: [],
  };
  const text = moduleOf(learnFrom([recording]), [recording]);
  expect(text).toContain(" * - one\n");
  expect(text).toContain("2026-11-20 to 2026-11-20");
  expect(text).toContain("30 observations and calls, 31 replies");
});
