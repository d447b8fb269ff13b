/** Sessions whose server wants something back with each call: through edits, a resume and other models, none is refused. */

import { expect, onTestFinished, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { composeRequest, requestOfStep } from "../../src/context/request/compose.ts";
import { summaryRequest } from "../../src/context/request/summary-call.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import type { ModelCard } from "../../src/core/model-card.ts";
import type { Model } from "../../src/core/ports.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import { type Dialect, dialects } from "../../src/models/openai/dialects.ts";
import { openaiModel } from "../../src/models/openai/openai.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { memoryLog, user } from "../support/logs.ts";
import type { Maker } from "../support/mock-carried.ts";
import { type OpenaiTurn, startMakersServer } from "../support/mock-openai.ts";
import { startMockServer } from "../support/mock-server.ts";

const cards: Record<Exclude<Maker, "openai">, ModelCard> = {
  deepseek: findCard("openai/deepseek-flash").card,
  moonshot: { ...findCard("openai/glm-5.3").card, id: "openai/kimi-k3" },
  gemini: findCard("openai/gemini-3.5-pro").card,
  mistral: findCard("mistral/devstral-latest").card,
  devstral: findCard("vllm/mistralai/Devstral-Small-2-24B").card,
  openrouter: findCard("openrouter/google/gemini-3.5-pro").card,
  routed_deepseek: findCard("openrouter/deepseek/deepseek-v4-pro").card,
};
const makers = Object.keys(cards) as (keyof typeof cards)[];

/** A step with a call each; every third without a thought of its own, every fifth with two calls. */
function turnOf(maker: Maker, index: number): OpenaiTurn {
  const calls = Array.from({ length: index % 5 === 4 ? 2 : 1 }, (_, at) => ({
    id: maker.endsWith("stral") ? `m${index}x${at}`.padEnd(9, "0") : `${maker}_${index}_${at}`,
    name: "bash",
    args: JSON.stringify({ command: `make ${index}`, content: "x = 1\n".repeat(60) }),
    ...(maker === "gemini" && at === 0
      ? { extra: { google: { thought_signature: `sig+/${index}==` } } }
      : {}),
  }));
  const thinks = maker !== "gemini" && !maker.endsWith("stral");
  const thinking: { thinking?: string } = thinks
    ? { thinking: index % 3 === 1 ? "" : `thought ${index} – \ud83e` }
    : {};
  const details = maker === "openrouter" ? { details: detailsOf(index, calls[0]?.id ?? "") } : {};
  const thought = {
    type: "reasoning.text",
    text: thinking.thinking?.toWellFormed(),
    format: "unknown",
    index: 0,
  };
  const routed = maker === "routed_deepseek" && thinking.thinking ? { details: [thought] } : {};
  return { ...thinking, ...details, ...routed, text: index % 2 ? `looking ${index}` : "", calls };
}

/** Details as OpenRouter streams them: text in pieces, and the signature at the first call. */
function detailsOf(index: number, id: string): object[] {
  const thought = (text: string) => ({ type: "reasoning.text", text, format: "google-gemini-v1", index: 0 });
  const signature = {
    type: "reasoning.encrypted",
    data: `sig+/${index}==`,
    id,
    format: "google-gemini-v1",
    index: 1,
  };
  return [...(index % 3 === 1 ? [] : [thought(`thought ${index}`), thought(" goes on")]), signature];
}

async function start(maker: keyof typeof cards, steps: number, context: string) {
  let edits = 0;
  const server = await startMakersServer(maker, ({ messages }, index) => {
    if (JSON.stringify(messages.at(-1)).includes("Write a handoff."))
      return { text: "Decisions: none.", thinking: "" };
    return (index + 1) % steps === 0 ? { text: "done", thinking: "enough" } : turnOf(maker, index);
  });
  onTestFinished(() => server.close());
  const tools = [
    fakeTool("bash", () => ({ content: `src/a.ts:${++edits}: something happened\n`.repeat(90) })),
  ];
  const made = testAgent({ turns: [], tools, context, realCard: cards[maker], engine: { window: 9_000 } });
  const model = modelOf(maker, server.url);
  made.agent.model = model;
  return { ...made, server, model };
}

function modelOf(maker: keyof typeof cards, baseUrl: string): Model {
  const own: Partial<Record<Maker, Dialect>> = {
    gemini: dialects.chat_signed,
    mistral: dialects.chat_mistral,
    openrouter: dialects.chat_openrouter,
    routed_deepseek: dialects.chat_openrouter,
  };
  const dialect = own[maker] ?? dialects.chat;
  return openaiModel({ card: cards[maker], apiKey: "sk-test", baseUrl, dialect });
}

const refusals = ({ received }: { received: { refused?: string }[] }) =>
  received.flatMap(({ refused }) => refused ?? []);

test.each(makers)(
  "40 steps of %s with edits and summaries, of which half after a resume, are never refused",
  async (maker) => {
    const { agent, log, server } = await start(maker, 20, "economist");
    await runTurn(agent, new AbortController().signal);
    expect(refusals(server)).toEqual([]);
    expect(lastOf(log.events(), "turn_ended")?.reason).toBe("completed");
    const stored = JSON.parse(JSON.stringify(log.events()));
    const resumed = memoryLog(stored);
    agent.log = resumed;
    resumed.append(user("go on"));
    await runTurn(agent, new AbortController().signal);
    expect(refusals(server)).toEqual([]);
    expect(lastOf(resumed.events(), "turn_ended")?.reason).toBe("completed");
    expect(allOf(resumed.events(), "context_edited").length).toBeGreaterThan(1);
    const bodies = server.received.map(({ raw }) => raw).filter((raw) => !raw.includes("Write a handoff."));
    bodies.forEach((body, index) => {
      const composed = requestOfStep(resumed.events(), index + 1);
      expect(composed && agent.model.encode(composed.request)).toBe(body);
    });
  },
);

test.each(["deepseek", "gemini", "mistral", "devstral", "openrouter", "routed_deepseek"] as const)(
  "%s, then Claude, then the first again: each gets what it made, and nothing of the other",
  async (maker) => {
    const { agent, log, server, model } = await start(maker, 6, "raw");
    const claude = findCard("anthropic/claude-sonnet-5-5").card;
    const other = await startMockServer({
      turns: (_, index) =>
        index === 4
          ? { text: "done" }
          : { thinking: `hm ${index}`, calls: [{ bash: { command: `ls ${index}` } }] },
    });
    onTestFinished(() => other.close());
    await runTurn(agent, new AbortController().signal);
    log.append({ type: "model_changed", model: claude });
    agent.model = anthropicModel({ card: claude, apiKey: "sk-test", baseUrl: other.url });
    log.append(user("and now?"));
    await runTurn(agent, new AbortController().signal);
    log.append({ type: "model_changed", model: cards[maker] });
    agent.model = model;
    log.append(user("go on"));
    await runTurn(agent, new AbortController().signal);
    expect(refusals(server)).toEqual([]);
    expect(other.exchanges.flatMap(({ error }) => error ?? [])).toEqual([]);
    expect(allOf(log.events(), "turn_ended").map(({ reason }) => reason)).toEqual(Array(3).fill("completed"));
    expect(other.rawBodies.join()).not.toMatch(/wire|thought 0|extra_content/);
  },
);

test("a summary call carries them too", async () => {
  const { agent, log, server } = await start("deepseek", 5, "raw");
  await runTurn(agent, new AbortController().signal);
  const events = log.events();
  const view = applyEvents(events);
  const own = summaryRequest(events, view, { question: "Write a handoff." });
  await agent.model.send(own, agent.model.encode(own), () => {}, new AbortController().signal);
  const foreign = summaryRequest(events, view, { question: "Write a handoff.", card: cards.moonshot });
  expect(agent.model.encode(foreign)).not.toContain("thought 0");
  expect(refusals(server)).toEqual([]);
});

test("where the contract does not ask for it, thinking is neither kept nor sent", async () => {
  const server = await startMakersServer("openai", (_, index) =>
    index === 0 ? turnOf("deepseek", 0) : { text: "done" },
  );
  onTestFinished(() => server.close());
  const card = findCard("openai/gpt-oss").card;
  const { agent, log } = testAgent({ turns: [], realCard: card });
  agent.model = openaiModel({ card, baseUrl: server.url });
  await runTurn(agent, new AbortController().signal);
  expect(server.received[1]?.raw).not.toContain("reasoning_content");
  expect(JSON.stringify(log.events())).not.toContain("thought 0");
  expect(composeRequest(log.events(), applyEvents(log.events())).request.carried).toBeUndefined();
});
