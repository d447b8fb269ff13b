/** The cost of the context engine per step: fold, plan, compose and check one request of a long session. */

import { policyInputOf } from "../src/context/policies/policy-input.ts";
import { policyStack } from "../src/context/policies/stacks.ts";
import { composeRequest } from "../src/context/request/compose.ts";
import { violationText } from "../src/context/rules/request.ts";
import { checkRequest, type PreviousRequest } from "../src/context/rules/sequence.ts";
import { type ViewReader, viewReader } from "../src/context/view/view.ts";
import type { EventLog } from "../src/core/ports.ts";
import { call, memoryLog, reply, result, started, testCard, thinking, user } from "../test/support/logs.ts";
import { figure, type Row } from "./figures.ts";

const sizes = [100, 1000, 2000];
const rounds = 40;
/** Tokens in the view at the largest size; smaller sessions hold their share. */
const tokens = 200_000;

/** The default stack, once per step, on sessions of 100, 1,000 and 2,000 events. */
export async function engineSteps(): Promise<Row[]> {
  return sizes.map((events) => {
    const log = sessionOf(events);
    const reader = viewReader();
    let held: PreviousRequest | undefined;
    const times: number[] = [];
    const sending: number[] = [];
    for (let round = 0; round < rounds; round++) {
      addStep(log, events + round);
      times.push(
        timed(() => {
          held = oneStep(log, reader, held);
        }),
      );
      const { request } = composeRequest(log.events(), reader.read(log.events()));
      sending.push(timed(() => JSON.stringify(request)));
    }
    const measured = figure(times);
    return {
      name: `engine, one step at ${events.toLocaleString("en-US")} events`,
      unit: "ms",
      measured,
      baseline: figure(sending),
      against: "JSON.stringify of the request",
      aim: { text: "≤ 5 ms", met: measured.median <= 5 },
    };
  });
}

function oneStep(log: EventLog, reader: ViewReader, before: PreviousRequest | undefined): PreviousRequest {
  const events = log.events();
  const view = reader.read(events);
  for (const policy of policyStack("economist") ?? []) policy.plan(policyInputOf(events, view, Date.now()));
  const { broken, current } = checkRequest(composeRequest(events, view), { events, view }, before);
  if (broken.length > 0) throw new Error(broken.map(violationText).join("; "));
  return current;
}

/** The window is large enough that nothing is flushed: the queue is then at its longest. */
function sessionOf(events: number): EventLog {
  const log = memoryLog([started({ ...testCard("prefix_bound"), window: 10_000_000 }), user("go")]);
  for (let step = 0; log.events().length < events; step++) addStep(log, step);
  return log;
}

function addStep(log: EventLog, step: number): void {
  const id = `toolu_${step}`;
  const output = "src/module.ts:12: some line of output\n".repeat(Math.round((tokens * 4) / 667 / 38));
  log.append(reply(thinking(`thought ${step} `.repeat(10)), call(id, "bash", { command: `make ${step}` })));
  log.append(result(id, output));
  log.append({ type: "model_request", bodyHash: "", tokensEstimated: 0, cacheAfter: [], deferredTokens: 0 });
}

function timed(work: () => void): number {
  const begin = performance.now();
  work();
  return performance.now() - begin;
}
