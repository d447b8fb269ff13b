import { afterEach, describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { contextSizes } from "../../src/context/report/curve.ts";
import { allOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { user } from "../support/logs.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";

const never = new AbortController().signal;
let server: MockServer | undefined;
afterEach(() => server?.close());

/** A session on the strict server whose process died in the middle of a call. */
async function killedSession(id: string) {
  const turns = [
    { thinking: "one", calls: [{ bash: { command: "ls" } }] },
    { thinking: "two", calls: [{ bash: { command: "make" } }, { bash: { command: "test" } }] },
    { thinking: "three", calls: [{ bash: { command: "pwd" } }] },
    { thinking: "four", text: "done" },
  ];
  const made = await startMockServer({ turns });
  server = made;
  const { card } = findCard(`anthropic/${id}`);
  let calls = 0;
  const bash = fakeTool("bash", () => {
    calls += 1;
    if (calls === 3) throw new Error("killed");
    return { content: "ran" };
  });
  const { agent, log } = testAgent({ turns: [], tools: [bash], context: "economist", realCard: card });
  agent.model = anthropicModel({ card, apiKey: "k", baseUrl: made.url });
  const append = log.append;
  // What `kill -9` leaves: the second reply is there, the result of its second call is not.
  log.append = (body) => {
    if (body.type === "warning") throw new Error("killed");
    return append(body);
  };
  await expect(runTurn(agent, never)).rejects.toThrow("killed");
  log.append = append;
  return { agent, log, made };
}

describe("a session that was killed in the middle of a call goes on", () => {
  test.each([
    ["claude-sonnet-4-6", "claude-sonnet-4-6", "high"],
    ["claude-sonnet-5-5", "claude-sonnet-5-5", "low"],
    ["claude-sonnet-4-6", "claude-sonnet-5", undefined],
    ["claude-sonnet-4-6", "claude-sonnet-5-5", undefined],
    ["claude-sonnet-5-5", "claude-opus-5-5", "high"],
  ])("from %s with %s and effort %s", async (from, to, effort) => {
    const { agent, log, made } = await killedSession(from);
    const { card } = findCard(`anthropic/${to}`);
    log.append({ type: "model_changed", model: card, ...(effort ? { effort } : {}) });
    log.append(user("continue"));
    agent.model = anthropicModel({ card, apiKey: "k", baseUrl: made.url });
    expect(await runTurn(agent, never)).toBe("completed");
    expect(made.exchanges.map((exchange) => exchange.error ?? exchange.status)).toEqual([200, 200, 200, 200]);
  });
});

test("two dozen calls of one reply share what is left of the window", async () => {
  const call = { bash: { command: "more" } };
  const made = testAgent({
    turns: [{ calls: Array.from({ length: 24 }, () => call) }, { calls: [call] }, { text: "done" }],
    tools: [
      fakeTool(
        "bash",
        () => ({ content: `${Math.random()} some words of a long line of output\n`.repeat(900) }),
        "read",
      ),
    ],
    context: "economist",
    card: ["free", { window: 40_000 }],
  });
  expect(await runTurn(made.agent, never)).toBe("completed");
  expect(Math.max(...contextSizes(made.log.events()))).toBeLessThan(24_000);
  expect(allOf(made.log.events(), "tool_result")).toHaveLength(25);
});
