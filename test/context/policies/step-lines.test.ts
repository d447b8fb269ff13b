/** Old steps as lines: which steps go, the words and facts that stay, and that the API accepts what is left. */

import { describe, expect, test } from "vitest";
import { type PolicyInput, policyInputOf } from "../../../src/context/policies/policy-input.ts";
import { lineBlocks, lineStepOf, stepLinesPolicy } from "../../../src/context/policies/step-lines.ts";
import { windowNow } from "../../../src/context/report/window.ts";
import { composeRequest } from "../../../src/context/request/compose.ts";
import { brokenEdits } from "../../../src/context/rules/edits.ts";
import { brokenRules } from "../../../src/context/rules/request.ts";
import { turnsIn } from "../../../src/context/view/turns.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { AssistantBlock } from "../../../src/core/blocks.ts";
import type { EventBody, EventOf } from "../../../src/core/events.ts";
import {
  call,
  listed,
  memoryLog,
  reply,
  result,
  started,
  testCard,
  text,
  thinking,
  user,
} from "../../support/logs.ts";

type Facts = Partial<Pick<EventOf<"tool_result">, "stats" | "artifact" | "isError" | "instructions">>;

const long = "a line of output\n".repeat(60);

/** One step with one command. */
function ran(command: string, facts: Facts = {}, content = long, said: AssistantBlock[] = []): EventBody[] {
  const id = `id-${command.slice(0, 20)}`;
  return [reply(...said, call(id, "bash", { command })), { ...result(id, content), ...facts } as EventBody];
}

function edited(input: Record<string, unknown>): EventBody[] {
  const id = `id-${JSON.stringify(input).length}`;
  return [reply(call(id, "str_replace_editor", input)), result(id, long, "str_replace_editor")];
}

const newest = ran("newest");

function snap(bodies: EventBody[], card = testCard()): PolicyInput {
  const events = memoryLog([started(card), user("go"), ...ran("first"), ...bodies, ...newest]).events();
  return policyInputOf(events, applyEvents(events), 0);
}

function blocksOf(snapshot: PolicyInput) {
  return lineBlocks(
    turnsIn(snapshot).flatMap((turn) => lineStepOf(turn, snapshot) ?? []),
    snapshot,
  );
}

/** The texts that stand for the steps between the first and the newest one, without their heads. */
function linesOf(...bodies: EventBody[][]): string[][] {
  return blocksOf(snap(bodies.flat())).map(({ edit }) => edit.text.split("\n").slice(1));
}

describe("the line of a call", () => {
  test("says what ran, how it ended, its last error line and the file with its output", () => {
    const failed: Facts = { isError: true, stats: { exitCode: 1 }, artifact: "/s/1/artifacts/000005.txt" };
    const output = `${long}AssertionError: 3 != 4\nexit 1`;
    expect(linesOf(ran("npm test", failed, output))).toEqual([
      ['bash npm test -> exit 1, "AssertionError: 3 != 4" · artifacts/000005.txt'],
    ]);
    expect(linesOf(ran("npm test", { stats: { exitCode: 0 } }))).toEqual([["bash npm test -> exit 0"]]);
    expect(linesOf(ran("make"))).toEqual([["bash make"]]);
  });

  test("counts the lines of an edit", () => {
    const path = "/w/app/a.ts";
    expect(linesOf(edited({ command: "str_replace", path, old_str: "a", new_str: "a\nb\nc\nd" }))).toEqual([
      [`edit ${path} +4 -1`],
    ]);
    expect(linesOf(edited({ command: "create", path, file_text: "x\n".repeat(9) }))).toEqual([
      [`create ${path} +10 -0`],
    ]);
    expect(linesOf(edited({ command: "view", path, view_range: [1, 9] }))).toEqual([[`view ${path}:1–9`]]);
  });

  test("keeps the first 120 characters of a command, on one line", () => {
    const command = `cat > a.py <<'E'\n${"print('x')\n".repeat(50)}E`;
    const [[line] = []] = linesOf(ran(command));
    expect(line).toMatch(/^bash cat > a\.py <<'E' ⏎ print\('x'\) ⏎ /);
    expect(line).toHaveLength("bash ".length + 121);
    const words = `echo ${"y".repeat(300)}`;
    expect(linesOf(ran(words))).toEqual([[`bash ${words.slice(0, 120)}…`]]);
  });
});

