/** A step of the loop costs the same at the end of a long session as at its beginning: counted, not timed. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { startCounting } from "../support/operations.ts";

let counting: ReturnType<typeof startCounting>;
beforeAll(() => {
  counting = startCounting();
});
afterAll(() => counting.stop());

/** Long enough that the edits of the view come round several times. */
const span = 48;

/** Blocks of the engine that ran of the second 48 steps, and of the last 48 of 384. */
async function earlyAndLate(context: string): Promise<[number, number]> {
  const counts: number[] = [];
  let step = 0;
  const output = Array.from({ length: 12 }, (_, line) => `line ${line} of the output`).join("\n");
  const { agent } = testAgent({
    context,
    engine: { window: 2000 },
    turns: () => {
      if (step % span === 0) counts.push(counting.taken("context/"));
      step += 1;
      const calls = [{ bash: { command: `sed -n ${1000 + step}p src/module.ts` } }];
      return { thinking: "The rate comes before the rounding.", calls };
    },
    tools: [fakeTool("bash", () => ({ content: output }))],
    changes: { limits: { maxTurns: 8 * span + 1 } },
  });
  await runTurn(agent, new AbortController().signal);
  return [counts[2] ?? 0, counts.at(-1) ?? 0];
}

test.each(["economist", "summary"])(
  "under %s a late step does no more than an early one",
  async (context) => {
    const [early, late] = await earlyAndLate(context);
    expect(early).toBeGreaterThan(0);
    expect(late).toBeLessThan(1.25 * early);
  },
);
