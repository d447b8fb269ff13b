import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { brokenRules } from "../../src/context/rules/request.ts";
import { ModelError } from "../../src/core/ports.ts";
import { allOf, lastOf, spending } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { user } from "../support/logs.ts";

const never = new AbortController().signal;
const bash = (command: string) => ({ bash: { command } });

describe("a turn", () => {
  test("runs calls until the model rests, and a log rebuilds every request that was sent", async () => {
    const { agent, requests, log } = testAgent({
      turns: [{ calls: [bash("a"), bash("b")] }, { thinking: "hm", calls: [bash("c")] }, { text: "done" }],
    });
    expect(await runTurn(agent, never)).toBe("completed");
    expect(allOf(log.events(), "tool_result").map((event) => event.content)).toEqual([
      "ran a",
      "ran b",
      "ran c",
    ]);
    expect(requests).toHaveLength(3);
    requests.forEach((request, index) => {
      expect(requestOfStep(log.events(), index + 1)?.request).toEqual(request);
      expect(brokenRules(request)).toEqual([]);
    });
  });

  test("text typed while it works goes in at the next step, after the results", async () => {
    const queue = [{ content: [{ type: "text" as const, text: "use tabs" }] }];
    const { agent, requests } = testAgent({
      turns: [{ calls: [bash("a")] }, { text: "done" }],
      tools: [fakeTool("bash", () => ({ content: "ran" }))],
    });
    let asked = 0;
    agent.takeSteering = () => (asked++ === 1 ? queue.splice(0) : []);
    await runTurn(agent, never);
    expect(requests[1]?.messages.at(-1)?.content.map((block) => block.type)).toEqual(["tool_result", "text"]);
  });

  test("text typed during the last reply starts another step instead of being lost", async () => {
    const { agent, requests } = testAgent({ turns: [{ text: "done" }, { text: "also done" }] });
    let asked = 0;
    agent.takeSteering = () => (asked++ === 1 ? [{ content: [{ type: "text", text: "and this" }] }] : []);
    expect(await runTurn(agent, never)).toBe("completed");
    expect(requests).toHaveLength(2);
  });

  test("a call of an unknown tool, or with a wrong input, is told to the model and the turn goes on", async () => {
    const { agent, log } = testAgent({ turns: [{ calls: [{ fly: {} }] }, { text: "ok" }] });
    expect(await runTurn(agent, never)).toBe("completed");
    expect(lastOf(log.events(), "tool_result")).toMatchObject({ isError: true });
    expect(lastOf(log.events(), "tool_result")?.content).toContain("There is no tool fly");
  });

  test("a tool that throws costs only its own call", async () => {
    const tools = [
      fakeTool("bash", (input) => {
        if (input.command === "b") throw new Error("boom");
        return { content: "ran" };
      }),
    ];
    const { agent, log } = testAgent({
      turns: [{ calls: [bash("a"), bash("b"), bash("c")] }, { text: "ok" }],
      tools,
    });
    expect(await runTurn(agent, never)).toBe("completed");
    expect(allOf(log.events(), "tool_result").map((event) => event.isError)).toEqual([false, true, false]);
    expect(lastOf(log.events(), "warning")?.text).toContain("boom");
  });

  test("calls that only read run side by side, others one after the other", async () => {
    const spans: [string, number, number][] = [];
    let tick = 0;
    const run = async (input: Record<string, unknown>) => {
      const begin = tick++;
      await delay(20);
      spans.push([String(input.command), begin, tick++]);
      return { content: "ok" };
    };
    const overlapping = async (kind: "read" | "session") => {
      spans.length = 0;
      const turns = [{ calls: [bash("a"), bash("b")] }, { text: "ok" }];
      await runTurn(testAgent({ turns, tools: [fakeTool("bash", run, kind)] }).agent, never);
      return (spans[0]?.[2] ?? 0) > (spans[1]?.[1] ?? 0);
    };
    expect(await overlapping("read")).toBe(true);
    expect(await overlapping("session")).toBe(false);
  });

  test("a denied call is told to the model with its reason and logged", async () => {
    const { agent, log } = testAgent({ turns: [{ calls: [bash("rm x")] }, { text: "ok" }] });
    agent.permit = async () => ({
      decision: "deny",
      rule: "bash(rm:*)",
      by: "rule",
      reason: "rm is not allowed",
    });
    await runTurn(agent, never);
    expect(lastOf(log.events(), "tool_result")?.content).toContain("rm is not allowed");
    expect(lastOf(log.events(), "permission_decided")).toMatchObject({
      decision: "deny",
      rule: "bash(rm:*)",
    });
  });

  test("strings that are not valid Unicode never enter the log", async () => {
    const tools = [fakeTool("bash", () => ({ content: "cut \ud83d" }))];
    const { agent, requests } = testAgent({ turns: [{ calls: [bash("x \udc00")] }, { text: "ok" }], tools });
    await runTurn(agent, never);
    expect(requests.flatMap((request) => brokenRules(request))).toEqual([]);
  });
});

