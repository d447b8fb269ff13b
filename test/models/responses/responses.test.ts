/** The Responses adapter over real HTTP: what goes out, what comes in, what it costs, and what goes wrong. */

import { describe, expect, onTestFinished, test } from "vitest";
import { type Block, thoughtText } from "../../../src/core/blocks.ts";
import { type Contract, type ModelCard, noUsage } from "../../../src/core/model-card.ts";
import type { ModelPart } from "../../../src/core/ports.ts";
import type { ModelRequest } from "../../../src/core/request.ts";
import cards from "../../../src/models/cards.json" with { type: "json" };
import { findCard } from "../../../src/models/cards.ts";
import { encodeResponses } from "../../../src/models/responses/encoding.ts";
import { responsesModel } from "../../../src/models/responses/responses.ts";
import { responsesUsage } from "../../../src/models/responses/stream.ts";
import { type ResponsesTurn, startResponsesServer } from "../../support/mock-responses.ts";
import type { Item } from "../../support/mock-responses-fields.ts";
import { failure } from "../fixtures/exchange.ts";

const key = "sk-canary-7f3a";
const contract = cards.contracts.responses as Contract;
const card: ModelCard = { ...findCard("openai/gpt-6.1-sol").card, api: "responses", contract };
const source = { type: "base64" as const, media_type: "image/png", data: "aGk=" };
const image = { type: "image" as const, source };
const bash = { name: "bash", description: "Runs.", input_schema: { type: "object" as const } };

const request: ModelRequest = {
  model: card.id,
  system: "You are careful.",
  tools: [bash, { ...bash, name: "todo" }],
  messages: [
    { role: "user", content: [{ type: "text", text: "Grüß Gott – 世界 🪚" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "foreign", signature: "s" },
        { type: "text", text: "Looking." },
        { type: "tool_use", id: `toolu_${"x".repeat(80)}`, name: "bash", input: { command: "ls" } },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: `toolu_${"x".repeat(80)}`,
          content: [{ type: "text", text: "a.png" }, image],
        },
        { type: "text", text: "and now?" },
        image,
      ],
    },
    { role: "system", content: [{ type: "text", text: "Mind the budget." }] },
  ],
  cacheAfter: [
    { after: "system", ttl: "30m" },
    { after: "block", message: 1, block: 2, ttl: "30m" },
    { after: "block", message: 2, block: 0, ttl: "30m" },
    { after: "block", message: 2, block: 2, ttl: "30m" },
  ],
  withdrawn: ["todo"],
  maxTokens: 1000,
  thinking: "none",
  carried: true,
  effort: "high",
};

async function exchange(
  turn: ResponsesTurn,
  { bare, ...changes }: Partial<Parameters<typeof responsesModel>[0]> & { bare?: true } = {},
) {
  const server = await startResponsesServer({ turnOf: () => turn, ...(bare ? { bare } : {}) });
  onTestFinished(() => server.close());
  const abort = new AbortController();
  const model = responsesModel({ card, apiKey: key, baseUrl: server.url, idleMs: 20_000, ...changes });
  const parts: ModelPart[] = [];
  const body = model.encode(request);
  const reply = model.send(request, body, (part) => parts.push(part), abort.signal);
  return { server, abort, model, reply, parts, body };
}

