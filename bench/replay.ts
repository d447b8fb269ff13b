/**
 * The cost of a replay: a long recording under five stacks, and whether a step at its end costs more than one before.
 */

import type { LogEvent } from "../src/core/events.ts";
import { replay } from "../src/lab/replay/replay.ts";
import { defaultStacks, priceCard, stackOf } from "../src/lab/replay/stack.ts";
import { call, memoryLog, reply, result, started, text, user } from "../test/support/logs.ts";
import { figure, type Row } from "./figures.ts";

const steps = 480;
const rounds = 5;

/** Five stacks over recordings of 240 and 480 steps, per step. */
export async function replaySteps(): Promise<Row[]> {
  const [long, short] = [recording(steps), recording(steps / 2)];
  const perStep = (events: readonly LogEvent[], count: number) => {
    const times = Array.from({ length: rounds }, () => timed(events) / count / defaultStacks.length);
    return figure(times);
  };
  // The first round loads and compiles.
  timed(short);
  const measured = perStep(long, steps);
  const baseline = perStep(short, steps / 2);
  return [
    {
      name: `replay, one step of ${steps} under one stack`,
      unit: "ms",
      measured,
      baseline,
      against: `one step of ${steps / 2}`,
      // A request is as long as the session, so checking it cannot be free; but it may not grow faster.
      aim: { text: "≤ 2 ms, ≤ 2 ×", met: measured.median <= 2 && measured.median <= 2 * baseline.median },
    },
  ];
}

function timed(events: readonly LogEvent[]): number {
  const begin = performance.now();
  const card = priceCard("anthropic/claude-sonnet-5-5");
  for (const name of defaultStacks) replay(events, { card, stack: stackOf(name), gaps: "recorded" });
  return performance.now() - begin;
}

/** Results of about 800 tokens, as the real recordings have them. */
function recording(count: number): readonly LogEvent[] {
  const log = memoryLog([started(), user("go")]);
  for (let step = 0; step < count; step++) {
    const id = `toolu_${step}`;
    log.append(
      reply(text(`Looking at module ${step}.`), call(id, "bash", { command: `cat src/module_${step}.ts` })),
    );
    log.append(result(id, `src/module_${step}.ts: some line of output\n`.repeat(85)));
  }
  return log.events();
}
