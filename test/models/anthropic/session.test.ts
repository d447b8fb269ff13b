/** A session of several steps against the strict server, which refuses whatever the API refuses. */

import { afterEach, describe, expect, test } from "vitest";
import { isToolUse, type Message } from "../../../src/core/blocks.ts";
import { ModelError, type ModelReply } from "../../../src/core/ports.ts";
import type { CachePoint, ModelRequest } from "../../../src/core/request.ts";
import { anthropicModel } from "../../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../../src/models/cards.ts";
import { withRetry } from "../../../src/models/http/retry.ts";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import { type MockServer, startMockServer } from "../../support/mock-server.ts";

const turns: ScriptedReply[] = [
  { thinking: "Look first.", text: "I look.", calls: [{ bash: { command: "ls" } }] },
  {
    redacted_thinking: "b3BhcXVl",
    thinking: "Then read.",
    calls: [{ bash: { command: "cat a" } }, { bash: {} }],
  },
  { thinking: "Enough.", text: "Done." },
];
const servers: MockServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

async function mock(script: ScriptedReply[]): Promise<MockServer> {
  const server = await startMockServer({ turns: script, apiKey: "key", pingMs: 50 });
  servers.push(server);
  return server;
}

function modelAt(server: MockServer, id: string, waits: number[] = []) {
  const { card } = findCard(`anthropic/${id}`);
  const model = anthropicModel({ card, apiKey: "key", baseUrl: server.url, idleMs: 20_000 });
  return withRetry(model, { sleep: async (ms) => void waits.push(ms), random: () => 1 });
}
type Client = ReturnType<typeof modelAt>;

async function step(
  model: Client,
  messages: Message[],
  changes: Partial<ModelRequest> = {},
): Promise<ModelReply> {
  const newest = messages.findLastIndex((message) => message.role === "user");
  const block = (messages[newest]?.content.length ?? 1) - 1;
  const cacheAfter: CachePoint[] = [
    { after: "system", ttl: "5m" },
    { after: "block", message: newest, block, ttl: "5m" },
  ];
  const request: ModelRequest = {
    model: model.card.id,
    system: "Be careful. ".repeat(400),
    tools: [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }],
    messages,
    cacheAfter,
    maxTokens: 4000,
    thinking: model.card.thinking,
    ...changes,
  };
  return model.send(request, model.encode(request), () => {}, new AbortController().signal);
}

/** Goes on until no call is made; every call is answered "ok". */
async function converse(model: Client, messages: Message[]): Promise<ModelReply[]> {
  const replies: ModelReply[] = [];
  for (;;) {
    const reply = await step(model, messages);
    replies.push(reply);
    messages.push({ role: "assistant", content: reply.content });
    const calls = reply.content.filter(isToolUse);
    if (calls.length === 0) return replies;
    messages.push({
      role: "user",
      content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: "ok" })),
    });
  }
}

const opening = (): Message[] => [{ role: "user", content: [{ type: "text", text: "fix it" }] }];

describe.each(["claude-sonnet-5-5", "claude-sonnet-5", "claude-haiku-4-5"])("a session with %s", (id) => {
  test("goes through the strict server step by step", async () => {
    const server = await mock(turns);
    const replies = await converse(modelAt(server, id), opening());
    expect(replies.map((reply) => reply.stopReason)).toEqual(["tool_use", "tool_use", "end_turn"]);
    expect(server.exchanges.map(({ status, error }) => error ?? status)).toEqual([200, 200, 200]);
  });
});

test("a session with a server that sends no more than llama.cpp does goes through it too", async () => {
  const server = await startMockServer({ turns, apiKey: "key", bare: true });
  servers.push(server);
  const replies = await converse(modelAt(server, "claude-sonnet-5"), opening());
  expect(server.exchanges.map(({ status, error }) => error ?? status)).toEqual([200, 200, 200]);
  expect(replies[1]?.content.filter(isToolUse).map(({ input }) => input)).toEqual([{ command: "cat a" }, {}]);
  expect(replies.map(({ usage }) => usage.cacheReadTokens > 0)).toEqual([false, true, true]);
});

