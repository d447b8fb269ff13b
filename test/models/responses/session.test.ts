/** Whole sessions over Responses: the strict server refuses nothing, finds its cache, and agrees on why it missed. */

import { expect, onTestFinished, test } from "vitest";
import { runTurn } from "../../../src/agent/loop.ts";
import { contextNames } from "../../../src/context/policies/stacks.ts";
import { requestOfStep } from "../../../src/context/request/compose.ts";
import type { Contract, ModelCard } from "../../../src/core/model-card.ts";
import { allOf, lastOf } from "../../../src/core/questions.ts";
import cards from "../../../src/models/cards.json" with { type: "json" };
import { findCard } from "../../../src/models/cards.ts";
import { responsesModel } from "../../../src/models/responses/responses.ts";
import { completeFocusTool, startFocusTool } from "../../../src/tools/session/focus.ts";
import { fakeTool, testAgent } from "../../support/agents.ts";
import { memoryLog, user } from "../../support/logs.ts";
import { type ResponsesTurn, startResponsesServer } from "../../support/mock-responses.ts";
import { markedParts, prefixOf } from "../../support/mock-responses-rules.ts";
import { seededRandom } from "../../support/random.ts";

const { card } = findCard("openai/gpt-6.1-sol");
const sol: ModelCard = { ...card, api: "responses", contract: cards.contracts.responses as Contract };
const searching: ModelCard = { ...sol, prices: { ...sol.prices, webSearch: 10 } };

/** The same replies in the same order, however many summaries are asked for in between. */
function turns(seed: number, steps: number): (body: unknown) => ResponsesTurn {
  const random = seededRandom(seed);
  let focus = false;
  let index = -1;
  return (body) => {
    if (JSON.stringify(body).includes("Write a handoff.")) return { thinking: "", text: "Decisions: none." };
    index += 1;
    if ((index + 1) % steps === 0) return { thinking: "enough", text: "done", phase: "final_answer" };
    const thinking = random() < 0.8 ? { thinking: random() < 0.3 ? "" : `thought ${index}` } : {};
    const between = random() < 0.2 ? { between: true as const } : {};
    const text = random() < 0.5 ? { text: `looking ${index}`, phase: "commentary" } : {};
    const said = { ...thinking, ...between, ...text };
    if (random() < 0.1) {
      focus = !focus;
      return { ...said, calls: [focusCall(focus, index)] };
    }
    const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) => ({
      name: "bash",
      args: JSON.stringify({ command: `make ${index} ${at}`, note: "x = 1\n".repeat(random() * 60) }),
    }));
    return { ...said, calls };
  };
}

function focusCall(opens: boolean, index: number): { name: string; args: string } {
  const args = opens ? { objective: `q ${index}` } : { attempted: "a", learned: "b", outcome: "c" };
  return { name: opens ? "start_focus" : "complete_focus", args: JSON.stringify(args) };
}

/** The same session with searches in it: before the text, some with a page that was opened, some that failed. */
function searchingTurns(seed: number, steps: number): ReturnType<typeof turns> {
  const plain = turns(seed, steps);
  const random = seededRandom(seed + 1);
  return (body) => {
    const turn = plain(body);
    if (turn.text?.startsWith("Decisions") || random() < 0.6) return turn;
    const url = `https://site.example/${Math.floor(random() * 99)}`;
    const opened = random() < 0.3 ? [{ open: url }] : [];
    const status = random() < 0.1 ? { status: "failed" } : {};
    const cited = random() < 0.5 && turn.text ? { cited: [{ url, title: "Site" }] } : {};
    return {
      ...turn,
      ...cited,
      searches: [{ query: "how", sources: [url, `${url}/b`], ...status }, ...opened],
    };
  };
}

async function session(
  context: string,
  options: { card?: ModelCard; bound?: boolean; steps?: number; bare?: true } = {},
) {
  const { card = sol, bound = false, steps = 30, bare } = options;
  const searches = card.prices.webSearch !== undefined;
  const server = await startResponsesServer({
    ...{ turnOf: (searches ? searchingTurns : turns)(context.length, steps), bound },
    ...(bare ? { bare } : {}),
  });
  onTestFinished(() => server.close());
  const tools = [
    fakeTool("bash", ({ command }) => ({ content: `src/a.ts: ${command} happened\n`.repeat(90) })),
    startFocusTool({ description: "" }),
  ];
  const made = testAgent({
    ...{ turns: [], tools, context, realCard: card, engine: { window: searches ? 14_000 : 9_000 } },
    ...(searches ? { webSearch: { maxUses: 8, blockedDomains: ["ads.example"] } } : {}),
  });
  tools.push(completeFocusTool({ description: "", file: `${made.agent.artifacts.folder}/knowledge.md` }));
  made.agent.model = responsesModel({ card, apiKey: "sk-test", baseUrl: server.url });
  return { ...made, server };
}

const refusals = ({ received }: { received: { refused?: string }[] }) =>
  received.flatMap(({ refused }) => refused ?? []);

const stacks = contextNames.filter((name) => name !== "raw" && name !== "ingest");
const kinds = [
  ["", sol],
  [" with searches", searching],
] as const;

