import { afterEach, describe, expect, test } from "vitest";
import { runTurn } from "../../src/agent/loop.ts";
import { contextNames } from "../../src/context/policies/stacks.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import { anthropicModel } from "../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../src/models/cards.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { completeFocusTool, startFocusTool } from "../../src/tools/session/focus.ts";
import { fakeTool, testAgent } from "../support/agents.ts";
import { user } from "../support/logs.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { seededRandom } from "../support/random.ts";
import { sized } from "../support/size.ts";

let server: MockServer | undefined;
afterEach(() => server?.close());

/** A session of random steps: reads, edits, failures, focuses, thinking or not, parallel calls. */
function randomTurns(seed: number, steps: number): (body: WireBody, index: number) => ScriptedReply {
  const random = seededRandom(seed);
  let focus = false;
  const one = (): Record<string, Record<string, unknown>> => {
    const file = `/w/app/file${Math.floor(random() * 9)}.ts`;
    if (random() < 0.3) return { str_replace_editor: { command: "view", path: file } };
    if (random() < 0.3) {
      const text = "const x = 1;\n".repeat(random() * 60);
      return { str_replace_editor: { command: "create", path: file, file_text: text } };
    }
    return { bash: { command: `make ${Math.floor(random() * 20)}`, lines: Math.floor(random() * 120) } };
  };
  return (body, index) => {
    if (JSON.stringify(body.messages.at(-1)).includes("Write a handoff.")) {
      const texts = ["", "Decisions: keep it small.\nNext steps: go on.", "see /no/such/path/here"];
      return { text: texts[Math.floor(random() * 3)] || "Facts: none." };
    }
    if (index >= steps) return { text: "done" };
    const thinking = random() < 0.7 ? { thinking: `thought ${index} ${"so ".repeat(random() * 80)}` } : {};
    const roll = random();
    if (roll < 0.1 && !focus) {
      focus = true;
      return { ...thinking, calls: [{ start_focus: { objective: `question ${index}` } }] };
    }
    if (roll < 0.15 && focus) {
      focus = false;
      return { ...thinking, calls: [{ complete_focus: { attempted: "a", learned: "b", outcome: "c" } }] };
    }
    const calls = Array.from({ length: 1 + Math.floor(random() * 3) }, one);
    return { ...thinking, ...(random() < 0.3 ? { text: `looking ${index}` } : {}), calls };
  };
}

/** The same session with searches of the provider in it: whole ones, some that wait beside calls, and pauses. */
function searchingTurns(seed: number, steps: number): ReturnType<typeof randomTurns> {
  const turns = randomTurns(seed, steps);
  const random = seededRandom(seed + 1);
  const one = (waits: boolean) => ({
    query: `how to make ${Math.floor(random() * 20)}`,
    ...(random() < 0.1 ? { error: "unavailable" } : {}),
    found: Array.from({ length: Math.floor(random() * 6) }, (_, at) => `https://site${at}.example/${seed}`),
    ...(waits ? { waits } : {}),
  });
  let paused = 0;
  return (body, index) => {
    const turn = turns(body, index - paused);
    if (!turn.calls) return turn;
    const roll = random();
    if (roll < 0.15) {
      paused += 1;
      const { thinking } = turn;
      const searches = [one(false), ...(random() < 0.5 ? [one(true)] : [])];
      return { ...(thinking ? { thinking } : {}), searches, stop: "pause_turn" };
    }
    if (roll < 0.3) return { ...turn, searches: [one(false), ...(random() < 0.5 ? [one(true)] : [])] };
    return turn;
  };
}

async function session(modelId: string, context: string, seed: number, turnsOf = randomTurns) {
  const card = findCard(`anthropic/${modelId}`).card;
  const searches = turnsOf === searchingTurns;
  server = await startMockServer({ turns: turnsOf(seed, sized(45, 70)) });
  const output = (input: Record<string, unknown>) => {
    const lines = Number(input.lines ?? 80);
    return { content: "src/a.ts:12: something happened here\n".repeat(lines), isError: lines % 7 === 1 };
  };
  const tools = [fakeTool("bash", output), fakeTool("str_replace_editor", output)];
  const made = testAgent({
    turns: [],
    tools,
    context,
    realCard: card,
    ...(searches ? { webSearch: { maxUses: 3, blockedDomains: [] } } : {}),
    // What a search found cannot be masked: the same share of the window is for the rest.
    engine: { window: searches ? sized(14_000, 18_000) : sized(9_000, 12_000) },
  });
  const { agent, log } = made;
  tools.push(
    startFocusTool({ description: "" }),
    completeFocusTool({ description: "", file: `${agent.artifacts.folder}/knowledge.md` }),
  );
  agent.model = anthropicModel({ card, apiKey: "sk-test", baseUrl: server.url });
  for (const words of ["", "and mind FIX-33", "go on"]) {
    if (words) log.append(user(words));
    await runTurn(agent, new AbortController().signal);
  }
  return { agent, log, server };
}

const stacks = contextNames.filter((name) => !["raw", "ingest"].includes(name));
const kinds = [
  ["a long session", randomTurns],
  ["a long session with searches of the provider", searchingTurns],
] as const;
const rows = kinds.flatMap(([what, turnsOf]) => stacks.map((context) => [what, context, turnsOf] as const));

describe.each(["claude-sonnet-4-6", "claude-sonnet-5-5"])("on %s", (modelId) => {
  test.each(rows)("%s under %s never makes a request that the API refuses", async (_, context, turnsOf) => {
    const seed = context.length + modelId.length;
    const { agent, log, server } = await session(modelId, context, seed, turnsOf);
    const refused = server.exchanges.filter((exchange) => exchange.status !== 200);
    expect(refused.map((exchange) => exchange.error)).toEqual([]);
    expect(allOf(log.events(), "warning").map((event) => event.text)).toEqual([]);
    expect(lastOf(log.events(), "turn_ended")?.reason).toBe("completed");
    expect(allOf(log.events(), "context_edited").length).toBeGreaterThan(1);
    const bodies = server.rawBodies.filter((body) => !body.includes("Write a handoff."));
    bodies.forEach((body, index) => {
      const composed = requestOfStep(log.events(), index + 1);
      expect(composed && agent.model.encode(composed.request)).toBe(body);
    });
    const last = bodies.at(-1) ?? "";
    expect(last).toContain("FIX-33");
  });
});
