/** The chat-completions adapter over real HTTP: what goes out, what comes in, and what it costs. */

import { describe, expect, onTestFinished, test } from "vitest";
import { noUsage } from "../../../src/core/model-card.ts";
import type { ModelPart } from "../../../src/core/ports.ts";
import type { ModelRequest } from "../../../src/core/request.ts";
import { findCard } from "../../../src/models/cards.ts";
import { dialectOf, dialects } from "../../../src/models/openai/dialects.ts";
import { encodeOpenai } from "../../../src/models/openai/encoding.ts";
import { openaiModel } from "../../../src/models/openai/openai.ts";
import { type OpenaiTurn, startOpenaiServer } from "../../support/mock-openai.ts";
import { failure } from "../fixtures/exchange.ts";

const key = "sk-canary-7f3a";
const { card } = findCard("openai/gpt-6.1-sol");
const image = {
  type: "image" as const,
  source: { type: "base64" as const, media_type: "image/png", data: "aGk=" },
};
const call = { type: "tool_use" as const, id: "call_a", name: "bash", input: { command: "ls" } };
const request: ModelRequest = {
  model: card.id,
  system: "You are careful.",
  tools: [{ name: "bash", description: "Runs.", input_schema: { type: "object" } }],
  messages: [
    { role: "user", content: [{ type: "text", text: "Grüß Gott – 世界 🪚" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "s" },
        { type: "text", text: "Looking." },
        call,
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "call_a", content: [{ type: "text", text: "a.png" }, image] },
        { type: "text", text: "and now?" },
      ],
    },
    { role: "system", content: [{ type: "text", text: "Mind the budget." }] },
  ],
  cacheAfter: [],
  maxTokens: 1000,
  thinking: "none",
  effort: "high",
};

async function exchange(
  turn: OpenaiTurn,
  options: { idleMs?: number; apiKey?: string; card?: typeof card } = {},
) {
  const server = await startOpenaiServer(turn);
  onTestFinished(() => server.close());
  const abort = new AbortController();
  const model = openaiModel({ card, apiKey: key, baseUrl: server.url, idleMs: 20_000, ...options });
  const parts: ModelPart[] = [];
  const body = model.encode(request);
  const reply = model.send(request, body, (part) => parts.push(part), abort.signal);
  return { server, abort, reply, parts, body };
}

describe("what goes out", () => {
  test("the bytes on the wire are those of encode, and a strict server takes them", async () => {
    const { server, reply, body } = await exchange({ text: "hi" });
    await reply;
    expect(server.received[0]).toMatchObject({ raw: body, path: "/v1/chat/completions" });
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(server.requests).toHaveLength(1);
  });

  test("without a key no authorization is sent", async () => {
    const { server, reply } = await exchange({ text: "hi" }, { apiKey: "" });
    await reply;
    expect(server.received[0]?.headers.authorization).toBeUndefined();
  });

  test("calls and results become tool messages, images a user message after them, thinking nothing", () => {
    const { messages } = JSON.parse(encodeOpenai(request, { official: false }));
    const called = { name: "bash", arguments: '{"command":"ls"}' };
    expect(messages).toEqual([
      { role: "system", content: "You are careful." },
      { role: "user", content: "Grüß Gott – 世界 🪚" },
      {
        role: "assistant",
        content: "Looking.",
        tool_calls: [{ id: "call_a", type: "function", function: called }],
      },
      { role: "tool", tool_call_id: "call_a", content: "a.png\n[image]" },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } },
          { type: "text", text: "and now?" },
        ],
      },
      { role: "system", content: "Mind the budget." },
    ]);
  });

  test("only OpenAI's own host gets the fields that others do not know", () => {
    const official = JSON.parse(encodeOpenai(request, { official: true }));
    const other = JSON.parse(encodeOpenai(request, { official: false }));
    expect(official).toMatchObject({
      model: "gpt-6.1-sol",
      max_completion_tokens: 1000,
      reasoning_effort: "high",
    });
    expect(official.prompt_cache_key).toMatch(/^[\w-]{24}$/);
    expect(official).not.toHaveProperty("max_tokens");
    expect(Object.keys(other)).toEqual([
      "model",
      "max_tokens",
      "stream",
      "stream_options",
      "tools",
      "messages",
    ]);
  });

  test("a longer history begins with the bytes of the shorter one", () => {
    const [shorter, longer] = [request.messages.slice(0, 3), request.messages].map((messages) =>
      encodeOpenai({ ...request, messages }, { official: true }),
    );
    expect(longer?.startsWith(shorter?.slice(0, -2) ?? "?")).toBe(true);
  });
});

