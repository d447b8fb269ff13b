/** Times the report at the end of a headless run: at 2,000 steps beside 500, in CPU time. */

import { resultObject } from "../src/cli/headless/result.ts";
import type { LogEvent } from "../src/core/events.ts";
import { plannedLog } from "../test/support/planned-log.ts";
import { figure, type Row } from "./figures.ts";

const steps = 2000;
const share = 4;
const rounds = 25;
const warming = 15;

/** The result object of a headless run, report included, of a log that the agent has read already. */
export async function endReport(): Promise<Row[]> {
  const [long, short] = [plannedLog(steps), plannedLog(steps / share)];
  // In turn and after a few rounds each: while V8 still compiles, a round costs up to four times as much.
  const [longs, shorts]: [number[], number[]] = [[], []];
  for (let round = -warming; round < rounds; round++) {
    const [ofLong, ofShort] = [timed(long), timed(short)];
    if (round >= 0) longs.push(ofLong);
    if (round >= 0) shorts.push(ofShort);
  }
  const [measured, baseline] = [figure(longs), figure(shorts)];
  return [
    {
      name: `context report at the end of ${steps.toLocaleString("en-US")} steps`,
      unit: "ms",
      measured,
      baseline,
      against: `at the end of ${steps / share}`,
      aim: {
        text: `≤ 50 ms, ≤ ${2 * share} ×`,
        met: measured.median <= 50 && measured.median <= 2 * share * baseline.median,
      },
    },
  ];
}

/** Milliseconds of CPU, collection of garbage included. */
function timed(events: readonly LogEvent[]): number {
  const before = process.cpuUsage();
  resultObject(events, { durationMs: 1 });
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
