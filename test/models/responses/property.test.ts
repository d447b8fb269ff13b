/** Random conversations under random edits: every request is one that the strict server answers. */

import { expect, test } from "vitest";
import { composeRequest } from "../../../src/context/request/compose.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import { withOwnIds } from "../../../src/core/call-ids.ts";
import type { ContextEdit, EventBody, LogEvent } from "../../../src/core/events.ts";
import type { Contract, ModelCard } from "../../../src/core/model-card.ts";
import { noUsage } from "../../../src/core/model-card.ts";
import cards from "../../../src/models/cards.json" with { type: "json" };
import { findCard } from "../../../src/models/cards.ts";
import { encodeResponses } from "../../../src/models/responses/encoding.ts";
import { assembleResponse } from "../../../src/models/responses/stream.ts";
import { started } from "../../support/logs.ts";
import { eventsOf, itemsOf, parsed, type ResponsesTurn } from "../../support/mock-responses.ts";
import { Refused, type ResponsesBody } from "../../support/mock-responses-fields.ts";
import { responsesRules } from "../../support/mock-responses-rules.ts";
import type { TurnSearch } from "../../support/mock-responses-search.ts";
import { seededRandom } from "../../support/random.ts";
import { sized } from "../../support/size.ts";

const contract = cards.contracts.responses as Contract;
const filed = findCard("openai/gpt-6.1-sol").card;
const prices = { ...filed.prices, webSearch: 10 };
const sol: ModelCard = { ...filed, prices, api: "responses", contract };
const other: ModelCard = { ...sol, id: "openai/gpt-6-sol" };
const claude = findCard("anthropic/claude-sonnet-5-5").card;
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A log that is being written, and the server that answers its requests. */
type Story = {
  events: LogEvent[];
  random: () => number;
  rules: ReturnType<typeof responsesRules>;
  replies: number;
  searches: boolean;
};

function add({ events }: Story, body: EventBody): void {
  events.push({ seq: events.length, at: events.length * 1000, ...body } as LogEvent);
}

function pick<T>(random: () => number, items: readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

const words = [
  "a",
  "Grüß Gott – 世界 🪚",
  "half \ud83e of one",
  "x = 1\n".repeat(50),
  " ",
  "\u0000\u001b[31m",
];

function turnOf(story: Story): ResponsesTurn {
  const turn = plainTurnOf(story);
  const { random, replies, searches } = story;
  if (!searches || turn.refusal || random() < 0.6) return turn;
  const made = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, at) =>
    searchOf(random, `${replies}.${at}`),
  );
  const cited = [{ url: `https://site.example/${replies}?utm_source=openai`, title: pick(random, words) }];
  const calls = random() < 0.5 ? {} : { calls: turn.calls ?? [] };
  const text = random() < 0.9 ? { text: `${pick(random, words)} found ${replies}`, cited } : {};
  return { ...turn, calls: [], ...text, ...calls, searches: made };
}

function searchOf(random: () => number, name: string): TurnSearch {
  const sources = Array.from(
    { length: Math.floor(random() * 4) },
    (_, at) => `https://site.example/${name}.${at}`,
  );
  const status = random() < 0.1 ? { status: pick(random, ["failed", "incomplete"]) } : {};
  return pick<TurnSearch>(random, [
    { ...status, query: `${pick(random, words)} ${name}`, sources },
    { ...status, queries: [`a ${name}`, "b"], sources },
    { ...status, open: `https://site.example/${name}` },
    { ...status, open: `https://site.example/${name}`, find: pick(random, words) },
  ]);
}