test.each([
  ["api.openai.com", "openai/gpt-6.1-sol", 40],
  ["openrouter.ai", "openrouter/openai/gpt-6.1-sol", 64],
])("ids of other servers are cut for %s, each call still with its result", (host, model, longest) => {
  const ids = ["call_a", `chatcmpl-tool-${"0".repeat(60)}1`, `chatcmpl-tool-${"0".repeat(60)}2`];
  const messages: ModelRequest["messages"] = [
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "assistant", content: ids.map((id) => ({ ...call, id })) },
    { role: "user", content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: id })) },
  ];
  const body = encodeOpenai({ ...request, messages }, dialectOf(`https://${host}/v1`, model));
  const [, , reply, ...results] = JSON.parse(body).messages;
  const sent: string[] = reply.tool_calls.map(({ id }: { id: string }) => id);
  expect(sent[0]).toBe("call_a");
  expect(new Set(sent).size).toBe(3);
  expect(Math.max(...sent.map(({ length }) => length))).toBeLessThanOrEqual(longest);
  expect(
    results.map(({ tool_call_id, content }: { tool_call_id: string; content: string }) => [
      tool_call_id,
      content,
    ]),
  ).toEqual(ids.map((id, at) => [sent[at], id]));
});

test.each([
  ["openrouter/deepseek/deepseek-v4-pro", ""],
  ["openrouter/moonshotai/kimi-k2.6", ""],
  ["openrouter/xiaomi/mimo-v2.5-pro", ""],
  ["openrouter/anthropic/claude-sonnet-5.5", undefined],
  ["openrouter/google/gemini-3.5-pro", undefined],
  ["openrouter/openai/gpt-6.1-sol", undefined],
  ["openrouter/z-ai/glm-5.3", undefined],
])("at OpenRouter a call of %s without thinking has the reasoning_content %j", (model, thinking) => {
  const messages: ModelRequest["messages"] = [
    { role: "user", content: [{ type: "text", text: "go" }] },
    { role: "assistant", content: [call] },
  ];
  const body = encodeOpenai({ ...request, model, messages, carried: true }, dialects.chat_openrouter);
  expect(JSON.parse(body).messages.at(-1).reasoning_content).toBe(thinking);
});

test.each([
  ["https://api.mistral.ai/v1", "mistral/x", dialects.chat_mistral],
  ["http://gateway.example/v1", "mistral/x", dialects.chat_mistral],
  ["http://gateway.example/v1", "openrouter/google/gemini-3.5-pro", dialects.chat_openrouter],
  ["https://api.mistral.ai/v1", "corp/x", dialects.chat_mistral],
  ["http://gateway.example/v1", "openai/x", dialects.chat],
  [undefined, "openai/x", dialects.chat_official],
])("the dialect of %s for %s", (url, model, dialect) => {
  expect(dialectOf(url, model)).toBe(dialect);
});

