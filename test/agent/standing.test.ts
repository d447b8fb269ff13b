/** Instructions that were read stay word for word: through masking, offload, folds, and summaries of no use. */

import { expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { policyInputOf } from "../../src/context/policies/policy-input.ts";
import { sessionReport } from "../../src/context/report/report.ts";
import { windowNow } from "../../src/context/report/window.ts";
import { composeRequest } from "../../src/context/request/compose.ts";
import { brokenEdits } from "../../src/context/rules/edits.ts";
import { checkRequest } from "../../src/context/rules/sequence.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import type { EventBody, EventOf } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ModelRequest } from "../../src/core/request.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { reportText } from "../../src/report/text/report.ts";
import { completeFocusTool, startFocusTool } from "../../src/tools/session/focus.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { call, memoryLog, reply, result, started, user } from "../support/logs.ts";

const never = new AbortController().signal;
const isSummary = (request: ModelRequest) =>
  JSON.stringify(request.messages.at(-1)).includes("Write a handoff.");
const skill = `Always sign with MARK-5.\n${"Count the lines.\n".repeat(400)}End of SKILL-5.`;
const nested = "Below /w/app/sub: RULE-6, tabs only.";

/** Reads a skill inside a focus, touches a folder with instructions, then works for 50 steps. */
function agentOn(context: string, history: "free" | "prefix_bound") {
  let step = 0;
  const turns = (request: ModelRequest): ScriptedReply => {
    if (isSummary(request)) return { text: "word ".repeat(20_000) };
    step += 1;
    if (step === 2) return { calls: [{ start_focus: { objective: "see" } }] };
    if (step === 3) return { calls: [{ str_replace_editor: { command: "view", path: "/w/s/SKILL.md" } }] };
    if (step === 4) return { calls: [{ bash: { command: "touch sub" } }] };
    if (step === 6) return { calls: [{ complete_focus: { attempted: "a", learned: "b", outcome: "c" } }] };
    if (step === 56) return { text: "done" };
    return { thinking: `think ${step}`, calls: [{ bash: { command: `make ${step}` } }] };
  };
  const made = testAgent({
    turns,
    context,
    card: [history],
    engine: { window: 24_000, summaryTurns: 4, summaryKeep: 3, offloadTokens: 1_000, maskKeep: 3 },
    tools: [
      fakeTool("bash", ({ command }) => ({
        content: `${command}\n${"some output\n".repeat(60)}`,
        stats: command === "touch sub" ? { read: ["/w/app/sub/x"] } : {},
      })),
      fakeTool("str_replace_editor", () => ({ content: skill, instructions: ["/w/s/SKILL.md"] })),
    ],
  });
  const file = `${made.agent.artifacts.folder}/knowledge.md`;
  made.agent.tools.push(startFocusTool({ description: "" }), completeFocusTool({ description: "", file }));
  made.agent.instructionsFor = ({ read }, told) =>
    read.includes("/w/app/sub/x") && !told.has("/w/app/sub/AGENTS.md")
      ? [{ path: "/w/app/sub/AGENTS.md", text: nested }]
      : [];
  return made;
}

test.each([
  ["economist", "prefix_bound"],
  ["masking", "free"],
  ["focus", "prefix_bound"],
  ["focus-top", "free"],
  ["summary", "free"],
  ["summary", "prefix_bound"],
  ["hybrid", "free"],
] as const)("under %s on a %s history", async (context, history) => {
  const made = agentOn(context, history);
  expect(await runTurn(made.agent, never)).toBe("completed");
  made.log.append(user("and now?"));
  const events = made.log.events();
  expect(allOf(events, "context_edited").length).toBeGreaterThan(0);
  if (context === "summary")
    expect(
      allOf(events, "summary_call").filter(({ outcome }) => outcome === "rejected").length,
    ).toBeGreaterThan(1);
  const sent = made.requests.filter((request) => !isSummary(request)).map((each) => JSON.stringify(each));
  const whole = [JSON.stringify(skill).slice(1, -1), JSON.stringify(nested).slice(1, -1)];
  const counts = sent.slice(5).map((body) => whole.map((words) => body.split(words).length - 1));
  expect(new Set(counts.map(String))).toEqual(new Set(["1,1"]));
  const view = applyEvents(events);
  expect(checkRequest(composeRequest(events, view), { events, view }).broken).toEqual([]);
  const items = windowNow(policyInputOf(events, view, 0)).largest;
  const cost = items.find(({ kind }) => kind === "instructions");
  expect(cost).toMatchObject({ what: "view /w/s/SKILL.md" });
  expect(cost?.tokens).toBeGreaterThan(1_000);
});

test("many instructions do not fill a small window: the oldest are results again, which is told, once", async () => {
  const texts = Array.from({ length: 6 }, (_, at) => `MARK-${at}\n${`Count the lines ${at}.\n`.repeat(400)}`);
  let step = 0;
  const made = testAgent({
    turns: () => {
      const at = step++;
      if (at < 6) return { calls: [{ str_replace_editor: { command: "view", path: `/w/s${at}/SKILL.md` } }] };
      return at < 40 ? { calls: [{ bash: { command: `make ${at}` } }] } : { text: "done" };
    },
    context: "masking",
    engine: { window: 24_000, maskKeep: 3 },
    tools: [
      fakeTool("bash", ({ command }) => ({ content: `${command}\n${"some output\n".repeat(60)}` })),
      fakeTool("str_replace_editor", ({ path }) => {
        const at = Number(String(path).slice(4, 5));
        return { content: texts[at] ?? "", instructions: [String(path)] };
      }),
    ],
  });
  expect(await runTurn(made.agent, never)).toBe("completed");
  const events = made.log.events();
  const last = JSON.stringify(made.requests.at(-1)?.messages);
  const whole = texts.map((text) => last.includes(JSON.stringify(text).slice(1, -1)));
  // The first observation of a session is never masked.
  expect(whole).toEqual([true, false, false, false, true, true]);
  const notes = allOf(events, "reminder").filter(({ released }) => released);
  expect(notes.flatMap(({ released = [] }) => released)).toHaveLength(4);
  expect(notes[0]?.text).toContain("/w/s0/SKILL.md");
  expect(allOf(events, "warning").map(({ code }) => code)).toEqual(notes.map(() => "instructions_released"));
  made.log.append(user("and now?"));
  const view = applyEvents(events);
  expect(checkRequest(composeRequest(events, view), { events, view }).broken).toEqual([]);
  const costs = sessionReport(events).instructions;
  expect(costs.map(({ paths }) => paths[0])).toEqual(["/w/s4/SKILL.md", "/w/s5/SKILL.md"]);
  for (const { tokens, requests, dollars } of costs) {
    expect(tokens).toBeGreaterThan(1_500);
    expect(requests).toBeGreaterThan(34);
    expect(dollars).toBeGreaterThan(0);
  }
  expect(reportText(events)).toMatch(/Instructions that were read, and stay .*\n {2}\/w\/s4\/SKILL\.md/);
});

test("an edit that shortens one breaks rule 6; one that shortens what was read before does not", () => {
  const read = (id: string, text: string): EventBody => ({
    ...(result(id, text) as EventOf<"tool_result">),
    instructions: ["/w/s/SKILL.md"],
  });
  const log = memoryLog([
    started(),
    user("go"),
    reply(call("a")),
    read("a", "old"),
    reply(call("b")),
    read("b", "new"),
  ]);
  log.append(reply(call("c")));
  const shortened = (seq: number) => {
    const from = log.events().length;
    log.append({
      type: "context_edited",
      ...{ policy: "test", reason: "", economics: {} },
      edits: [{ type: "replace", seq, block: 0, text: "gone" }],
    });
    return brokenEdits(log.events(), from, applyEvents(log.events())).map(({ rule }) => rule);
  };
  expect(shortened(3)).toEqual([]);
  expect(shortened(5)).toEqual([6]);
});
