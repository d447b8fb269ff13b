/** Which observations a later call made stale. */

import { describe, expect, test } from "vitest";
import { policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { supersedeCandidates, supersedePolicy } from "../../../src/context/policies/supersede.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { AssistantBlock } from "../../../src/core/blocks.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

let calls = 0;
function edit(command: string, path = "/w/a.ts", more: object = {}): AssistantBlock {
  return call(`e${++calls}`, "str_replace_editor", { command, path, ...more });
}
function bash(command: string): AssistantBlock {
  return call(`b${++calls}`, "bash", { command });
}

/** Each list of calls is a step; every call answers with 100 tokens, those of ids in `failed` with an error. */
function snap(steps: AssistantBlock[][], failed: readonly string[] = []) {
  const bodies = steps.flatMap((blocks): EventBody[] => [
    reply(...blocks),
    ...blocks.map((block) =>
      "id" in block ? result(block.id, "x".repeat(400), block.name, failed.includes(block.id)) : user(""),
    ),
  ]);
  const events = memoryLog([started(), user("go"), ...bodies]).events();
  return policyInputOf(events, applyEvents(events), 0);
}

/** Seqs of the stale results. With one call a step, the nth step (from 0) has its result at seq 3 + 2n. */
function stale(...steps: AssistantBlock[][]): number[] {
  return supersedeCandidates(snap(steps)).map((candidate) => candidate.edit.seq);
}

describe("reads of a file", () => {
  test("that was later written are stale", () => {
    for (const command of ["create", "str_replace", "insert"])
      expect(stale([edit("view")], [edit(command)], [bash("ls")])).toEqual([3]);
  });

  test("that was later read whole are stale, also when only a part was read", () => {
    const part = { view_range: [1, 9] };
    expect(stale([edit("view", "/w/a.ts", part)], [edit("view")], [bash("ls")])).toEqual([3]);
  });

  test("stay when only a part was read again", () => {
    expect(stale([edit("view")], [edit("view", "/w/a.ts", { view_range: [1, 9] })], [bash("ls")])).toEqual(
      [],
    );
  });

  test("stay when it was another file", () => {
    expect(stale([edit("view", "/w/b.ts")], [edit("create")], [edit("view")])).toEqual([]);
  });

  test("after the write stay", () => {
    expect(stale([edit("create")], [edit("view")], [bash("ls")])).toEqual([]);
  });

  test("in the same step as the write stay: which came first cannot be told", () => {
    expect(stale([edit("view"), edit("insert")], [bash("ls")])).toEqual([]);
  });
});

describe("repeated calls", () => {
  test("make every earlier result stale, however many other steps lie between", () => {
    expect(stale([bash("npm test")], [bash("ls")], [bash("npm test")], [bash("npm test")])).toEqual([3, 7]);
  });

  test("of another tool or with another input do not", () => {
    const other = call("o", "other", { command: "npm test" });
    expect(stale([bash("npm test")], [bash("npm test -- a")], [other])).toEqual([]);
  });

  test("of several calls in a step only the repeated one is stale", () => {
    expect(stale([bash("ls"), bash("pwd")], [bash("pwd")], [bash("id")])).toEqual([4]);
  });
});

test("results of the newest step are never taken", () => {
  expect(stale([bash("ls"), bash("ls")])).toEqual([]);
  expect(stale([bash("ls"), bash("ls")], [bash("ls")]).sort()).toEqual([3, 4]);
});

test("a call that failed makes nothing stale, but may be stale itself", () => {
  const steps = [[edit("view")], [{ ...edit("insert"), id: "bad" }], [bash("ls")]];
  expect(supersedeCandidates(snap(steps)).map((each) => each.edit.seq)).toEqual([3]);
  expect(supersedeCandidates(snap(steps, ["bad"]))).toEqual([]);
  const repeated = [[{ ...bash("a"), id: "bad" }], [bash("a")], [bash("ls")]];
  expect(supersedeCandidates(snap(repeated, ["bad"])).map((each) => each.edit.seq)).toEqual([3]);
});

test("what an edit answered is not a read of the file", () => {
  expect(stale([edit("insert")], [edit("create")], [edit("view")])).toEqual([]);
});

test("alone it edits at once, oldest first, and plans nothing where nothing is stale", () => {
  const steps = [[bash("a")], [bash("b")], [bash("a")], [bash("b")], [bash("c")]];
  const { plan } = supersedePolicy.plan(snap(steps));
  expect(plan?.edits.map((each) => "seq" in each && each.seq)).toEqual([3, 5]);
  expect(plan?.edits[0]).toMatchObject({ text: expect.stringContaining("events.jsonl") });
  expect(supersedePolicy.plan(snap([[bash("a")], [bash("b")]]))).toEqual({});
});