describe("what comes in", () => {
  test("text, thoughts and calls arrive as parts and as blocks", async () => {
    const calls = [
      { id: "call_1", name: "bash", args: '{"command":"echo 世界"}' },
      { id: "call_2", name: "todo", args: "" },
    ];
    const { reply, parts } = await exchange({ thinking: "hm", text: "Grüße 🪚", calls });
    expect(await reply).toMatchObject({
      content: [
        { type: "text", text: "Grüße 🪚" },
        { type: "tool_use", id: "call_1", name: "bash", input: { command: "echo 世界" } },
        { type: "tool_use", id: "call_2", name: "todo", input: {} },
      ],
      stopReason: "tool_use",
      model: "gpt-6.1-sol-2026-11-01",
      messageId: "chatcmpl-1",
    });
    expect(parts[0]).toEqual({ type: "thinking_delta", text: "hm" });
    expect(parts).toContainEqual({ type: "tool_use_started", id: "call_1", name: "bash" });
    expect(parts.flatMap((part) => (part.type === "input_delta" ? [part.text] : [])).join("")).toBe(
      calls[0]?.args,
    );
  });

  test("calls without an id, or with one that is taken, get ids of their own, the same each time", async () => {
    const calls = [
      { name: "bash", args: "{}" },
      { id: "call_a", name: "bash", args: "{}" },
    ];
    const ids = async () =>
      (await (await exchange({ calls })).reply).content.map((block) => "id" in block && block.id);
    const first = await ids();
    expect(new Set([...first, "call_a"]).size).toBe(3);
    expect(await ids()).toEqual(first);
  });

  test.each([
    ["stop", "end_turn", 1],
    ["length", "max_tokens", 1],
    ["content_filter", "refusal", 1],
  ])("finish reason %s is %s", async (finish, stopReason, blocks) => {
    const calls = finish === "stop" ? [] : [{ id: "c", name: "bash", args: '{"comm' }];
    const { content, ...reply } = await (await exchange({ text: "so", calls, finish })).reply;
    expect(reply.stopReason).toBe(stopReason);
    expect(content).toHaveLength(blocks);
  });

  test("a server that says stop after calls still gets them run", async () => {
    const { reply } = await exchange({ calls: [{ id: "c", name: "bash", args: "{}" }], finish: "stop" });
    expect((await reply).stopReason).toBe("tool_use");
  });

  test("a finish reason is enough: [DONE] may be missing", async () => {
    const { reply } = await exchange({ text: "whole", fault: { noDone: true } });
    expect((await reply).content).toEqual([{ type: "text", text: "whole" }]);
  });

  test("usage that a server keeps to itself is estimated, so that budgets go on", async () => {
    const { usage } = await (await exchange({ text: "hello there", fault: { noUsage: true } })).reply;
    expect(usage.inputTokens).toBeGreaterThan(100);
    expect(usage.outputTokens).toBeGreaterThan(3);
  });
});

test("what was read is not counted again as input, over the wire too", async () => {
  const { reply } = await exchange({ text: "x", usage: { prompt: 70_010, cached: 50_000, output: 500 } });
  expect((await reply).usage).toEqual({
    ...noUsage,
    cacheReadTokens: 50_000,
    cacheWrite5mTokens: 20_010,
    outputTokens: 500,
  });
});

