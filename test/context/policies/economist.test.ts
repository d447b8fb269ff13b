/** Tests what the economist holds to be worth its place, where a flush begins, and what it never takes. */

import { describe, expect, test } from "vitest";
import { economistPolicy } from "../../../src/context/policies/economist.ts";
import { type PolicyInput, policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { ContextEdit, EventBody, LogEvent, Task } from "../../../src/core/events.ts";
import { commandPurpose } from "../../../src/permissions/bash/purpose.ts";
import { call, listed, memoryLog, reply, result, started, testCard, user } from "../../support/logs.ts";

const lines = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name} line ${index} says something of its own`).join("\n");

/** As the tool records a command: with what its line is for. */
function ran(id: string, command: string, output: string, isError = false): EventBody[] {
  const stats = { purpose: commandPurpose(command, "/w/app") };
  const ended = { ...result(id, output, "bash", isError), stats } as EventBody;
  return [reply(call(id, "bash", { command })), ended];
}

function viewed(id: string, path: string, count = 200): EventBody[] {
  const input = { command: "view", path };
  return [reply(call(id, "str_replace_editor", input)), result(id, lines(path, count), "str_replace_editor")];
}

/** A session of `count` searches after the given steps, cold at its end. */
function cold(bodies: EventBody[], count: number): PolicyInput {
  const after = Array.from({ length: count }, (_, index) => ran(`s${index}`, `grep -rn w${index} src`, "a"));
  const all = [started(testCard()), user("go"), ...ran("first", "ls", "a"), ...bodies, ...after.flat()];
  const request: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 100, cacheAfter: [] };
  const events = memoryLog([...all, request]).events();
  return policyInputOf(events, applyEvents(events), (events.at(-1)?.at ?? 0) + 3_600_000);
}

/** The events that the edits of a plan take out. */
function taken(snapshot: PolicyInput): LogEvent[] {
  const edits = economistPolicy.plan(snapshot).plan?.edits ?? [];
  const covers = (edit: ContextEdit, seq: number) =>
    edit.type === "replace"
      ? edit.seq === seq
      : edit.type === "collapse" && edit.from <= seq && seq <= edit.to;
  return snapshot.events.filter(({ seq }) => edits.some((edit) => covers(edit, seq)));
}

function isTaken(snapshot: PolicyInput, toolUseId: string): boolean {
  return taken(snapshot).some((event) => event.type === "tool_result" && event.toolUseId === toolUseId);
}

describe("what is worth its place", () => {
  test("a search goes before a file that was read", () => {
    const bodies = [
      ...ran("search", "grep -rn handler src", lines("found", 200)),
      ...viewed("file", "/w/app/a.ts", 600),
    ];
    expect(isTaken(cold(bodies, 4), "search")).toBe(true);
    expect(isTaken(cold(bodies, 4), "file")).toBe(false);
    expect(isTaken(cold(bodies, 45), "file")).toBe(true);
  });

  test("a file that was quoted lately stays, one as old that was not goes", () => {
    const bodies = viewed("file", "/w/app/a.ts", 600);
    const waiting = Array.from({ length: 30 }, (_, index) => ran(`w${index}`, `grep -rn v${index} src`, "a"));
    const quote = ran("quote", "echo '\n/w/app/a.ts line 7 says something of its own\n'", "a");
    expect(isTaken(cold([...bodies, ...waiting.flat()], 3), "file")).toBe(true);
    expect(isTaken(cold([...bodies, ...waiting.flat(), ...quote], 2), "file")).toBe(false);
  });

  test("a failing test stays until one passes", () => {
    const failing = ran("test", "npm test", lines("fails", 200), true);
    expect(isTaken(cold(failing, 60), "test")).toBe(false);
    expect(isTaken(cold([...failing, ...ran("again", "npm test", "ok")], 60), "test")).toBe(true);
  });

  test("a file that the task under way names stays longer", () => {
    const task: Task = { text: "mend a.ts", status: "active" };
    const todo = [reply(call("todo", "todo", { items: [] })), listed("todo", task)];
    const bodies = viewed("file", "/w/app/a.ts", 600);
    const ages = Array.from({ length: 45 }, (_, index) => index + 1);
    const from = (all: EventBody[]) => ages.find((age) => isTaken(cold(all, age), "file")) ?? 99;
    expect(from([...bodies, ...todo])).toBeGreaterThan(1 + from(bodies));
  });

  test("neither the first observation, nor the newest task list, nor the newest step goes", () => {
    const todo = [
      reply(call("todo", "todo", { items: [] })),
      listed("todo", { text: "x".repeat(900), status: "open" }),
    ];
    const snapshot = cold([...todo, ...ran("old", "make", lines("made", 100))], 60);
    expect(isTaken(snapshot, "old")).toBe(true);
    for (const id of ["first", "todo", "s59"]) expect(isTaken(snapshot, id)).toBe(false);
  });
});

test("more caution keeps more", () => {
  const bodies = viewed("file", "/w/app/a.ts");
  const careful = [{ type: "settings_changed", context: "economist", engine: { caution: 400 } } as EventBody];
  expect(isTaken(cold(bodies, 45), "file")).toBe(true);
  expect(isTaken(cold([...careful, ...bodies], 45), "file")).toBe(false);
});

/** Steps of output that nobody uses, one after another, while all is cached. */
function warm(
  count: number,
  before: EventBody[] = [],
  history: "free" | "prefix_bound" = "free",
): PolicyInput {
  const steps = Array.from({ length: count }, (_, index) =>
    ran(`m${index}`, `make ${index}`, lines(`${index}`, 100)),
  );
  const opening = { ...started(testCard(history)), engine: { quietSteps: 0 } } as EventBody;
  const events = memoryLog([
    opening,
    user("go"),
    ...before,
    ...ran("first", "ls", "a"),
    ...steps.flat(),
  ]).events();
  return policyInputOf(events, applyEvents(events), (events.at(-1)?.at ?? 0) + 1000);
}

const flushes = (snapshot: PolicyInput) => economistPolicy.plan(snapshot).plan?.reason === "break-even";
const counts = Array.from({ length: 80 }, (_, index) => index + 6);

test("the first flush comes once all that is queued was carried for half of the session, on a bound history too", () => {
  const free = counts.find((count) => flushes(warm(count))) ?? 99;
  expect(free).toBeLessThan(40);
  expect(counts.find((count) => flushes(warm(count, [], "prefix_bound")))).toBeLessThan(free + 8);
  const edit = { type: "drop_thinking", before: 1 };
  const edited = { type: "context_edited", policy: "focus", reason: "test", edits: [edit], economics: {} };
  const later = counts.find((count) => flushes(warm(count, [edited as unknown as EventBody]))) ?? 99;
  expect(later).toBeGreaterThan(free);
});

test("a flush begins behind what is small and far up", () => {
  const small = ran("small", "make", lines("small", 12));
  const middle = user("x".repeat(80_000));
  const large = ran("large", "npm run all", lines("large", 2_000));
  const end = Array.from({ length: 6 }, (_, index) => ran(`e${index}`, `make ${index}`, "a"));
  const all = [started(testCard()), user("go"), ...ran("first", "ls", "a"), ...small, middle, ...large];
  const events = memoryLog([
    { ...all[0], engine: { quietSteps: 0 } } as EventBody,
    ...all.slice(1),
    ...end.flat(),
  ]).events();
  const snapshot = policyInputOf(events, applyEvents(events), (events.at(-1)?.at ?? 0) + 1000);
  expect(economistPolicy.plan(snapshot).plan?.reason).toBe("break-even");
  expect(isTaken(snapshot, "large")).toBe(true);
  expect(isTaken(snapshot, "small")).toBe(false);
});
