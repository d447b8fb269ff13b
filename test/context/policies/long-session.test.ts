/** Tests what a session of 200 steps without a fold is billed at, with reads at .1 and writes at 1.25 of the input price. */

import { describe, expect, test } from "vitest";
import { runTurn } from "../../../src/agent/loop.ts";
import type { LogEvent } from "../../../src/core/events.ts";
import { missesIn } from "../../../src/lab/replay/missing.ts";
import { findCard } from "../../../src/models/cards.ts";
import { testAgent } from "../../support/agents.ts";
import { atInputPrice, workStep, workTool } from "../../support/scripted-work.ts";

const { card } = findCard("anthropic/claude-sonnet-4-6");
const steps = 200;

async function logUnder(context: string): Promise<readonly LogEvent[]> {
  const turns = [...Array.from({ length: steps }, (_, step) => workStep(step)), { text: "done" }];
  const { agent, log } = testAgent({ turns, tools: [workTool(steps)], context, realCard: card });
  expect(await runTurn(agent, new AbortController().signal)).toBe("completed");
  return log.events();
}

describe("80 searches, 80 files, 20 logs and 20 small edits", () => {
  test("are billed at no more than 1.3 million tokens by default, which forgetting by age passes", async () => {
    const { prices } = card;
    expect(prices).toMatchObject({ input: 3, cacheRead: 0.3, cacheWrite5m: 3.75 });
    expect(atInputPrice(await logUnder("economist"), prices)).toBeLessThanOrEqual(1_300_000);
    expect(atInputPrice(await logUnder("turns"), prices)).toBeGreaterThan(1_300_000);
  });

  test("are quoted so late that masking all but the newest ten turns misses some", async () => {
    expect(missesIn(await logUnder("masking"), card).misses).toBeGreaterThan(5);
  });
});