test("each step reads from the cache what the one before it wrote", async () => {
  const server = await mock(turns);
  const usages = (await converse(modelAt(server, "claude-sonnet-5-5"), opening())).map(
    (reply) => reply.usage,
  );
  expect(usages.map((usage) => usage.cacheReadTokens > 0)).toEqual([false, true, true]);
  expect(usages[1]?.cacheReadTokens).toBe(usages[0]?.cacheWrite5mTokens);
  expect(usages).toEqual(server.exchanges.map(({ usage }) => usage));
});

test("a changed history is refused as bound thinking, and passes with drop_block, which is counted", async () => {
  const server = await mock([...turns, { text: "Again." }]);
  const model = modelAt(server, "claude-sonnet-5-5");
  const messages = opening();
  await converse(model, messages);
  const edited: Message[] = [
    { role: "user", content: [{ type: "text", text: "fix that" }] },
    ...messages.slice(1),
    { role: "user", content: [{ type: "text", text: "go on" }] },
  ];
  const refused = await step(model, edited).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ModelError);
  expect(refused).toMatchObject({ kind: "bound_thinking", status: 400 });
  const reply = await step(model, edited, { blockBinding: "drop_block" });
  expect(reply.content).toContainEqual({ type: "text", text: "Again." });
  expect(reply.droppedThinking).toBeGreaterThan(0);
});

test("a reminder for one step is accepted where the card says so", async () => {
  const server = await mock([{ text: "ok" }]);
  const model = modelAt(server, "claude-sonnet-5-5");
  const reminder: Message = {
    role: "system",
    content: [{ type: "text", text: "todo: fix it" }],
    clear_at: "next_user_message",
  };
  await step(model, [...opening(), reminder]);
  expect(server.exchanges[0]).toMatchObject({ status: 200 });
});

describe("a session with faults", () => {
  test("gets through all that passes, with the same bytes each time", async () => {
    const [firstTurn = {}, ...others] = turns;
    const faults: ScriptedReply["fault"][] = [
      { status: 529 },
      { status: 429, headers: { "retry-after": "7" } },
      { dropConnection: true },
      { closeAfterEvents: 4 },
      { silentAfterEvents: 3 },
    ];
    const server = await mock([...faults.map((fault) => ({ ...firstTurn, fault: fault ?? {} })), ...turns]);
    const waits: number[] = [];
    const replies = await converse(modelAt(server, "claude-sonnet-5-5", waits), opening());
    expect(replies).toHaveLength(1 + others.length);
    // A kept connection that closes before an answer costs no wait.
    expect(waits).toEqual([1000, 7000, 4000, 8000]);
    expect(new Set(server.rawBodies.slice(0, 6)).size).toBe(1);
  });

  test("tries again when the stream is not whole or says that it is overloaded", async () => {
    const [firstTurn = {}] = turns;
    const broken = [{ noMessageStop: true }, { errorEventAfter: 3 }];
    const server = await mock([...broken.map((fault) => ({ ...firstTurn, fault })), ...turns]);
    expect(await converse(modelAt(server, "claude-sonnet-5-5"), opening())).toHaveLength(3);
    expect(server.exchanges).toHaveLength(5);
  });

  test("never sees the call of a reply that was cut by its length", async () => {
    const [firstTurn = {}] = turns;
    const server = await mock([{ ...firstTurn, fault: { cutToolJson: true } }]);
    const reply = await step(modelAt(server, "claude-sonnet-5-5"), opening());
    expect(reply.stopReason).toBe("max_tokens");
    expect(reply.content.map((block) => block.type)).toEqual(["thinking", "text"]);
  });

  test("a wrong key is told at once", async () => {
    const server = await startMockServer({ turns, apiKey: "another" });
    servers.push(server);
    await expect(step(modelAt(server, "claude-sonnet-5-5"), opening())).rejects.toMatchObject({
      kind: "credentials",
      message: "invalid x-api-key",
    });
    expect(server.exchanges).toHaveLength(1);
  });
});