describe("interruption", () => {
  test("during a call: every call gets one result, and the next turn is valid", async () => {
    const controller = new AbortController();
    const tools = [
      fakeTool("bash", async (_, signal) => {
        setTimeout(() => controller.abort("user"), 10);
        await delay(5000, undefined, { signal }).catch(() => {});
        return { content: "cancelled by user", isError: true };
      }),
    ];
    const turns = [{ calls: [bash("a"), bash("b"), bash("c")] }, { text: "went on" }];
    const { agent, requests, log } = testAgent({ turns, tools });
    expect(await runTurn(agent, controller.signal)).toBe("interrupted");
    expect(allOf(log.events(), "tool_result")).toHaveLength(3);
    log.append(user("continue"));
    expect(await runTurn(agent, never)).toBe("completed");
    expect(brokenRules(requests[1] as never)).toEqual([]);
  });

  test("during a reply: what was said stays, thinking without its reply and calls do not", async () => {
    const { agent, log } = testAgent({ turns: [] });
    agent.model.send = async () => {
      throw new ModelError("aborted", "interrupted", { partial: [{ type: "text", text: "I was say" }] });
    };
    expect(await runTurn(agent, AbortSignal.abort("user"))).toBe("interrupted");
    const { agent: second, log: log2 } = testAgent({ turns: [] });
    second.model.send = agent.model.send;
    expect(await runTurn(second, never)).toBe("interrupted");
    expect(lastOf(log2.events(), "assistant_message")?.content).toEqual([
      { type: "text", text: "I was say" },
    ]);
    expect(lastOf(log.events(), "assistant_message")).toBeUndefined();
  });
});

describe("limits", () => {
  const endless = () => ({
    calls: [bash("again")],
    usage: { input: 10, cache_write: 20_000, cache_read: 50_000, output: 500 },
  });

  test("stops after exactly the allowed number of model calls, resumed turns included", async () => {
    const { agent, log } = testAgent({ turns: endless, changes: { limits: { maxTurns: 5 } } });
    expect(await runTurn(agent, never)).toBe("max_turns");
    expect(spending(log.events()).turns).toBe(5);
    log.append(user("continue"));
    expect(await runTurn(agent, never)).toBe("max_turns");
    expect(spending(log.events()).turns).toBe(5);
  });

  test("does not make the call that would pass the budget", async () => {
    const { agent, log } = testAgent({ turns: endless, changes: { limits: { maxBudgetUsd: 0.15 } } });
    expect(await runTurn(agent, never)).toBe("max_budget");
    const { cost, turns } = spending(log.events());
    expect(turns).toBe(2);
    expect(cost).toBeCloseTo(2 * 0.06502, 6);
  });

  test("a cut reply is not run; the model is asked to split it, at most three times", async () => {
    const { agent, log } = testAgent({ turns: () => ({ text: "long", stop: "max_tokens" }) });
    expect(await runTurn(agent, never)).toBe("output_limit");
    expect(allOf(log.events(), "reminder")).toHaveLength(3);
  });

  const query = (index: number) => ({ query: `q ${index}`, found: [`https://a.example/${index}`] });
  test.each<[string, (index: number) => ScriptedReply]>([
    ["after a word", (index) => ({ text: `I look ${index}.` })],
    ["after a search", (index) => ({ text: `I found ${index}.`, searches: [query(index)] })],
    ["in the middle of a search", (index) => ({ searches: [{ ...query(index), waits: true }] })],
  ])(
    "a reply that the API pauses again and again %s goes on ten times; a call begins anew",
    async (_, replyOf) => {
      const webSearch = { maxUses: 3, blockedDomains: [] };
      const pause = (index: number): ScriptedReply => ({ ...replyOf(index), stop: "pause_turn" });
      const endless = testAgent({ turns: (_, index) => pause(index), webSearch });
      expect(await runTurn(endless.agent, never)).toBe("output_limit");
      expect(endless.requests).toHaveLength(11);
      expect(lastOf(endless.log.events(), "turn_ended")?.detail).toBe(
        "the API paused the reply 11 times in a row",
      );
      const ended = (index: number): ScriptedReply => (index === 19 ? { text: "done" } : pause(index));
      const turns = (_: unknown, index: number) => (index === 9 ? { calls: [bash("a")] } : ended(index));
      expect(await runTurn(testAgent({ turns, webSearch }).agent, never)).toBe("completed");
    },
  );
});

test("a refused thinking signature costs all thinking once, and the turn goes on", async () => {
  const { agent, requests, log } = testAgent({
    turns: [{ thinking: "deep", calls: [bash("a")] }, { text: "done" }],
    card: ["prefix_bound"],
  });
  const send = agent.model.send;
  let refused = false;
  agent.model.send = async (request, ...rest) => {
    if (requests.length === 1 && !refused) {
      refused = true;
      throw new ModelError("bound_thinking", 'Invalid "signature" in "thinking" block');
    }
    return send(request, ...rest);
  };
  expect(await runTurn(agent, never)).toBe("completed");
  expect(JSON.stringify(requests.at(-1)?.messages)).not.toContain("deep");
  expect(requests.at(-1)?.blockBinding).toBe("drop_block");
  expect(allOf(log.events(), "warning")).toHaveLength(1);
});

test("a focus is folded before the next request", async () => {
  const big = "line\n".repeat(2000);
  const { startFocusTool, completeFocusTool } = await import("../../src/tools/session/focus.ts");
  const { agent, requests } = testAgent({
    turns: [
      { calls: [{ start_focus: { objective: "find it" } }] },
      { calls: [bash("cat")] },
      { calls: [{ complete_focus: { attempted: "cat", learned: "line 7", outcome: "fix" } }] },
      { text: "done" },
    ],
    tools: [fakeTool("bash", () => ({ content: big }))],
  });
  const file = `${agent.artifacts.folder}/knowledge.md`;
  agent.tools.push(startFocusTool({ description: "" }), completeFocusTool({ description: "", file }));
  await runTurn(agent, never);
  const sizes = requests.map((request) => JSON.stringify(request.messages).length);
  expect(sizes[2]).toBeGreaterThan(10_000);
  expect(sizes[3]).toBeLessThan(2_000);
  expect(JSON.stringify(requests[3])).toContain("line 7");
});