describe("what goes out", () => {
  test("the bytes on the wire are those of encode, and a strict server takes them", async () => {
    const { server, reply, body } = await exchange({ text: "hi" });
    await reply;
    expect(server.received[0]).toMatchObject({ raw: body, path: "/v1/responses" });
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${key}`);
    expect(server.received[0]?.refused).toBeUndefined();
  });

  test("items stand in order, marks on input alone, and nothing is stored", () => {
    const { input, ...rest } = JSON.parse(encodeResponses(request));
    const mark = { prompt_cache_breakpoint: { mode: "explicit" } };
    const url = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,aGk=" };
    const call_id = input[3].call_id;
    expect(call_id.length).toBeLessThanOrEqual(64);
    expect(input).toEqual([
      {
        type: "message",
        role: "developer",
        content: [{ type: "input_text", text: "You are careful.", ...mark }],
      },
      {
        type: "message",
        role: "user",
        content: [{ type: "input_text", text: "Grüß Gott – 世界 🪚", ...mark }],
      },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "Looking.", annotations: [] }],
      },
      { type: "function_call", call_id, name: "bash", arguments: '{"command":"ls"}' },
      {
        type: "function_call_output",
        call_id,
        output: [
          { type: "input_text", text: "a.png" },
          { ...url, ...mark },
        ],
      },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "and now?" },
          { ...url, ...mark },
        ],
      },
      { type: "message", role: "developer", content: [{ type: "input_text", text: "Mind the budget." }] },
    ]);
    expect(rest).toMatchObject({
      model: "gpt-6.1-sol",
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high", summary: "auto" },
      tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "bash" }] },
      prompt_cache_options: { mode: "explicit", ttl: "30m" },
    });
    expect(rest.tools[0]).toEqual({
      ...{ type: "function", name: "bash", description: "Runs." },
      parameters: { type: "object" },
      strict: false,
    });
    expect(rest).not.toHaveProperty("temperature");
  });

  test("a host that does not know developers reads the system text as such, and one without marks gets none", () => {
    const plain = encodeResponses({ ...request, cacheAfter: [], temperature: 0 }, { instructions: "system" });
    expect(plain).not.toMatch(/developer|prompt_cache_(breakpoint|options)/);
  });

  test("a tool that is defined in mid-conversation is an item behind all that was sent, and a strict server takes it", async () => {
    const definition = { ...bash, name: "later" };
    const addition = {
      type: "tool_addition" as const,
      tool: { type: "tool_definition" as const, definition },
    };
    const { server, reply, model } = await exchange({ text: "hi" });
    await reply;
    const messages = [...request.messages.slice(0, 3), { role: "system" as const, content: [addition] }];
    const added = { ...request, messages };
    await model.send(added, model.encode(added), () => {}, new AbortController().signal);
    const [before, after] = [server.requests[0]?.input ?? [], server.requests[1]?.input ?? []];
    expect(after.slice(0, 6)).toEqual(before.slice(0, 6));
    expect(after.at(-1)).toMatchObject({
      type: "additional_tools",
      tools: [{ name: "later", strict: false }],
    });
    const twice = { type: "tool_addition" as const, tool: { ...addition.tool, definition: bash } };
    const wrong = {
      ...request,
      messages: [...messages.slice(0, 3), { role: "system" as const, content: [twice] }],
    };
    const refused = model.send(wrong, model.encode(wrong), () => {}, new AbortController().signal);
    expect((await failure(refused)).message).toContain("already defined");
  });

  test("the limit is never below 16, what is compared is named, and an entry for 12 hours can be asked for", () => {
    const cacheAfter = [{ after: "system" as const, ttl: "12h" as const }];
    const body = JSON.parse(
      encodeResponses({ ...request, maxTokens: 3, cacheAfter, previousMessageId: "resp_1" }),
    );
    expect(body.max_output_tokens).toBe(16);
    expect(body.prompt_cache_options).toEqual({
      mode: "explicit",
      ttl: "12h",
      comparison_response_id: "resp_1",
    });
  });
});

describe("what comes in", () => {
  test("reasoning, text, phase and calls arrive as parts and as blocks, and go back as the items that they were", async () => {
    const calls = [
      { name: "bash", args: '{"command":"ls"}' },
      { name: "bash", args: "" },
    ];
    const turn = { thinking: "hm", between: true as const, text: "Looking 世", phase: "commentary", calls };
    const { server, reply, parts, model } = await exchange(turn);
    const { content, stopReason, messageId } = await reply;
    expect({ stopReason, messageId }).toEqual({ stopReason: "tool_use", messageId: "resp_1" });
    expect(content.map(({ type }) => type).join()).toBe(
      "redacted_thinking,text,redacted_thinking,tool_use,redacted_thinking,tool_use",
    );
    expect(parts).toContainEqual({ type: "thinking_delta", text: "h" });
    expect(content.map(thoughtText).filter(Boolean)).toEqual(["hm", "hm", "hm"]);
    expect(parts).toContainEqual({ type: "tool_use_started", id: "call_0_0", name: "bash" });
    expect(parts).toContainEqual({ type: "input_delta", id: "call_0_0", text: '{"comman' });
    const answered: Block[] = content.flatMap((block) =>
      block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: "ok" }] : [],
    );
    const messages = [
      ...request.messages.slice(0, 3),
      { role: "assistant" as const, content },
      { role: "user" as const, content: answered },
    ];
    const next = { ...request, messages };
    await model.send(next, model.encode(next), () => {}, new AbortController().signal);
    const items = server.requests[1]?.input.slice(6, 12) as Item[];
    expect(items.map(({ id }) => id)).toEqual(["rs_0_0", "msg_0", "rs_0_1", "fc_0_0", "rs_0_2", "fc_0_1"]);
    expect(items[1]).toMatchObject({ phase: "commentary", status: "completed" });
    const bare = messages.map((message) => ({
      ...message,
      content: message.content.filter(({ type }) => type !== "redacted_thinking"),
    }));
    expect(JSON.stringify(JSON.parse(encodeResponses({ ...request, messages: bare })).input)).not.toMatch(
      /"(msg|fc)_/,
    );
  });

  test("a contract that carries nothing keeps no reasoning", async () => {
    const plain = { ...card, contract: { ...contract, thinking: "none" as const } };
    const { reply } = await exchange({ thinking: "hm", text: "hi" }, { card: plain });
    expect((await reply).content.map(({ type }) => type)).toEqual(["text"]);
  });

  test.each([
    [{ refusal: "No." }, "refusal", ["text"]],
    [{ thinking: "", text: "half", incomplete: "max_output_tokens" }, "max_tokens", ["text"]],
    [{ text: "half", incomplete: "content_filter" }, "refusal", ["text"]],
    [
      { thinking: "", calls: [{ name: "bash", args: "{}" }], incomplete: "max_output_tokens" },
      "max_tokens",
      [],
    ],
  ] as const)("%j ends as %s, and nothing cut runs or comes back", async (turn, stopReason, types) => {
    const { reply } = await exchange(turn as ResponsesTurn);
    const made = await reply;
    expect(made.stopReason).toBe(stopReason);
    expect(made.content.map(({ type }) => type)).toEqual(types);
  });

  test.each([
    [{ text: "half", incomplete: "max_output_tokens" }, "max_tokens", ["text"]],
    [{ text: "half", output: 999 }, "end_turn", ["text"]],
    [
      { text: "Now.", calls: [{ name: "bash", args: "{}" }], incomplete: "max_output_tokens" },
      "max_tokens",
      ["text"],
    ],
  ] as const)("where a cut reply is called completed, %j ends as %s", async (turn, stopReason, types) => {
    const { reply } = await exchange(turn as ResponsesTurn, { bare: true });
    const made = await reply;
    expect(made.stopReason).toBe(stopReason);
    expect(made.content.map(({ type }) => type)).toEqual(types);
  });

  test("OpenAI's word that nothing was cut is taken, even at the limit", async () => {
    const { reply } = await exchange({ text: "All.", output: 1000 });
    expect((await reply).stopReason).toBe("end_turn");
  });

  test("a server like llama-server refuses reasoning without its content and tools that are added", async () => {
    const server = await startResponsesServer({ turnOf: () => ({ text: "hi" }), bare: true });
    onTestFinished(() => server.close());
    const foreign = [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" },
      { type: "additional_tools", role: "developer", tools: [] },
    ];
    for (const item of foreign) {
      const body = JSON.parse(encodeResponses(request));
      const raw = JSON.stringify({ ...body, input: [item, ...body.input] });
      expect((await fetch(`${server.url}/responses`, { method: "POST", body: raw })).status).toBe(400);
    }
  });

  test("what is read and written is billed apart; what the server does not state is estimated", () => {
    const details = { cached_tokens: 6000, cache_write_tokens: 3000 };
    const usage = {
      input_tokens: 10_000,
      input_tokens_details: details,
      output_tokens: 7,
      total_tokens: 10_007,
    };
    const wire = { ...usage, output_tokens_details: { reasoning_tokens: 2 } };
    const billed = { ...noUsage, inputTokens: 1000, cacheReadTokens: 6000, outputTokens: 7 };
    expect(responsesUsage(wire, card)).toEqual({ ...billed, cacheWrite5mTokens: 3000 });
    const long = { ...details, cache_write_tokens_details: { ttl_12h_tokens: 1000, ttl_30m_tokens: 2000 } };
    expect(responsesUsage({ ...wire, input_tokens_details: long }, card)).toEqual({
      ...billed,
      ...{ cacheWrite5mTokens: 2000, cacheWrite1hTokens: 1000 },
    });
  });
});

describe("what goes wrong", () => {
  const failed = (code: string) => ({ failed: { code, message: `it was ${key}` } });
  const error = (code: string, status = 400) => ({
    fault: { status, body: { error: { message: "no", code } } },
  });
  test.each<[string, ResponsesTurn, string]>([
    ["a failed response", failed("server_error"), "server"],
    ["a failed response that was limited", failed("rate_limit_exceeded"), "rate_limit"],
    ["a failed response to a bad prompt", failed("invalid_prompt"), "bad_request"],
    ["a failed response about an image", failed("image_too_large"), "bad_request"],
    [
      "an error in the stream",
      { text: "hi", fault: { errorAfter: { chunks: 2, error: { code: "server_error", message: key } } } },
      "server",
    ],
    ["a prompt that is too long", error("context_length_exceeded"), "context_full"],
    ["reasoning that cannot be read", error("invalid_encrypted_content"), "bound_thinking"],
    ["spent credit", error("insufficient_quota", 429), "credentials"],
    ["a bad key", error("invalid_api_key", 401), "credentials"],
    ["a stream that is cut", { text: "hi", fault: { closeAfter: 4 } }, "network"],
    ["a stream without its end", { text: "hi", fault: { noFinish: true } }, "incomplete"],
    ["arguments that are no JSON", { calls: [{ name: "bash", args: '{"a":' }] }, "incomplete"],
  ])("%s is told as %j", async (_, turn, kind) => {
    const { reply } = await exchange(turn);
    const thrown = await failure(reply);
    expect(thrown.kind).toBe(kind);
    expect(thrown.message).not.toContain(key);
  });

  test("silence ends the attempt, however many events say that the server is at work", async () => {
    const { reply } = await exchange({ text: "hi", fault: { silentAfter: 2 } }, { idleMs: 150 });
    expect((await failure(reply)).kind).toBe("idle");
  });

  test("an interruption keeps the text so far", async () => {
    const { reply, parts, abort } = await exchange({ text: "Looking at it", fault: { silentAfter: 5 } });
    await expect.poll(() => parts.length).toBeGreaterThan(1);
    abort.abort();
    const { kind, partial } = await failure(reply);
    expect({ kind, partial }).toEqual({
      kind: "aborted",
      partial: [{ type: "text", text: "Looking at it" }],
    });
  });
});
