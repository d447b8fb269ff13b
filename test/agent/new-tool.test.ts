/** A tool that nothing else in the source knows: it describes itself, and everybody who shows its calls uses that. */

import { expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { unknownCallFacts } from "../../src/agent/tool-calls.ts";
import { permitAsking } from "../../src/app/permissions.ts";
import { stepLines } from "../../src/cli/headless/steps.ts";
import { decisionsOf } from "../../src/context/report/decisions.ts";
import { repeatsByStep } from "../../src/context/report/elongation.ts";
import { callText } from "../../src/context/report/window.ts";
import type { ToolUseBlock } from "../../src/core/blocks.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf, findCall } from "../../src/core/questions.ts";
import { exportOf } from "../../src/report/export/parts.ts";
import { initialState, reduce } from "../../src/tui/app/state.ts";
import { resultRows } from "../../src/tui/blocks/tool-rows.ts";
import { pendingQuestion } from "../../src/tui/dialogs/dialog.ts";
import { dialogRows } from "../../src/tui/dialogs/dialog-view.ts";
import type { Question } from "../../src/tui/ports/session.ts";
import { plain } from "../../src/tui/rows/rows.ts";
import { fakeTool, testAgent } from "../support/agents.ts";

const rename = {
  ...fakeTool("rename_file", () => ({ content: "renamed" })),
  describe: ({ from, to }: Record<string, unknown>) => ({ verb: "rename", subject: `${from} to ${to}` }),
  touches: ({ from, to }: Record<string, unknown>) => ({
    kind: "writes" as const,
    paths: [String(from), String(to)],
  }),
  access: () => ({ kind: "write" as const, paths: ["/w/a", "/w/b"] }),
};
const around = { cwd: "/w", columns: 80 };

async function renameOnce() {
  const questions: Question[] = [];
  const standing = { list: () => [], add: () => {}, locations: { session: "", project: "", user: "" } };
  const rules = () => ({
    ...{ mode: "ask" as const, allow: [], deny: [], workspace: ["/w"], home: "/h", protectedPaths: [] },
    standing,
  });
  const ask = async (question: Question) => {
    questions.push(question);
    return { decision: "allow" as const };
  };
  const call = { rename_file: { from: "/w/a", to: "/w/b" } };
  const { agent, log } = testAgent({
    turns: [{ calls: [call] }, { text: "done" }],
    tools: [rename],
    changes: { permit: permitAsking(rules, ask, standing) },
  });
  await runTurn(agent, new AbortController().signal);
  const events = log.events();
  const [result] = allOf(events, "tool_result");
  if (!result) throw new Error("the call has no result");
  return { agent, events, result, question: questions[0] };
}

test("a tool that describes its calls is named so on the screen and in the permission question", async () => {
  const { agent, events, result, question } = await renameOnce();
  const call = findCall(events, result.toolUseId);
  expect(call && resultRows(result, call, around).map(plain)[0]).toContain("✓ rename a to /w/b");
  expect(question?.facts).toMatchObject({ verb: "rename", kind: "writes" });
  const [reply] = allOf(events, "assistant_message");
  const size = { columns: 80, rows: 24 };
  const folders = { cwd: "/w", shortCwd: "/w" };
  const describe = (call: ToolUseBlock) => unknownCallFacts(agent, call);
  const before = initialState({
    size,
    mode: "ask",
    location: folders,
    commands: [],
    typed: [],
    events: events.slice(0, 1),
    describe,
  });
  const { state } = reduce(before, { type: "event", event: reply as LogEvent, events });
  expect(state.running[0]?.facts).toMatchObject({ verb: "rename", subject: "/w/a to /w/b" });
  const asked = pendingQuestion(1, question as Question);
  expect(dialogRows(asked, around, 20).map(plain)[0]).toContain("Rename a to /w/b?");
});

test("a tool that describes its calls is named so in reports, exports and verbose steps, from the log alone", async () => {
  const { events, result } = await renameOnce();
  expect(result.call).toEqual({
    verb: "rename",
    subject: "/w/a to /w/b",
    kind: "writes",
    paths: ["/w/a", "/w/b"],
  });
  const call = findCall(events, result.toolUseId);
  expect(call && callText(call, result.call)).toBe("rename /w/a to /w/b");
  expect(decisionsOf(events).rows[0]?.what).toBe("rename /w/a to /w/b");
  expect(exportOf(events, (text) => text).parts).toContainEqual(
    expect.objectContaining({ tool: "rename", subject: "/w/a to /w/b" }),
  );
  expect(stepLines(result, events)[0]).toMatch(/✓ rename +\/w\/a to \/w\/b/);
  expect(repeatsByStep(events)[0]).toMatchObject({ rereads: 0, repeats: 0 });
});