describe("what goes wrong", () => {
  const answer = (status: number, error: object = { message: "told" }, headers = {}): OpenaiTurn => ({
    fault: { status, body: { error }, headers },
  });
  test.each<[string, OpenaiTurn, string]>([
    ["401", answer(401), "credentials"],
    ["403", answer(403), "credentials"],
    ["404", answer(404), "not_found"],
    ["429", answer(429), "rate_limit"],
    ["429 of spent credit", answer(429, { message: "pay", code: "insufficient_quota" }), "credentials"],
    ["400", answer(400), "bad_request"],
    [
      "400 of a full context",
      answer(400, { message: "long", code: "context_length_exceeded" }),
      "context_full",
    ],
    [
      "vLLM's full context",
      answer(400, { message: "This model's maximum context length is 8192" }),
      "context_full",
    ],
    [
      "llama.cpp's full context",
      answer(400, { message: "request (9 tokens) exceeds it", code: 400, type: "exceed_context_size_error" }),
      "context_full",
    ],
    [
      "llama.cpp's 500 for an image that its model cannot see",
      answer(500, {
        message: "image input is not supported - hint: mmproj",
        code: 500,
        type: "server_error",
      }),
      "bad_request",
    ],
    ["500", answer(500), "server"],
    ["a proxy's page", { fault: { status: 502, body: "<html>bad gateway</html>" } }, "server"],
    ["a plain answer in place of a stream", { fault: { status: 200, body: {} } }, "bad_request"],
    ["a cut connection", { text: "abcd", fault: { closeAfter: 2 } }, "network"],
    ["no finish reason", { text: "abcd", fault: { noFinish: true } }, "incomplete"],
    ["arguments that are no JSON", { calls: [{ id: "c", name: "bash", args: '{"a' }] }, "incomplete"],
    [
      "an error in the stream",
      { text: "a", fault: { errorAfter: { chunks: 2, error: { code: 502 } } } },
      "server",
    ],
    [
      "a rate limit in the stream",
      {
        text: "a",
        fault: { errorAfter: { chunks: 1, error: { message: "slow", type: "rate_limit_exceeded" } } },
      },
      "rate_limit",
    ],
  ])("%s", async (_, turn, kind) => {
    const { reply } = await exchange(turn);
    expect(await failure(reply)).toMatchObject({ kind });
  });

  test("the server's words and its wish to wait are kept, the key is not", async () => {
    const { reply } = await exchange(answer(429, { message: `slow down, ${key}` }, { "retry-after": "7" }));
    const error = await failure(reply);
    expect(error).toMatchObject({ message: "slow down, [key]", status: 429, retryAfterMs: 7000 });
  });

  const refused = { loc: ["body", "stream_options"], msg: "Extra inputs are not permitted" };
  test.each([
    [
      "Mistral",
      { object: "error", message: { detail: [refused] } },
      "body.stream_options: Extra inputs are not permitted",
    ],
    [
      "FastAPI",
      { detail: [refused, refused] },
      "body.stream_options: Extra inputs are not permitted; body.stream_options",
    ],
    [
      "OpenRouter",
      { error: { message: "Provider returned error", code: 400, metadata: { raw: "no thought_signature" } } },
      "Provider returned error: no thought_signature",
    ],
    ["an unknown server", { message: { why: "odd" } }, '{"why":"odd"}'],
  ])("the words of %s are told, whatever their form", async (_, body, words) => {
    const { reply } = await exchange({ fault: { status: 422, body } });
    expect((await failure(reply)).message).toContain(words);
  });

  test("comments and empty chunks are no progress: a silent stream is given up", async () => {
    const { reply } = await exchange({ text: "abcd", fault: { silentAfter: 2 } }, { idleMs: 300 });
    expect((await failure(reply)).kind).toBe("idle");
  });

  test("an interruption keeps the text that was begun", async () => {
    const { reply, abort, parts } = await exchange({ text: "abcd", fault: { silentAfter: 2 } });
    await expect.poll(() => parts.length, { timeout: 100_000 }).toBeGreaterThan(0);
    abort.abort();
    const error = await failure(reply);
    expect(error).toMatchObject({ kind: "aborted", partial: [{ type: "text", text: "ab" }] });
  });

  test("what a listener throws is no failure of the network", async () => {
    const server = await startOpenaiServer({ text: "abcd" });
    onTestFinished(() => server.close());
    const model = openaiModel({ card, baseUrl: server.url });
    const fail = () => {
      throw new Error("a bug");
    };
    const reply = model.send(request, model.encode(request), fail, new AbortController().signal);
    await expect(reply).rejects.toThrow("a bug");
  });

  test("the strict server refuses a call without its result", async () => {
    const server = await startOpenaiServer({ text: "abcd" });
    onTestFinished(() => server.close());
    const model = openaiModel({ card, baseUrl: new URL("/", server.url).href });
    const body = model.encode({ ...request, messages: request.messages.slice(0, 2) });
    const error = await failure(model.send(request, body, () => {}, new AbortController().signal));
    expect(error).toMatchObject({ kind: "bad_request", message: "no tool messages for call_a" });
  });

  test("a server that is not there is a network error", async () => {
    const model = openaiModel({ card, baseUrl: "http://127.0.0.1:1/v1" });
    const reply = model.send(request, model.encode(request), () => {}, new AbortController().signal);
    expect((await failure(reply)).kind).toBe("network");
  });
});
