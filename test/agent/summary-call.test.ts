import { expect, onTestFinished, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { requestOfSummary } from "../../src/context/request/summary-call.ts";
import { allOf, currentModel, spending } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import type { Fault, ScriptedReply } from "../../src/models/playback/script.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { startMockServer } from "../support/mock-server.ts";

const isSummary = (body: string) => body.includes("Write a handoff.");
const cardOf = (id: string) => findCard(`anthropic/${id}`).card;

/** Twenty steps on `id`, with `others` offered for summaries; every request takes a long look at the clock. */
async function session(
  id: string,
  others: string[],
  { minutes = 0, fault }: { minutes?: number; fault?: Fault },
) {
  let step = 0;
  const server = await startMockServer({
    turns: (body): ScriptedReply => {
      const asked = isSummary(JSON.stringify(body.messages.at(-1)));
      if (asked) return { text: "Decisions: go on.", ...(fault && body.model !== id ? { fault } : {}) };
      step += 1;
      return step > 20
        ? { text: "done" }
        : { thinking: `${step}`, calls: [{ bash: { command: `make ${step}` } }] };
    },
  });
  onTestFinished(() => server.close());
  let now = Date.UTC(2026, 10, 20);
  const made = testAgent({
    turns: [],
    tools: [fakeTool("bash", ({ command }) => ({ content: `${command}\n${"some output\n".repeat(900)}` }))],
    context: "summary",
    realCard: cardOf(id),
    engine: { window: 60_000, summaryTurns: 4, summaryKeep: 3 },
    changes: {
      clock: () => {
        now += minutes * 60_000;
        return now;
      },
    },
  });
  const open = (card: ReturnType<typeof cardOf>) =>
    anthropicModel({ card, apiKey: "k", baseUrl: server.url });
  made.agent.model = open(cardOf(id));
  made.agent.summaries = { cards: others.map(cardOf), always: false, open };
  expect(await runTurn(made.agent, new AbortController().signal)).toBe("completed");
  const asked = server.exchanges.filter(({ rawBody }) => isSummary(rawBody));
  expect(server.exchanges.filter(({ status }) => ![200, fault?.status].includes(status))).toEqual([]);
  return { ...made, asked, models: asked.map(({ rawBody }) => JSON.parse(rawBody).model as string) };
}

test.each([
  ["claude-sonnet-4-6", 0, "claude-sonnet-4-6"],
  ["claude-sonnet-5-5", 0, "claude-sonnet-5-5"],
  ["claude-sonnet-4-6", 6, "claude-haiku-4-5"],
  ["claude-sonnet-5-5", 6, "claude-haiku-5-5"],
])(
  "a session on %s with pauses of %i minutes has its summaries written by %s, byte for byte as the log says",
  async (id, minutes, writer) => {
    const others = [id === "claude-sonnet-4-6" ? "claude-haiku-4-5" : "claude-haiku-5-5", "claude-opus-5-5"];
    const { agent, log, asked, models } = await session(id, others, { minutes });
    const calls = allOf(log.events(), "summary_call");
    expect(models.length).toBeGreaterThan(1);
    expect(new Set(models)).toEqual(new Set([writer]));
    asked.forEach(({ rawBody }, index) => {
      const request = requestOfSummary(log.events(), index + 1);
      expect(request && agent.model.encode(request)).toBe(rawBody);
      expect(calls[index]?.bodyHash).toBe(agent.hash(rawBody));
      expect(JSON.parse(rawBody).temperature).toBe(writer === "claude-haiku-4-5" ? 0 : undefined);
      expect(JSON.parse(rawBody).temperature).toBe(writer === "claude-haiku-4-5" ? 0 : undefined);
    });
    for (const call of calls) {
      expect(call).toMatchObject({ model: `anthropic/${writer}`, outcome: "accepted" });
      expect(call.price?.ownUsd).toBeGreaterThan(0);
      expect(call.price?.otherUsd).toBeGreaterThan(0);
    }
    // Each reply is billed at the prices of the model that wrote it.
    const replies = allOf(log.events(), "assistant_message").map(({ usage }) => ({ usage, id }));
    const dollars = [...replies, ...calls.map(({ usage }) => ({ usage, id: writer }))].map(
      ({ usage, id }) => {
        const { prices } = cardOf(id);
        const write =
          usage.cacheWrite5mTokens * prices.cacheWrite5m + usage.cacheReadTokens * prices.cacheRead;
        return (usage.inputTokens * prices.input + write + usage.outputTokens * prices.output) / 1e6;
      },
    );
    expect(spending(log.events()).cost).toBeCloseTo(
      dollars.reduce((sum, one) => sum + one, 0),
      9,
    );
    expect(currentModel(log.events()).model.id).toBe(`anthropic/${id}`);
  },
);

test("where the key has no access to the cheaper model, the own one is asked at once, and from then on", async () => {
  const fault = { status: 404 };
  const { log, models } = await session("claude-sonnet-5-5", ["claude-haiku-5-5"], { minutes: 6, fault });
  expect(models.slice(0, 2)).toEqual(["claude-haiku-5-5", "claude-sonnet-5-5"]);
  expect(models.slice(1).every((model) => model === "claude-sonnet-5-5")).toBe(true);
  const outcomes = allOf(log.events(), "summary_call").map(({ outcome }) => outcome);
  expect(outcomes.slice(0, 2)).toEqual(["failed", "accepted"]);
});
