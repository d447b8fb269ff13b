import { expect, test } from "vitest";
import { rewindPoints, rewindTo, sessionName, snapshotAtMessage } from "../../src/core/rewind.ts";
import type { SnapshotRow } from "../../src/core/undo-port.ts";
import { call, memoryLog, reply, result, started, text, user } from "../support/logs.ts";

const log = memoryLog([
  started(),
  user("first"),
  reply(text("on it"), call("c1")),
  result("c1"),
  user("and also this"),
  reply(text("done")),
  { type: "turn_ended", reason: "completed" },
  { type: "session_named", name: "the parser" },
  { type: "user_message", content: [{ type: "text", text: "last" }, image()] },
]);

function image() {
  return {
    type: "image" as const,
    source: { type: "base64" as const, media_type: "image/png", data: "" },
  };
}

const row = (n: number, turn: number, kind: SnapshotRow["kind"] = "step"): SnapshotRow => ({
  ...{ n, at: 0, turn, kind, label: "", files: [] },
});

test("a fork at a message holds all that was before it, and the words come back to be changed", () => {
  expect(rewindPoints(log.events()).map(({ seq, text, events }) => [seq, text, events])).toEqual([
    [1, "first", 1],
    [4, "and also this", 4],
    [8, "last\n[image]", 8],
  ]);
  const point = rewindTo(log.events(), 4);
  expect(log.events().slice(0, point?.events).at(-1)).toMatchObject({ type: "tool_result" });
  expect(rewindTo(log.events(), 5)).toBeUndefined();
});

test("a log with gaps counts its events, not their numbers", () => {
  const damaged = log.events().filter(({ seq }) => seq !== 2 && seq !== 3);
  expect(rewindTo(damaged, 8)?.events).toBe(6);
});

test("the files of a message are those of the first snapshot for it or for a later one", () => {
  const rows = [row(0, 1), row(1, 1), row(3, 4, "undo"), row(4, 4)];
  expect([1, 4, 8].map((seq) => snapshotAtMessage(rows, seq))).toEqual([0, 4, undefined]);
  expect(snapshotAtMessage([row(2, 4)], 1)).toBe(2);
});

test("a session is called what it was named last, and an empty name takes that back", () => {
  expect(sessionName(log.events())).toBe("the parser");
  expect(sessionName([...log.events(), { seq: 9, at: 0, type: "session_named", name: "" }])).toBeUndefined();
  expect(sessionName([])).toBeUndefined();
});
