/** Times the questions to a whole log at the end of a run: at 2,000 steps beside 500. */

import { resultObject } from "../src/cli/headless/result.ts";
import { applyEvents } from "../src/context/view/view.ts";
import type { LogEvent } from "../src/core/events.ts";
import { plannedLog } from "../test/support/planned-log.ts";
import { figure, type Row } from "./figures.ts";

const steps = 2000;
const share = 4;
const rounds = 9;

/** The result object of a headless run, report included, of a log that the agent has read already. */
export async function reportGrowth(): Promise<Row[]> {
  const [long, short] = [plannedLog(steps), plannedLog(steps / share)];
  for (const events of [short, long]) timed(events);
  const [measured, baseline] = [long, short].map((events) =>
    figure(Array.from({ length: rounds }, () => timed(events))),
  ) as [Row["measured"], Row["measured"]];
  return [
    {
      name: `report at the end of ${steps.toLocaleString("en-US")} steps`,
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

function timed(events: readonly LogEvent[]): number {
  applyEvents(events);
  const begin = performance.now();
  resultObject(events, { durationMs: 1 });
  return performance.now() - begin;
}
