/** Tools that are not possible now: refused when called, and withdrawn where the provider can do that. */

import { afterEach, describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { declaredTools } from "../../src/app/start-log.ts";
import { dueGate } from "../../src/context/reminders/gating.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import type { EventBody } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { openaiModel } from "../../src/models/openai/openai.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { memoryLog, started, testCard } from "../support/logs.ts";
import { type OpenaiTurn, startOpenaiServer } from "../support/mock-openai.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import { withOwnTools } from "../support/own-tools.ts";

const never = new AbortController().signal;
const close = { complete_focus: { attempted: "a", learned: "b", outcome: "c" } };
const open = { start_focus: { objective: "look" } };
const bash = (command: string) => ({ bash: { command } });

let server: MockServer | undefined;
afterEach(() => server?.close());

/** A session with the tools declared, as the wiring does. */
function session(options: Parameters<typeof withOwnTools>[0]) {
  const made = withOwnTools(options);
  const first = made.log.events()[0];
  if (first?.type === "session_started") first.tools = declaredTools(made.agent.tools, first.model);
  return made;
}

const changesIn = (body: string) =>
  [
    ...body.matchAll(/"type":"(tool_(?:removal|addition))","tool":\{"type":"tool_reference","name":"(\w+)"/g),
  ].map(([, type, name]) => `${type} ${name}`);

const confused: ScriptedReply[] = [
  { thinking: "one", calls: [close] },
  { thinking: "two", calls: [close] },
  { thinking: "three", calls: [bash("look")] },
  { calls: [open] },
  { thinking: "inside", calls: [open] },
  { calls: [open] },
  { calls: [bash("inside")] },
  { thinking: "enough", calls: [close] },
  { calls: [open] },
  { calls: [close] },
  { text: "done" },
];

describe("a focus tool that is called twice in vain", () => {
  test("is withdrawn on a bound model, is offered again when it is possible, and nothing is refused", async () => {
    const { card } = findCard("anthropic/claude-sonnet-5-5");
    server = await startMockServer({ turns: confused });
    const { agent, log } = session({ turns: [], realCard: card });
    agent.model = anthropicModel({ card, apiKey: "k", baseUrl: server.url });
    expect(await runTurn(agent, never)).toBe("completed");
    expect(server.exchanges.map(({ error, status }) => error ?? status)).toEqual(Array(11).fill(200));
    expect(allOf(log.events(), "tools_gated").map((event) => event.withdrawn)).toEqual([
      ["complete_focus"],
      [],
      ["start_focus"],
      [],
    ]);
    const bodies = server.rawBodies.map(changesIn);
    expect(bodies[1]).toEqual([]);
    expect(bodies[2]).toEqual(["tool_removal complete_focus"]);
    expect(bodies[4]).toEqual(["tool_removal complete_focus", "tool_addition complete_focus"]);
    // After the fold, what was withdrawn inside the focus is offered: the net of both is that nothing is said.
    expect(bodies[8]).toEqual(["tool_removal complete_focus", "tool_addition complete_focus"]);
    expect(allOf(log.events(), "warning")).toEqual([]);
    for (const { headers } of server.exchanges)
      expect(headers["anthropic-beta"]).toContain("mid-conversation-tool-changes-2026-07-01");
  });

  test("is left out of the allowed tools of OpenAI's own models, while the tool array stays", async () => {
    const call = (name: string, input: object) => ({ calls: [{ name, args: JSON.stringify(input) }] });
    const turns: OpenaiTurn[] = [
      call("complete_focus", close.complete_focus),
      call("complete_focus", close.complete_focus),
      call("start_focus", open.start_focus),
      { text: "done" },
    ];
    const openai = await startOpenaiServer(...turns);
    const { card } = findCard("openai/gpt-6.1-sol");
    const made = session({ turns: [], realCard: card });
    const model = openaiModel({ card, apiKey: "k", baseUrl: openai.url });
    // The official host's dialect, sent to the test server.
    const official = openaiModel({ card, apiKey: "k" });
    made.agent.model = { ...model, encode: official.encode };
    expect(await runTurn(made.agent, never)).toBe("completed");
    await openai.close();
    expect(openai.received.map(({ refused }) => refused)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    const choices = openai.requests.map((body) => JSON.stringify(body.tool_choice ?? null));
    expect(choices[1]).toBe("null");
    expect(choices[2]).toContain('"allowed_tools"');
    expect(choices[2]).not.toContain("complete_focus");
    expect(choices[2]).toContain("start_focus");
    expect(choices[3]).toBe("null");
    expect(new Set(openai.requests.map((body) => JSON.stringify(body.tools))).size).toBe(1);
  });

  test("is only refused where the provider cannot withdraw it", async () => {
    const { agent, log } = session({ turns: [...confused.slice(0, 3), { text: "done" }], card: ["free"] });
    expect(await runTurn(agent, never)).toBe("completed");
    expect(allOf(log.events(), "tools_gated")).toEqual([]);
    const refused = allOf(log.events(), "tool_result").filter((event) => event.isError);
    expect(refused.map((event) => event.toolName)).toEqual(["complete_focus", "complete_focus"]);
  });
});

test("a tool that is not declared is never withdrawn", () => {
  const gating = testCard("prefix_bound");
  gating.contract = { ...gating.contract, toolGating: "tool_changes" };
  const vain: EventBody[] = [1, 2].map((id) => ({
    type: "tool_result",
    toolUseId: `c${id}`,
    toolName: "complete_focus",
    content: "There is no tool complete_focus.",
    isError: true,
  }));
  const due = (tools: string[]) => {
    const first = started(gating);
    if (first.type === "session_started")
      first.tools = tools.map((name) => ({ name, description: "", input_schema: {} }));
    const events = memoryLog([first, ...vain]).events();
    return dueGate(events, applyEvents(events));
  };
  expect(due(["bash"])).toBeUndefined();
  expect(due(["bash", "complete_focus"])).toEqual(["complete_focus"]);
});
