import { expect, test } from "vitest";
import { firstDifference, unexpectedMiss } from "../../../src/context/request/cache-miss.ts";
import { composeRequest } from "../../../src/context/request/compose.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

const request: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 10, cacheAfter: [] };
const edit: EventBody = {
  type: "context_edited",
  policy: "masking",
  reason: "test",
  edits: [{ type: "replace", seq: 4, block: 0, text: "[omitted]" }],
  economics: {},
};
const session = [
  started(),
  user("go"),
  request,
  { ...reply(call("a")), messageId: "msg_1" } as EventBody,
  result("a"),
];

test("a miss that an edit explains is no surprise; one that nothing explains is", () => {
  expect(unexpectedMiss(memoryLog([...session, edit, request]).events(), "messages_changed")).toBeUndefined();
  expect(unexpectedMiss(memoryLog([...session, request]).events(), "messages_changed")).toContain(
    "messages_changed): the earlier request is a prefix",
  );
});

test("a miss after the entry has expired is no surprise", () => {
  let now = 0;
  const slow = memoryLog([...session, request], () => (now += 400_000));
  expect(unexpectedMiss(slow.events(), "messages_changed")).toBeUndefined();
});

test("a miss behind a paused reply that went on under a reminder for one request is no surprise", () => {
  const reminder: EventBody = { type: "reminder", channel: "turn_scoped", text: "mind" };
  const answered = (stopReason: string, messageId: string): EventBody =>
    ({ ...reply(call(messageId)), stopReason, messageId }) as EventBody;
  const log = (stopReason: string) => [
    ...[started(), user("go"), reminder, request, answered(stopReason, "msg_1")],
    ...[request, answered("tool_use", "msg_2"), result("msg_2"), request],
  ];
  expect(unexpectedMiss(memoryLog(log("pause_turn")).events(), "messages_changed")).toBeUndefined();
  expect(unexpectedMiss(memoryLog(log("tool_use")).events(), "messages_changed")).toContain("a prefix");
});

test("the first differing position of two requests is named", () => {
  const of = (bodies: EventBody[]) => {
    const events = memoryLog(bodies).events();
    return composeRequest(events, applyEvents(events)).request;
  };
  const long = of([...session, reply(call("b")), result("b")]);
  expect(firstDifference(of(session), long)).toBeUndefined();
  expect(firstDifference(of(session), of([...session, edit]))).toBe("messages.2.content.0 differs");
  expect(firstDifference(of(session), { ...long, system: "other" })).toBe("the system text differs");
});
