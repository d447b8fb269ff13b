import { expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { allOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { withRetry } from "../../src/models/http/retry.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { startMockServer } from "../support/mock-server.ts";

test("a summary that falls silent is given up after two attempts, and the work goes on", async () => {
  let step = 0;
  const server = await startMockServer({
    pingMs: 50,
    turns: (body) => {
      if (JSON.stringify(body.messages.at(-1)).includes("Write a handoff."))
        return { text: "Decisions: none.", fault: { silentAfterEvents: 2 } };
      step += 1;
      return step > 12 ? { text: "done" } : { calls: [{ bash: { command: `make ${step}` } }] };
    },
  });
  const { card } = findCard("anthropic/claude-sonnet-5-5");
  const made = testAgent({
    turns: [],
    tools: [fakeTool("bash", ({ command }) => ({ content: `${command}\n${"output\n".repeat(60)}` }))],
    context: "summary",
    realCard: card,
    engine: { summaryTurns: 4, summaryKeep: 3 },
  });
  const model = anthropicModel({ card, apiKey: "k", baseUrl: server.url, idleMs: 300 });
  made.agent.model = withRetry(model, { sleep: async () => {}, random: () => 0 });
  expect(await runTurn(made.agent, new AbortController().signal)).toBe("completed");
  await server.close();
  const events = made.log.events();
  const calls = allOf(events, "summary_call");
  expect(calls[0]).toMatchObject({ outcome: "failed" });
  const silent = server.exchanges.filter(({ rawBody }) => rawBody.includes("Write a handoff."));
  expect(silent).toHaveLength(2 * calls.length);
  expect(silent.every(({ clientClosedAt }) => clientClosedAt !== undefined)).toBe(true);
  expect(allOf(events, "model_failed").some(({ kind }) => kind === "idle")).toBe(true);
});
