/** Misses in a replay: counted under what forgets, billed as steps that read again, and none where nothing is forgotten. */

import { expect, test } from "vitest";
import { rereadUsage } from "../../../src/context/reuse/misses.ts";
import { blocksTokens, textTokens } from "../../../src/context/view/tokens.ts";
import { resultText } from "../../../src/core/blocks.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { costOf } from "../../../src/core/model-card.ts";
import { missesIn } from "../../../src/lab/replay/missing.ts";
import { replay } from "../../../src/lab/replay/replay.ts";
import type { ReplayRow } from "../../../src/lab/replay/run.ts";
import { priceCard, stackOf } from "../../../src/lab/replay/stack.ts";
import { csvText, figuresOf, tableText } from "../../../src/lab/replay/table.ts";
import { call, memoryLog, reply, result, started, text, user, withPurposes } from "../../support/logs.ts";

const line = "const answer = computeTheAnswer(42);";
const card = priceCard(".1/1.25");

/** Reads files for so many steps, then says what the second of them held. */
function recording(steps: number): readonly LogEvent[] {
  const bodies: EventBody[] = [started(), user("go")];
  for (let step = 0; step < steps; step++) {
    const filler = `line of file number ${step}\n`.repeat(200);
    bodies.push(reply(call(`c${step}`, "bash", { command: `cat ${step}.ts` })));
    bodies.push(result(`c${step}`, step === 1 ? `${line}\n${filler}` : filler));
  }
  return memoryLog(withPurposes([...bodies, reply(text(line)), user("again"), reply(text("done"))])).events();
}

const run = (context: string) => replay(recording(6), { card, stack: stackOf(context), gaps: "recorded" });

test("what masking took and a reply quotes is one miss, billed as a step that reads it again and carries it", () => {
  const masked = run("masking:maskKeep=2");
  expect(masked).toMatchObject({ misses: 1, missesByKind: { read: 1 } });
  const context = masked.sizes[6] ?? 0;
  const [read, seen] = recording(6).slice(4, 6);
  const asks = read?.type === "assistant_message" ? blocksTokens(read.content) : 0;
  const shown = seen?.type === "tool_result" ? textTokens(resultText(seen.content)) + 12 : 0;
  const step = costOf(rereadUsage({ context, call: asks, result: shown }, card.contract), card.prices);
  // And it is carried over the one request behind it.
  const carried = ((asks + shown) * card.prices.cacheRead) / 1e6;
  expect(masked.rereadCost).toBeCloseTo(step + carried, 12);
  expect(masked.rereadCost).toBeLessThan(masked.cost);
});

test("raw forgets nothing, and so misses nothing and costs the same with re-reads", () => {
  expect(run("raw")).toMatchObject({ misses: 0, missesByKind: {}, rereadCost: 0 });
});

test("what is cut before it is first sent is missed where a reply quotes it", () => {
  const long = Array.from({ length: 4_000 }, (_, index) => `a line with the number ${index} in it`);
  const events = memoryLog([
    ...[started(), user("go"), reply(call("c", "bash", { command: "cat long.txt" }))],
    ...[result("c", long.join("\n")), reply(text(long[2_000] ?? "")), reply(text(long[0] ?? ""))],
  ]).events();
  const { misses } = replay(events, { card, stack: stackOf("raw+ingest"), gaps: "recorded" });
  expect(misses).toBe(1);
});

test("tables show misses of 100 steps and the cost with re-reads beside the cost, and sums add both up", () => {
  const rows = ["raw", "masking:maskKeep=2"].flatMap((context) =>
    ["a.jsonl", "b.jsonl"].map(
      (file): ReplayRow => ({
        ...{ file, format: "pi", context, prices: ".1/1.25", history: "free" as const },
        ...run(context),
      }),
    ),
  );
  const sum = figuresOf(rows).at(-1);
  expect(sum).toMatchObject({ recording: "all", misses: 2, steps: 16 });
  expect(sum?.ratioWithRereads).toBeGreaterThan(sum?.ratio ?? 0);
  expect(tableText(rows)).toMatch(/cost +with re-reads +misses\/100 +hit/);
  expect(tableText(rows)).toMatch(/masking:maskKeep=2 .* 12\.5 /);
  expect(csvText(rows).split("\n")[0]).toMatch(/misses,misses_per_100_steps,cost_with_rereads/);
});

test("a session that ran is read as it was: each reply against the view at its request", () => {
  const bodies: EventBody[] = [
    ...[started(), user("go"), reply(call("a", "bash", { command: "cat a.ts" })), result("a", line)],
    {
      type: "context_edited",
      policy: "masking",
      reason: "",
      economics: {},
      edits: [{ type: "replace", seq: 3, block: 0, text: "[1 line omitted]" }],
    },
    { type: "model_request", bodyHash: "", tokensEstimated: 100, cacheAfter: [] },
    reply(text(line)),
  ];
  expect(missesIn(memoryLog(bodies).events(), card)).toMatchObject({ misses: 1 });
});
