/** Spans of logs that are written here: sub-agents, turns after each other, and a session that is continued. */

import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import type { EventBody } from "../../src/core/events.ts";
import { noUsage } from "../../src/core/model-card.ts";
import type { Span } from "../../src/telemetry/span.ts";
import { observer } from "../../src/telemetry/spans.ts";
import { call, memoryLog, reply, result, started, text, user } from "../support/logs.ts";

const request: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 1, cacheAfter: [] };
const over: EventBody = { type: "turn_ended", reason: "completed" };

function spansOf(bodies: readonly EventBody[]): Span[] {
  const { next } = observer({
    id: (key, digits) => createHash("sha256").update(key).digest("hex").slice(0, digits),
  });
  return memoryLog(bodies)
    .events()
    .flatMap((event) => next(event).spans);
}

test("a sub-agent is a span below the call that asked for it, and its model calls are below it", () => {
  const delegated: EventBody[] = [
    {
      type: "delegate_started",
      delegate: "d1",
      folder: "/x",
      toolUseId: "t1",
      writes: false,
      role: "reviewer",
    },
    {
      type: "delegate_called",
      delegate: "d1",
      usage: { ...noUsage, inputTokens: 7 },
      model: "m",
      durationMs: 1,
    },
    {
      type: "delegate_ended",
      delegate: "d1",
      reason: "max_turns",
      economics: { calls: 1, apartUsd: 0.25, inPlaceUsd: 1 },
    },
  ];
  const spans = spansOf([
    ...[started(), user("go"), request, reply(call("t1", "delegate"))],
    ...[...delegated, result("t1", "report"), request, reply(text("done")), over],
  ]);
  const named = (name: string) => spans.filter((span) => span.name === name);
  const [agent] = named("invoke_agent reviewer");
  const [tool] = named("execute_tool bash");
  const [turn] = named("invoke_agent sawtooth");
  expect(agent?.parentId).toBe(tool?.spanId);
  expect(tool?.parentId).toBe(turn?.spanId);
  expect(agent).toMatchObject({ error: "max_turns", attributes: { "sawtooth.cost.usd": 0.25 } });
  const below = spans.filter(({ parentId }) => parentId === agent?.spanId);
  expect(below.map(({ attributes }) => attributes["gen_ai.usage.input_tokens"])).toEqual([7]);
  expect(turn?.parentId).toBeUndefined();
});

test("each turn is a trace of its own, from its message to its end, and a message in between belongs to it", () => {
  const spans = spansOf([
    ...[started(), user("one"), request, reply(text("a")), over],
    ...[user("not a turn yet"), user("two"), request, user("meanwhile"), reply(text("b")), over],
  ]);
  const turns = spans.filter(({ name }) => name === "invoke_agent sawtooth");
  expect(new Set(turns.map(({ traceId }) => traceId)).size).toBe(2);
  // The clock of these logs ticks once an event.
  const ticks = turns.map(
    ({ start, end }) => (end - start) / ((turns[0]?.end ?? 0) - (turns[0]?.start ?? 0)),
  );
  expect(ticks).toEqual([1, 4 / 3]);
});

test("a call that was refused has the reason as its error, and no duration is measured for it", () => {
  const { next } = observer({ id: (_key, digits) => "a".repeat(digits) });
  const denied: EventBody = { ...result("t1", "no"), rejected: "denied", isError: true } as EventBody;
  const observed = memoryLog([started(), user("go"), request, reply(call("t1")), denied])
    .events()
    .map((event) => next(event));
  expect(observed.at(-1)?.spans[0]?.error).toBe("denied");
  expect(observed.at(-1)?.measurements).toEqual([]);
});
