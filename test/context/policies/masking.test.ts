/** Which observations masking takes, and what stands in their place. */

import { describe, expect, test } from "vitest";
import { maskCandidates, maskingPolicy } from "../../../src/context/policies/masking.ts";
import { type PolicyInput, policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { EventBody, EventOf, Rejection } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

function snap(bodies: EventBody[], engine: Record<string, number> = {}): PolicyInput {
  const events = memoryLog([{ ...started(), engine } as EventBody, user("go"), ...bodies]).events();
  return policyInputOf(events, applyEvents(events), 0);
}

type Facts = Partial<Pick<EventOf<"tool_result">, "stats" | "artifact" | "isError" | "rejected">>;

/** One turn. The nth turn (from 0) has its reply at seq 2 + 2n and its result at seq 3 + 2n. */
function turn(command: string, content = "x".repeat(400), facts: Facts = {}): EventBody[] {
  return [reply(call(command)), { ...result(command, content), ...facts } as EventBody];
}

function turns(count: number): EventBody[] {
  return Array.from({ length: count }, (_, index) => turn(`c${index}`)).flat();
}

/** The same command again, under an id of its own. */
function again(id: string, command: string): EventBody[] {
  return [reply(call(id, "bash", { command })), result(id, "x".repeat(400))];
}

function seqs(bodies: EventBody[], keep: number): number[] {
  return maskCandidates(snap(bodies), keep).map(({ edit }) => edit.seq);
}

describe("which observations are taken", () => {
  test("those older than the newest M turns, but never the session's first", () => {
    expect(seqs(turns(6), 2)).toEqual([5, 7, 9]);
    expect(seqs(turns(3), 2)).toEqual([]);
  });

  test("a turn that repeats the one before does not count towards the newest M", () => {
    // c4 is repeated twice: the newest two effective turns are c3 and c4 with its repetitions.
    const log = [...turns(5), ...again("r1", "c4"), ...again("r2", "c4")];
    expect(seqs(log, 2)).toEqual([5, 7]);
    const varied = [...turns(5), ...again("r1", "other"), ...again("r2", "another")];
    expect(seqs(varied, 2)).toEqual([5, 7, 9, 11]);
  });

  test("a turn whose call was refused before it ran does not count either", () => {
    const text = "x".repeat(400);
    const refused = (rejected?: Rejection) => [
      ...turns(5),
      ...turn("bad", text, rejected ? { rejected } : {}),
    ];
    expect(seqs(refused("invalid_input"), 2)).toEqual([5, 7]);
    expect(seqs(refused("unknown_tool"), 2)).toEqual([5, 7]);
    expect(seqs(refused(), 2)).toEqual([5, 7, 9]);
  });

  test("turns that called no tool are no turns", () => {
    const chat: EventBody[] = [reply({ type: "text", text: "done" }), user("more")];
    expect(seqs([...turns(5), ...chat], 2)).toEqual([5, 7]);
  });

  test("nothing that would not get shorter", () => {
    const log = [...turns(1), ...turn("short", "ok"), ...turn("long"), ...turn("new")];
    expect(seqs(log, 1)).toEqual([7]);
  });

  test("nothing that was edited before, though it could get shorter still", () => {
    const edited: EventBody = {
      type: "context_edited",
      policy: "offload",
      reason: "",
      edits: [{ type: "replace", seq: 5, block: 0, text: "the first lines ".repeat(20) }],
      economics: {},
    };
    expect(seqs([...turns(4), edited], 2)).toEqual([]);
  });

  test("the tokens that a candidate removes are those that the view then lacks", () => {
    const before = snap(turns(4));
    const [candidate] = maskCandidates(before, 2);
    if (!candidate) throw new Error("nothing to mask");
    const edits = [candidate.edit];
    const after = snap([
      ...turns(4),
      { type: "context_edited", policy: "", reason: "", edits, economics: {} },
    ]);
    expect(before.view.tokens - after.view.tokens).toBe(candidate.removes);
  });
});

describe("what stands in their place", () => {
  /** The placeholder of a result at seq 5, whose word is "omitted". */
  const placeholderOf = (content: string, facts: Facts): string =>
    maskCandidates(snap([...turns(1), ...turn("t", content, facts), ...turns(1)]), 1)[0]?.edit.text ?? "";
  const long = "one line\n".repeat(100);

  test("a failure keeps its exit status and its last error line", () => {
    const content = `${long}TypeError: early\n${long}AssertionError: 3 != 4\n  at test.js\n[exit 1]`;
    expect(
      placeholderOf(content, { stats: { exitCode: 1, lines: 214 }, artifact: "artifacts/000123.txt" }),
    ).toBe('[214 lines omitted: exit 1, "AssertionError: 3 != 4" — artifacts/000123.txt]');
  });

  test("a failure that names no error keeps its last line, and at most 200 characters of it", () => {
    const marker = placeholderOf(`${long}${"z".repeat(300)}\n[exit 2]`, { stats: { exitCode: 2 } });
    expect(marker).toContain(`exit 2, "${"z".repeat(200)}" — `);
  });

  test("a failure without an exit status is still one", () => {
    expect(placeholderOf(`${long}No such file`, { isError: true, artifact: "a.txt" })).toBe(
      '[101 lines omitted: failed, "No such file" — a.txt]',
    );
  });

  test("a success says nothing of its last line", () => {
    expect(placeholderOf(`${long}0 errors`, { stats: { exitCode: 0, lines: 101 }, artifact: "a.txt" })).toBe(
      "[101 lines omitted — a.txt]",
    );
  });

  test("it names the artifact, else the file that was read, else the line of the log", () => {
    const read = { read: ["/w/app/a.ts"] };
    expect(placeholderOf(long, { artifact: "artifacts/1.txt", stats: read })).toMatch(
      / — artifacts\/1\.txt\]$/,
    );
    expect(placeholderOf(long, { stats: read })).toMatch(/ — \/w\/app\/a\.ts\]$/);
    expect(placeholderOf(long, {})).toMatch(/ — line 6 of \/s\/1\/events\.jsonl\]$/);
  });

  test("its wording varies from result to result, and is the same every time", () => {
    const texts = (): string[] => maskCandidates(snap(turns(7)), 1).map(({ edit }) => edit.text);
    expect(new Set(texts().map((text) => text.replace(/ —.*/, ""))).size).toBe(5);
    expect(texts()).toEqual(texts());
  });
});

describe("masking alone", () => {
  test("begins with the first turn that is old enough", () => {
    expect(maskingPolicy.plan(snap(turns(11)))).toEqual({});
    const { plan } = maskingPolicy.plan(snap(turns(12)));
    expect(plan?.edits).toMatchObject([{ type: "replace", seq: 5, block: 0 }]);
    expect(plan?.economics.removedTokens).toBeGreaterThan(50);
  });

  test("waits for a batch when one is set", () => {
    const engine = { maskKeep: 1, maskBatch: 2 };
    expect(maskingPolicy.plan(snap(turns(3), engine))).toEqual({});
    expect(maskingPolicy.plan(snap(turns(4), engine)).plan?.edits).toHaveLength(2);
  });
});