function plainTurnOf({ random, replies }: Story): ResponsesTurn {
  const roll = random();
  const thinking =
    random() < 0.7 ? { thinking: random() < 0.4 ? "" : `${pick(random, words)} thought ${replies}` } : {};
  const text = random() < 0.5 ? { text: `${pick(random, words)} ${replies}` } : {};
  const phase = random() < 0.5 ? { phase: pick(random, ["commentary", "final_answer"]) } : {};
  const between = random() < 0.3 ? { between: true as const } : {};
  if (roll < 0.04)
    return {
      ...thinking,
      ...text,
      ...phase,
      incomplete: pick(random, ["max_output_tokens", "content_filter"]),
    };
  if (roll < 0.07) return { ...thinking, refusal: "I cannot help with that." };
  if (roll < 0.1) return { thinking: "only this" };
  const calls = Array.from({ length: Math.floor(random() * 4) }, (_, at) => ({
    name: pick(random, ["bash", "str_replace_editor"]),
    args:
      random() < 0.1 ? "" : JSON.stringify({ command: `make ${at}`, text: pick(random, words).repeat(9) }),
  }));
  if (calls.length === 0 && !text.text) return { ...thinking, text: "done" };
  return { ...thinking, ...between, ...text, ...phase, calls };
}

/** Sends what follows from the log; throws `Refused`. */
function send(story: Story, card: ModelCard): ResponsesBody {
  const { request } = composeRequest(story.events, applyEvents(story.events));
  expect(request.model).toBe(card.id);
  const body = parsed(encodeResponses(request));
  story.rules.check(body);
  add(story, { type: "model_request", bodyHash: "", tokensEstimated: 1, cacheAfter: request.cacheAfter });
  return body;
}

/** The reply of the server to a request, as the stream of it is read. */
function answer(story: Story, card: ModelCard, body: ResponsesBody): void {
  const turn = turnOf(story);
  const items = story.rules.give(body, itemsOf(turn, story.replies++, body));
  const assembly = assembleResponse({
    card,
    onPart: () => {},
    estimate: () => noUsage,
    secret: "",
    limit: 4096,
  });
  const bill = { input: 1, cached: 0, written: 0 };
  const id = `resp_${story.replies}`;
  for (const event of eventsOf(turn, { id, items, body, bill })) assembly.take(event as never);
  append(story, assembly.reply());
}

function append(story: Story, reply: { content: object[]; stopReason: string; messageId?: string }): void {
  const { random } = story;
  const clean = JSON.parse(JSON.stringify(reply.content), (_, value) =>
    typeof value === "string" ? value.toWellFormed() : value,
  );
  let told: string | undefined;
  const content = withOwnIds(clean, (id) => {
    told ??= JSON.stringify(story.events);
    return told.includes(`"${id}"`);
  });
  const { stopReason, messageId } = reply;
  const facts = {
    stopReason,
    usage: noUsage,
    model: "m",
    durationMs: 1,
    ...(messageId ? { messageId } : {}),
  };
  add(story, { type: "assistant_message", content, ...facts });
  for (const block of content) {
    if (block.type !== "tool_use" || random() < 0.03) continue;
    const text = pick(random, ["", "ok", "line\n".repeat(80), "世界"]);
    const source = { type: "base64" as const, media_type: "image/png", data: png };
    const shown = [
      { type: "text" as const, text },
      { type: "image" as const, source },
    ];
    const facts = { toolUseId: block.id, toolName: block.name, isError: random() < 0.1 };
    add(story, { type: "tool_result", ...facts, content: random() < 0.1 ? shown : text });
  }
}

