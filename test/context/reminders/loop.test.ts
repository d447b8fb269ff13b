import { describe, expect, test } from "vitest";
import { runningLoop } from "../../../src/context/reminders/loop.ts";
import { isEditTestLoop, isPlateau } from "../../../src/context/reminders/progress.ts";
import type { EventBody, LogEvent } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, text, user } from "../../support/logs.ts";

type Did = { name?: string; input: object; says: string; fails?: boolean };
const ran = (command: string, says = "ok"): Did => ({ input: { command }, says });
const edit = (old: string, fails = false): Did => ({
  name: "str_replace_editor",
  input: { command: "str_replace", path: "/w/app/a.ts", old_str: old, new_str: "x" },
  says: fails ? "old_str was not found" : "edited",
  fails,
});
const view = (from: number): Did => ({
  name: "str_replace_editor",
  input: { command: "view", path: "/w/app/a.ts", view_range: [from, from + 9] },
  says: `lines from ${from}`,
});

/** A session of one call a step. */
function session(...did: (Did | EventBody)[]): readonly LogEvent[] {
  const bodies = did.flatMap((each, index): EventBody[] => {
    if ("type" in each) return [each];
    const [id, name] = [`c${index}`, each.name ?? "bash"];
    return [
      reply(text(`step ${index}`), call(id, name, each.input)),
      result(id, each.says, name, each.fails),
    ];
  });
  return memoryLog([started(), user("go"), ...bodies]).events();
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const repeats = (...did: (Did | EventBody)[]) => runningLoop(session(...did))?.repeats;

describe("a loop", () => {
  test("is the same call with the same result, from the third time on", () => {
    const counts = [1, 2, 3, 4, 5].map((count) =>
      repeats(...times(count, () => ran("npm test", "1 failed"))),
    );
    expect(counts).toEqual([undefined, undefined, 3, 4, 5]);
    expect(runningLoop(session(...times(3, () => ran("npm test"))))).toMatchObject({
      what: "bash: npm test",
    });
  });

  test("is A and B in turn: told of by the sixth step, and at five rounds by the tenth", () => {
    const alternating = (steps: number) => times(steps, (index) => ran(index % 2 ? "B" : "A"));
    const counts = [4, 5, 6, 9, 10].map((steps) => repeats(...alternating(steps)));
    expect(counts).toEqual([undefined, undefined, 3, 4, 5]);
    expect(runningLoop(session(...alternating(6)))?.what).toBe("bash: A, then bash: B");
  });

  test("is an edit that fails as it failed before, whatever was read in between", () => {
    const tries = times(5, (index) => [edit("foo", true), view(index * 10)]).flat();
    expect(repeats(...tries.slice(0, 3))).toBeUndefined();
    expect(repeats(...tries.slice(0, 5))).toBe(3);
    expect(repeats(...tries.slice(0, 9))).toBe(5);
  });

  test("is the same reply to whatever is typed", () => {
    const same = reply(text("I am done."));
    expect(repeats(same, user("no"), same, user("no"))).toBeUndefined();
    expect(repeats(same, user("no"), same, user("no"), same, user("no"))).toBe(3);
  });

  test("is still one when only the file that keeps the output is another", () => {
    const log = memoryLog([started(), user("go")]);
    for (const id of ["1", "2", "3"]) {
      log.append(reply(call(id, "bash", { command: "make" })));
      const artifact = `/s/1/artifacts/00000${id}.txt`;
      log.append({ ...result(id, `head [whole: ${artifact}]`), artifact } as EventBody);
    }
    expect(runningLoop(log.events())?.repeats).toBe(3);
  });
});

describe("no loop", () => {
  test("is a poll that sees something new", () => {
    expect(repeats(...times(20, (index) => ran("curl status", `${index} %`)))).toBeUndefined();
  });

  test("is a check between edits that differ, even when it fails the same way", () => {
    const work = times(8, (index) => [edit(`line ${index}`), ran("npm test", "1 failed")]).flat();
    expect(repeats(...work)).toBeUndefined();
  });

  test("is what was done before the person spoke, or in an earlier turn", () => {
    const [before, after] = [times(4, () => ran("ls")), times(2, () => ran("ls"))];
    expect(repeats(...before, user("again"), ...after)).toBeUndefined();
    expect(repeats(...before, { type: "turn_ended", reason: "completed" }, ...after)).toBeUndefined();
  });

  test("is three of the same in one reply", () => {
    const log = memoryLog([started(), user("go"), reply(call("a", "bash", {}), call("b", "bash", {}))]);
    for (const id of ["a", "b"]) log.append(result(id, "same"));
    expect(runningLoop(log.events())).toBeUndefined();
  });
});

describe("a plateau", () => {
  const known = times(3, (index) => ran(`look ${index}`, `saw ${index}`));
  const stale = (steps: number) => times(steps, (index) => ran(`look again ${index}`, `saw ${index % 3}`));

  test("is twelve steps without an edit or a result that is new", () => {
    expect(isPlateau(session(...known, ...stale(11)))).toBe(false);
    expect(isPlateau(session(...known, ...stale(12)))).toBe(true);
  });

  test("ends with an edit or a new result, and is told once", () => {
    expect(isPlateau(session(...known, ...stale(12), edit("a"), ...stale(3)))).toBe(false);
    expect(isPlateau(session(...known, ...stale(12), ran("look", "new"), ...stale(3)))).toBe(false);
    const told: EventBody = { type: "reminder", channel: "tail", text: "t", about: ["plateau"] };
    expect(isPlateau(session(...known, ...stale(12), told, ...stale(3)))).toBe(false);
  });

  test("is not hidden by keeping the task list", () => {
    const lists = times(6, (index) => ({ name: "todo", input: { index }, says: `list ${index}` }));
    expect(isPlateau(session(...known, ...stale(6), ...lists))).toBe(true);
  });
});

describe("an edit–test loop", () => {
  test("is two edits with a check between them, not long ago", () => {
    const work = [edit("a"), ran("npm test"), edit("b")];
    expect(isEditTestLoop(session(...work))).toBe(true);
    expect(isEditTestLoop(session(...work, ran("npx vitest run"), view(1)))).toBe(true);
    expect(isEditTestLoop(session(...work, ...times(8, (index) => view(index))))).toBe(false);
  });

  test("is not reading, nor a single edit", () => {
    expect(isEditTestLoop(session(edit("a"), ran("npm test"), view(1)))).toBe(false);
    expect(isEditTestLoop(session(edit("a"), ran("cat b.ts"), edit("b")))).toBe(false);
    expect(isEditTestLoop(session(edit("a", true), ran("npm test"), edit("b")))).toBe(false);
  });
});