describe("a block of steps", () => {
  test("keeps the model's words as they were, and says where the log has the steps", () => {
    const words = "First I look.\n\n    Then I think twice.";
    const snapshot = snap([...ran("a", {}, long, [thinking("hm"), text(words)]), ...ran("b"), ...ran("c")]);
    const blocks = blocksOf(snapshot);
    expect(blocks.map(({ edit }) => edit)).toMatchObject([{ type: "collapse", from: 4, to: 9, lines: true }]);
    expect(blocks[0]?.edit.text).toBe(
      `[3 earlier steps in short; in full: lines 5 to 10 of /s/1/events.jsonl]\n${words}\nbash a\nbash b\nbash c`,
    );
  });

  test("ends at a person's message, a task list, an instruction and a focus", () => {
    const between = [
      user("and mind FIX-33"),
      ...[reply(call("t", "todo", { items: [] })), listed("t", { text: "x", status: "open" })],
      ...ran("cat AGENTS.md", { instructions: ["/w/app/AGENTS.md"] }),
      ...[reply(call("f", "start_focus", { objective: "why" })), result("f", "Focus opened.", "start_focus")],
    ];
    expect(linesOf(ran("a"), between, ran("b"))).toEqual([["bash a"], ["bash b"]]);
  });

  test("takes along what the engine said for the moment, but not what a person changed", () => {
    const reminder = (facts: object): EventBody => ({
      type: "reminder",
      channel: "logged",
      text: "hm",
      ...facts,
    });
    expect(linesOf(ran("a"), [reminder({ about: ["focus"] })], ran("b"))).toHaveLength(1);
    expect(
      linesOf(ran("a"), [reminder({ about: ["todo_changed"], todo: "- [ ] x" })], ran("b")),
    ).toHaveLength(2);
    expect(linesOf(ran("a"), [reminder({})], ran("b"))).toHaveLength(2);
  });

  test("is made only of whole steps that it shortens, never of the first or the newest", () => {
    expect(linesOf()).toEqual([]);
    expect(linesOf([reply(call("x"), call("y")), result("x", long)])).toEqual([]);
    expect(linesOf(ran("ls", {}, "a"))).toEqual([]);
    expect(linesOf([reply(call("x"), call("y")), result("y", long), result("x", long)])).toEqual([
      ["bash x", "bash y"],
    ]);
  });
});

describe.each(["free", "prefix_bound"] as const)("on a history that is %s", (history) => {
  const bodies = Array.from({ length: 30 }, (_, index) =>
    ran(`c${index}`, {}, long, [thinking(`t${index}`)]),
  );

  test("the policy takes 20 old steps at once, and the request is legal", () => {
    expect(stepLinesPolicy.plan(snap(bodies.slice(0, 28).flat(), testCard(history))).plan).toBeUndefined();
    const snapshot = snap(bodies.slice(0, 29).flat(), testCard(history));
    const { plan } = stepLinesPolicy.plan(snapshot);
    expect(plan?.edits).toMatchObject([{ type: "collapse", from: 4, to: 43, lines: true }]);
    const log = memoryLog(snapshot.events);
    log.append({ type: "context_edited", ...plan } as EventBody);
    const events = log.events();
    const view = applyEvents(events);
    expect(brokenEdits(events, events.length - 1, view)).toEqual([]);
    const { request } = composeRequest(events, view);
    expect(brokenRules(request)).toEqual([]);
    const body = JSON.stringify(request.messages);
    expect(body).toContain("bash c0\\nbash c1\\n");
    expect(body.includes('"t25"')).toBe(history === "free");
    const actions = windowNow(policyInputOf(events, view, 0), 50).largest.filter(
      ({ kind }) => kind === "actions",
    );
    expect(actions.find(({ what }) => what.startsWith("20 earlier steps in short"))?.advice).toBe(
      "kept: lines for earlier steps",
    );
  });
});
