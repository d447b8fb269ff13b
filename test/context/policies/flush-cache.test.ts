import { expect, test } from "vitest";
import { inputTotal } from "../../../src/core/model-card.ts";
import { replay } from "../../../src/lab/replay/replay.ts";
import { priceCard, stackOf } from "../../../src/lab/replay/stack.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

test("a flush reads the cache up to the first observation that it masks, however many it masks at once", () => {
  const output = "src/module.ts:12: some line of output\n".repeat(60);
  const log = memoryLog([started(), user("Find the fault. ".repeat(200))]);
  for (let step = 0; step < 80; step++) {
    log.append(reply(call(`t${step}`, "bash", { command: `cat ${step}` })));
    log.append(result(`t${step}`, output + step));
  }
  for (const card of ["claude-sonnet-4-6", "claude-sonnet-5-5"].map(priceCard)) {
    const reads: number[] = [];
    const { editedAt } = replay(log.events(), {
      card,
      stack: stackOf("masking:maskBatch=25"),
      gaps: "recorded",
      onRequest: ({ bill: { usage } }) => reads.push(usage.cacheReadTokens / inputTotal(usage)),
    });
    expect(editedAt.length).toBeGreaterThan(1);
    // The second flush leaves what the first one masked as it is.
    expect(reads[(editedAt[1] ?? 0) - 1]).toBeGreaterThan(0.12);
  }
});
