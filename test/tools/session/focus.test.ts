import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runTurn } from "../../../src/agent/loop.ts";
import { allOf } from "../../../src/core/questions.ts";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import { completeFocusTool, startFocusTool } from "../../../src/tools/session/focus.ts";
import { fakeTool, testAgent } from "../../support/agents.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-focus-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const start = (objective = "find the cause") => ({ start_focus: { objective } });
const complete = (changes = {}) => ({
  complete_focus: { attempted: "grep", learned: "it is in a.ts:3", outcome: "fix it", ...changes },
});
const bash = { bash: { command: "ls" } };

/** The results of a session that makes these calls, one reply each. */
async function resultsOf(...replies: Record<string, Record<string, unknown>>[][]) {
  const turns: ScriptedReply[] = [...replies.map((calls) => ({ calls })), { text: "done" }];
  const file = join(folder, "knowledge.md");
  const tools = [
    fakeTool("bash", () => ({ content: "a.ts" })),
    startFocusTool({ description: "" }),
    completeFocusTool({ description: "", file }),
  ];
  const { agent, log } = testAgent({ turns, tools });
  await runTurn(agent, new AbortController().signal);
  return allOf(log.events(), "tool_result").map(({ isError, content }) => ({ isError, content }));
}

test("a closed focus is kept in knowledge.md, one after the other", async () => {
  const results = await resultsOf([start("one")], [complete()], [start("two")], [complete()]);
  expect(results.map((result) => result.isError)).toEqual([false, false, false, false]);
  const kept = readFileSync(join(folder, "knowledge.md"), "utf8");
  expect(kept.match(/^## .*/gm)).toEqual(["## one", "## two"]);
  expect(kept).toContain("Learned: it is in a.ts:3");
});

test("a focus inside a focus is refused, with the name of the open one and the way out", async () => {
  const [, refused] = await resultsOf([start("outer")], [start("inner")]);
  expect(refused).toMatchObject({ isError: true, content: expect.stringContaining('"outer"') });
  expect(refused?.content).toContain("complete_focus");
});

test("closing what is not open is refused, with what to do instead", async () => {
  const [refused] = await resultsOf([complete()]);
  expect(refused).toMatchObject({ isError: true, content: expect.stringContaining("start_focus") });
});

test("both must be alone in their reply: a neighbour's result would be folded away unread", async () => {
  const opened = await resultsOf([start(), bash]);
  expect(opened.map((result) => result.isError)).toEqual([true, false]);
  const closed = await resultsOf([start()], [bash, complete()]);
  expect(closed.map((result) => result.isError)).toEqual([false, false, true]);
});

test("empty words are refused by name, and the focus stays open", async () => {
  const results = await resultsOf(
    [start(" ")],
    [start()],
    [complete({ learned: "\n", outcome: "" })],
    [complete()],
  );
  expect(results.map((result) => result.isError)).toEqual([true, false, true, false]);
  expect(results[2]?.content).toContain("learned, outcome");
});
