/** The live page of a long session: the time that a browser takes for it, and the size of what it is sent as it grows. */

import type { EventOf } from "../src/core/events.ts";
import { liveReport } from "../src/report/live/live-report.ts";
import { hasBrowser, startBrowser } from "../test/support/browser.ts";
import { plannedLog } from "../test/support/planned-log.ts";
import { servedLog } from "../test/support/served-log.ts";
import { figure, type Row } from "./figures.ts";

const steps = 2000;
const share = 4;
const rounds = 5;

/** Milliseconds from the request for the page to its `load` event, beside a session of a quarter of its steps. */
async function pageTime(): Promise<Row[]> {
  if (!hasBrowser) {
    process.stderr.write("live-page: needs the package chromium\n");
    return [];
  }
  const [long, short] = [await servedLog(plannedLog(steps)), await servedLog(plannedLog(steps / share))];
  const browser = startBrowser();
  const page = await browser.open("about:blank");
  const times: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++)
    for (const [index, { url }] of [long, short].entries()) {
      await page.goto(url);
      const time = await page.run<number>(`performance.getEntriesByType("navigation")[0].loadEventStart`);
      if (round >= 0) times[index]?.push(time);
    }
  await browser.close();
  await Promise.all([long.end(), short.end()]);
  const [measured, baseline] = [figure(times[0]), figure(times[1])];
  const aim = { text: "≤ 1,000 ms", met: measured.median <= 1000 };
  const name = `page of ${steps.toLocaleString("en-US")} steps`;
  return [{ name, unit: "ms", measured, baseline, against: `of ${steps / share} steps`, aim }];
}

/** Kilobytes of the largest message that a page gets, asked for after each event, beside the median. */
function updateSizes(): Row[] {
  const [start, ...events] = plannedLog(steps);
  const live = liveReport(start as EventOf<"session_started">, "1");
  const sizes: number[] = [];
  let revision = 0;
  for (const event of start ? [start, ...events] : []) {
    live.take([event]);
    live.settle();
    for (let next = live.message(revision); next; next = live.message(revision)) {
      sizes.push(Buffer.byteLength(next.text) / 1000);
      revision = next.to;
    }
  }
  const [measured, baseline] = [figure([Math.max(...sizes)]), figure(sizes)];
  const aim = { text: "≤ 5 kB", met: measured.median <= 5 };
  return [{ name: "largest update of the page", unit: "kB", measured, baseline, against: "median", aim }];
}

/** Both rows of the page. */
export async function livePage(): Promise<Row[]> {
  return [...(await pageTime()), ...updateSizes()];
}
