/** Results and inputs that are too large to carry on become pointers. */

import { describe, expect, test } from "vitest";
import { offloadCandidates, offloadPolicy } from "../../../src/context/policies/offload.ts";
import { inputCandidates, offloadInputsPolicy } from "../../../src/context/policies/offload-inputs.ts";
import { policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { AssistantBlock } from "../../../src/core/blocks.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, testCard, text, user } from "../../support/logs.ts";

function snap(bodies: EventBody[], engine: Record<string, number> = {}, more: object = {}) {
  const events = memoryLog([{ ...started(), engine, ...more } as EventBody, user("go"), ...bodies]).events();
  return policyInputOf(events, applyEvents(events), 0);
}

const newest: EventBody[] = [reply(call("n")), result("n", "ok")];

/** A result at seq 3 whose block is `tokens` tokens, in lines of 100 bytes. */
function large(tokens: number): EventBody[] {
  const content = `${"x".repeat(99)}\n`.repeat(Math.ceil(tokens / 25)).slice(0, 4 * (tokens - 12));
  return [reply(call("a")), { ...result("a", content), artifact: "artifacts/1.txt" } as EventBody];
}

function seqs(bodies: EventBody[], engine?: Record<string, number>, more?: object): number[] {
  return offloadCandidates(snap(bodies, engine, more)).map((candidate) => candidate.edit.seq);
}

describe("offload", () => {
  test("takes results above 20,000 tokens as published, where the soft window is that large", () => {
    const card = { model: testCard("free", { window: 1_000_000 }) };
    expect(seqs([...large(20_000), ...newest], {}, card)).toEqual([]);
    expect(seqs([...large(20_001), ...newest], {}, card)).toEqual([3]);
    expect(seqs([...large(7001), ...newest], { offloadTokens: 7000 }, card)).toEqual([3]);
  });

  test("or above a twentieth of a smaller soft window", () => {
    expect(seqs([...large(3000), ...newest], { window: 60_000 })).toEqual([]);
    expect(seqs([...large(3001), ...newest], { window: 60_000 })).toEqual([3]);
  });

  test("as the API counts them: an estimate that is half of the truth halves the limit", () => {
    const sent: EventBody = { type: "model_request", bodyHash: "", tokensEstimated: 50, cacheAfter: [] };
    // `reply` reports 100 tokens of input; a twentieth of the soft window is 6,000.
    expect(seqs([...large(3000), sent, ...newest])).toEqual([]);
    expect(seqs([...large(3001), sent, ...newest])).toEqual([3]);
  });

  test("leaves the first ten lines, how many there were, and where they are", () => {
    const content = Array.from({ length: 3000 }, (_, index) => `line ${index} ${"x".repeat(30)}`).join("\n");
    const [candidate] = offloadCandidates(snap([reply(call("a")), result("a", content), ...newest]));
    const lines = candidate?.edit.text.split("\n") ?? [];
    expect(lines.slice(0, 10)).toEqual(content.split("\n").slice(0, 10));
    expect(lines.slice(10)).toEqual(["[3000 lines in all — line 4 of /s/1/events.jsonl]"]);
  });

  test("leaves at most 2,000 characters of one endless line, and no half of a character", () => {
    const content = `a${"😀".repeat(30_000)}`;
    const [candidate] = offloadCandidates(snap([reply(call("a")), result("a", content), ...newest]));
    const head = candidate?.edit.text.split("\n")[0] ?? "";
    expect(head).toHaveLength(2000);
    expect(head.isWellFormed()).toBe(true);
  });

  test("leaves the newest step and the user's words alone", () => {
    expect(seqs(large(30_000))).toEqual([]);
    expect(seqs([user("z".repeat(120_000)), ...newest, ...newest])).toEqual([]);
  });

  test("leaves alone what was edited before, however large it still is", () => {
    expect(offloadPolicy.plan(snap([...large(30_000), ...newest])).plan?.policy).toBe("offload");
    const edited: EventBody = {
      type: "context_edited",
      policy: "other",
      reason: "",
      edits: [{ type: "replace", seq: 3, block: 0, text: "z".repeat(8000) }],
      economics: {},
    };
    expect(offloadPolicy.plan(snap([...large(30_000), ...newest, edited], { window: 100 }))).toEqual({});
  });
});

describe("offload-inputs", () => {
  const edit = (id: string, command = "create", body = "y".repeat(800)): AssistantBlock =>
    call(id, "str_replace_editor", { command, path: "/w/a", file_text: body });
  const answered = (...blocks: AssistantBlock[]): EventBody[] => [
    reply(...blocks),
    ...blocks.flatMap((block) => ("id" in block ? [result(block.id, "ok")] : [])),
  ];

  test("begins at 85 % of the soft window", () => {
    const log = [...answered(edit("w")), ...newest];
    const full = Math.floor(snap(log).expected / 0.85);
    expect(offloadInputsPolicy.plan(snap(log, { window: full })).plan?.edits).toMatchObject([{ seq: 2 }]);
    expect(offloadInputsPolicy.plan(snap(log, { window: full + 1 }))).toEqual({});
  });

  test("takes the editor's long inputs only, wherever they stand in a reply", () => {
    const log = [
      ...answered(text("so"), edit("w"), call("b", "bash", { command: "z".repeat(800) }), edit("v")),
      ...answered(edit("short", "create", "y".repeat(240))),
      ...newest,
    ];
    expect(inputCandidates(snap(log)).map(({ edit: { seq, block } }) => [seq, block])).toEqual([
      [2, 1],
      [2, 3],
    ]);
  });

  test("leaves the newest step alone", () => {
    expect(inputCandidates(snap(answered(edit("w"))))).toEqual([]);
  });

  test("keeps the command and the path, and frees as many tokens as it says; once", () => {
    const log = [...answered(edit("w")), ...newest];
    const before = snap(log);
    const [candidate] = inputCandidates(before);
    if (!candidate) throw new Error("nothing to shorten");
    const edits = [candidate.edit];
    const after = snap([...log, { type: "context_edited", policy: "", reason: "", edits, economics: {} }]);
    expect(after.view.entries[1]?.blocks[0]).toMatchObject({
      input: { command: "create", path: "/w/a", omitted: expect.stringContaining("on disk") },
    });
    expect(JSON.stringify(after.view)).not.toContain("yyy");
    expect(before.view.tokens - after.view.tokens).toBe(candidate.removes);
    expect(inputCandidates(after)).toEqual([]);
  });
});