test.each(kinds.flatMap(([what, card]) => stacks.map((context) => [what, context, card] as const)))(
  "60 steps%s under %s, half after a resume, are never refused, and each rebuilds from the log",
  async (_, context, card) => {
    const { agent, log, server } = await session(context, { card });
    await runTurn(agent, new AbortController().signal);
    const resumed = memoryLog(JSON.parse(JSON.stringify(log.events())));
    agent.log = resumed;
    resumed.append(user("go on"));
    await runTurn(agent, new AbortController().signal);
    expect(refusals(server)).toEqual([]);
    expect(allOf(resumed.events(), "turn_ended").map(({ reason }) => reason)).toEqual([
      "completed",
      "completed",
    ]);
    expect(allOf(resumed.events(), "warning").map(({ text }) => text)).toEqual([]);
    expect(allOf(resumed.events(), "context_edited").length).toBeGreaterThan(1);
    const bodies = server.received.map(({ raw }) => raw).filter((raw) => !raw.includes("Write a handoff."));
    bodies.forEach((body, index) => {
      const composed = requestOfStep(resumed.events(), index + 1);
      expect(composed && agent.model.encode(composed.request)).toBe(body);
    });
  },
);

test("without edits every request begins with the one before, and all but the newest step is read from the cache", async () => {
  const { agent, log, server } = await session("raw", { steps: 15 });
  await runTurn(agent, new AbortController().signal);
  expect(refusals(server)).toEqual([]);
  const withoutMarks = (raw: string) => raw.replaceAll(',"prompt_cache_breakpoint":{"mode":"explicit"}', "");
  server.received.slice(1).forEach(({ raw }, index) => {
    const before = server.received[index]?.raw ?? "";
    const last = before.lastIndexOf(',"prompt_cache_breakpoint"');
    expect(withoutMarks(raw).startsWith(withoutMarks(before.slice(0, last)))).toBe(true);
  });
  server.bills.slice(1).forEach(({ cached }, index) => {
    const before = server.bills[index];
    if (before && before.input > 1100) expect(cached).toBe(before.cached + before.written);
  });
  expect(server.bills.slice(1).map(({ diagnostics }) => diagnostics?.type)).toEqual(
    Array(14).fill("cache_hit"),
  );
  const usage = lastOf(log.events(), "assistant_message")?.usage;
  expect(usage?.cacheReadTokens).toBe(server.bills.at(-1)?.cached);
  expect(usage?.cacheWrite5mTokens).toBe(server.bills.at(-1)?.written);
  expect(markedParts(server.requests.at(-1)?.input ?? []).length).toBeLessThanOrEqual(4);
});

test("after an edit what stands before it is still found, and the reason that the API gives is expected", async () => {
  const { agent, log, server } = await session("masking", { steps: 40 });
  await runTurn(agent, new AbortController().signal);
  const missed = server.bills.filter(({ diagnostics }) => diagnostics?.reason === "input_changed");
  expect(missed.length).toBeGreaterThan(0);
  expect(missed.some(({ cached }) => cached > 0)).toBe(true);
  expect(allOf(log.events(), "warning")).toEqual([]);
});

test("where reasoning is bound to its conversation, a contract that says so is never refused", async () => {
  const card: ModelCard = { ...sol, contract: { ...sol.contract, history: "prefix_bound" } };
  const { agent, log, server } = await session("economist", { card, bound: true, steps: 40 });
  await runTurn(agent, new AbortController().signal);
  expect(refusals(server)).toEqual([]);
  expect(allOf(log.events(), "context_edited").length).toBeGreaterThan(0);
});

test("where it is bound and the contract does not know, the session goes on without the reasoning", async () => {
  const { agent, log, server } = await session("masking", { bound: true, steps: 40 });
  await runTurn(agent, new AbortController().signal);
  expect(lastOf(log.events(), "turn_ended")?.reason).toBe("completed");
  expect(refusals(server).every((text) => text.includes("encrypted content"))).toBe(true);
  expect(allOf(log.events(), "warning").map(({ code }) => code)).toContain("history_repaired");
});

test("a reminder is a developer message behind all breakpoints, and gone from the next request", async () => {
  const { agent, log, server } = await session("raw", { steps: 3 });
  log.append({ type: "reminder", channel: "tail", text: "<reminder>Mind it.</reminder>" });
  await runTurn(agent, new AbortController().signal);
  const said = {
    type: "message",
    role: "developer",
    content: [{ type: "input_text", text: "<reminder>Mind it.</reminder>" }],
  };
  expect(server.requests[0]?.input.at(-1)).toEqual(said);
  expect(JSON.stringify(server.requests[1])).not.toContain("Mind it.");
  expect(prefixOf(server.requests[1]?.input.slice(0, 2) ?? [])).toBe(
    prefixOf(server.requests[0]?.input.slice(0, 2) ?? []),
  );
});

test("a server whose events tell no places is heard in full: texts and several calls of a reply", async () => {
  const { agent, log, server } = await session("economist", { bare: true });
  await runTurn(agent, new AbortController().signal);
  const full = await session("economist");
  await runTurn(full.agent, new AbortController().signal);
  expect(refusals(server)).toEqual([]);
  // Reasoning that came unsealed is of no use to a server that keeps nothing.
  const said = (events: Parameters<typeof allOf>[0]) =>
    allOf(events, "assistant_message").map(({ content }) =>
      content.map(({ type }) => type).filter((type) => type !== "redacted_thinking"),
    );
  expect(said(log.events())).toEqual(said(full.log.events()));
});