/** A search of Claude as the log has it. */
const foreignSearch: object[] = [
  { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
  {
    ...{ type: "web_search_tool_result", tool_use_id: "srvtoolu_1" },
    content: [{ type: "web_search_result", url: "https://a.example/", title: "A", encrypted_content: "x" }],
  },
];

/** A step of another model, whose fields are not for this one. */
function foreignStep(story: Story): void {
  add(story, { type: "model_changed", model: claude });
  const id = `toolu_${"x".repeat(story.random() < 0.5 ? 80 : 10)}${story.events.length}`;
  append(story, {
    stopReason: "tool_use",
    content: [
      { type: "thinking", thinking: "hm", signature: "sig" },
      ...(story.searches ? foreignSearch : []),
      {
        type: "text",
        text: "I look.",
        citations: [{ type: "web_search_result_location", url: "https://a.example/" }],
      },
      { type: "tool_use", id, name: "bash", input: { command: "ls" } },
    ],
  });
}

/** Any edit that a policy may make: of a result, of a call's input, a span, all thinking. */
function edit(story: Story): void {
  const { events, random } = story;
  const editable = events.filter(({ type }) => type === "tool_result" || type === "assistant_message");
  if (editable.length < 4) return;
  const older = editable.slice(0, -2);
  const edits: ContextEdit[] = [];
  const roll = random();
  if (roll < 0.15) edits.push({ type: "drop_thinking", to: pick(random, older).seq });
  else if (roll < 0.35) {
    const from = pick(random, older).seq;
    const to = Math.max(from, pick(random, older).seq);
    edits.push({ type: "collapse", from, to, text: "what happened before" });
  } else {
    for (const event of older.filter(() => random() < 0.3)) {
      if (event.type === "tool_result")
        edits.push({ type: "replace", seq: event.seq, block: 0, text: "[masked]" });
      if (event.type !== "assistant_message") continue;
      const block = event.content.findIndex(({ type }) => type === "tool_use");
      if (block >= 0) edits.push({ type: "replace", seq: event.seq, block, text: "[offloaded]" });
    }
  }
  if (edits.length > 0)
    add(story, { type: "context_edited", policy: "random", reason: "", edits, economics: {} });
}

function happen(story: Story): void {
  const { random } = story;
  const roll = random();
  if (roll < 0.4) edit(story);
  if (roll > 0.9)
    add(story, {
      type: "reminder",
      channel: pick(random, ["tail", "logged", "turn_scoped"]),
      text: "Mind it.",
    });
  if (roll > 0.7 && roll < 0.75)
    add(story, { type: "tools_gated", withdrawn: random() < 0.5 ? ["bash"] : [] });
  if (roll > 0.6 && roll < 0.65) foreignStep(story);
}

/** Plays one conversation; returns what was refused, and how much happened. */
function play(seed: number, searches: boolean): Played {
  const random = seededRandom(seed);
  const story: Story = { events: [], random, rules: responsesRules(), replies: 0, searches };
  let card = sol;
  const webSearch = { maxUses: 8, blockedDomains: ["ads.example"] };
  const tools = [{ name: "bash", description: "", input_schema: { type: "object" as const } }];
  add(story, { ...started(card), ...(searches ? { webSearch, tools } : {}) } as EventBody);
  add(story, { type: "user_message", content: [{ type: "text", text: `go ${seed}` }] });
  const steps = 2 + Math.floor(random() * 14);
  try {
    for (let step = 0; step < steps; step++) {
      answer(story, card, send(story, card));
      if (random() < 0.2) story.events = JSON.parse(JSON.stringify(story.events));
      happen(story);
      const wanted = random() < 0.06 ? (card === sol ? other : sol) : card;
      if (wanted !== card || story.events.findLast(({ type }) => type === "model_changed")) {
        add(story, { type: "model_changed", model: wanted });
        card = wanted;
      }
      const last = story.events.at(-1);
      const open = story.events.findLast((event) => event.type === "assistant_message");
      const waits =
        open?.type === "assistant_message" && open.content.some(({ type }) => type === "tool_use");
      if (last && !waits)
        add(story, {
          type: "user_message",
          content: [{ type: "text", text: pick(random, ["go on", "ok 世"]) }],
        });
    }
    return happened(story);
  } catch (error) {
    if (error instanceof Refused) return { refused: `seed ${seed}: ${error.message}`, ...happened(story) };
    throw error;
  }
}

type Played = { refused?: string; requests: number; edits: number };

function happened({ events }: Story): Played {
  const count = (wanted: string) => events.filter(({ type }) => type === wanted).length;
  return { requests: count("model_request"), edits: count("context_edited") };
}

const count = sized(400, 10_000);

test.each([
  ["", false],
  [" and searches", true],
])(
  `of ${count} random conversations with edits%s none makes a request that is refused`,
  (_, searches) => {
    const played = Array.from({ length: count }, (_, seed) => play(seed, searches));
    expect(played.flatMap(({ refused }) => refused ?? [])).toEqual([]);
    const sum = (key: "requests" | "edits") => played.reduce((all, one) => all + one[key], 0);
    expect(sum("requests")).toBeGreaterThan(7 * count);
    expect(sum("edits")).toBeGreaterThan(2 * count);
  },
  900_000,
);
