import { expect, test } from "vitest";
import { composeRequest } from "../../../src/context/request/compose.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

function pointsOf(bodies: EventBody[]): string[] {
  const events = memoryLog(bodies).events();
  return composeRequest(events, applyEvents(events)).request.cacheAfter.map((point) =>
    point.after === "system" ? `system ${point.ttl}` : `${point.message}.${point.block} ${point.ttl}`,
  );
}

test("the first request is cached after the system text and after the first message", () => {
  expect(pointsOf([started(), user("go")])).toEqual(["system 5m", "0.0 5m"]);
});

test("a later request also marks where the one before it ended, so that it is found", () => {
  const two = [started(), user("go"), reply(call("a")), result("a")];
  expect(pointsOf(two)).toEqual(["system 5m", "0.0 5m", "2.0 5m"]);
  expect(pointsOf([...two, reply(call("b"), call("c")), result("b"), result("c")])).toEqual([
    "system 5m",
    "2.0 5m",
    "4.1 5m",
  ]);
});

test("an open focus marks its checkpoint for an hour, and there are never more than four", () => {
  const bodies = [
    started(),
    user("go"),
    reply(call("s", "start_focus", { objective: "x" })),
    result("s", "open", "start_focus"),
    ...["a", "b", "c"].flatMap((id) => [reply(call(id)), result(id)]),
  ];
  expect(pointsOf(bodies)).toEqual(["system 1h", "1.0 1h", "6.0 5m", "8.0 5m"]);
});
