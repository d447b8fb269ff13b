/** The adapter over real HTTP: the bytes that go out, and what becomes of the events that come in. */

import { BaseAnthropic } from "@anthropic-ai/sdk/client";
import { describe, expect, test } from "vitest";
import { anthropicModel } from "../../../src/models/anthropic/anthropic.ts";
import { card, exchange, key, request, serve } from "../fixtures/exchange.ts";
import {
  block,
  call,
  ended,
  hello,
  signed,
  start,
  stop,
  stream,
  text,
  thinking,
} from "../fixtures/wire-server.ts";

describe("what goes out", () => {
  test("the bytes on the wire are those of encode", async () => {
    const { server, reply, body } = await exchange(stream(...hello));
    await reply;
    expect(server.received[0]?.body.equals(Buffer.from(body))).toBe(true);
    expect(server.received[0]?.url).toBe("/v1/messages");
    expect(server.received[0]?.headers["content-type"]).toBe("application/json");
    expect(server.received[0]?.headers["anthropic-version"]).toBeTruthy();
    expect(server.received[0]?.headers.authorization).toBe(`Bearer ${key}`);
  });

  test("the request stands as Anthropic's SDK would send it: path, version, credentials", async () => {
    const server = await serve(stream(...hello), stream(...hello));
    const signal = new AbortController().signal;
    for (const baseURL of [server.url, `${server.url}/gateway/`]) {
      const sdk = new BaseAnthropic({ apiKey: key, baseURL, logLevel: "off" });
      await (await sdk.post("/v1/messages", { body: { stream: true } }).asResponse()).text();
      const model = anthropicModel({ card, apiKey: key, baseUrl: baseURL });
      await model.send(request, model.encode(request), () => {}, signal);
      const [theirs, ours] = server.received.slice(-2);
      const names = ["accept", "anthropic-version", "authorization", "content-type"];
      for (const name of names) expect(ours?.headers[name]).toBe(theirs?.headers[name]);
      expect(ours?.url).toBe(theirs?.url);
    }
  });

  test("headers of the user go along, and stand before ours", async () => {
    const server = await serve(stream(...hello));
    const headers = { "X-Gateway": "blue", Authorization: "Basic abc" };
    const model = anthropicModel({ card, apiKey: key, baseUrl: server.url, headers });
    await model.send(request, model.encode(request), () => {}, new AbortController().signal);
    expect(server.received[0]?.headers).toMatchObject({ "x-gateway": "blue", authorization: "Basic abc" });
  });

  test("not even a space of the body is touched", async () => {
    const server = await serve(stream(...hello));
    const model = anthropicModel({ card, apiKey: key, baseUrl: server.url });
    const body = `${model.encode(request)} \n`;
    await model.send(request, body, () => {}, new AbortController().signal);
    expect(server.received[0]?.body.toString()).toBe(body);
  });

  test("a plain request asks for no beta feature", async () => {
    const { server, reply } = await exchange(stream(...hello));
    await reply;
    expect(server.received[0]?.headers["anthropic-beta"]).toBeUndefined();
  });

  test("a request asks for the beta features it uses", async () => {
    const reminder = { role: "system" as const, content: [], clear_at: "next_user_message" as const };
    const messages = [...request.messages, reminder];
    const { server, reply } = await exchange(stream(...hello), {
      request: { ...request, messages, blockBinding: "drop_block" },
    });
    await reply;
    expect(server.received[0]?.headers["anthropic-beta"]).toBe(
      "thinking-binding-controls-2026-08-01,mid-conversation-system-clear-at-2026-08-21",
    );
  });

  test("the connection is used again by the next request", async () => {
    const { server, reply } = await exchange(stream(...hello));
    await reply;
    await server.received[0]?.closed;
    // The end of the response is read in one of the next turns of the event loop.
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    const model = anthropicModel({ card, apiKey: key, baseUrl: server.url });
    await model.send(request, model.encode(request), () => {}, new AbortController().signal);
    expect(server.received).toHaveLength(2);
    expect(server.connections()).toBe(1);
  });
});

describe("what comes in", () => {
  test("text, thinking and calls arrive as parts and as blocks", async () => {
    const { reply, parts } = await exchange(
      stream(
        start,
        ...block(0, thinking, signed),
        ...block(1, { type: "redacted_thinking", data: "b3BhcXVl" }, []),
        ...text(2, "Let me ", "look."),
        ...call(3, "toolu_1", "", '{"comm', 'and":"ls"}'),
        ...call(4, "toolu_2"),
        ended("tool_use"),
        stop,
      ),
    );
    expect(await reply).toEqual({
      content: [
        { type: "thinking", thinking: "hm", signature: "c2ln" },
        { type: "redacted_thinking", data: "b3BhcXVl" },
        { type: "text", text: "Let me look." },
        { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls" } },
        { type: "tool_use", id: "toolu_2", name: "bash", input: {} },
      ],
      stopReason: "tool_use",
      usage: {
        inputTokens: 7,
        cacheReadTokens: 30,
        cacheWrite5mTokens: 12,
        cacheWrite1hTokens: 0,
        outputTokens: 9,
      },
      model: "claude-sonnet-5-5",
      messageId: "msg_1",
    });
    expect(parts).toEqual([
      { type: "thinking_delta", text: "hm" },
      { type: "text_delta", text: "Let me " },
      { type: "text_delta", text: "look." },
      { type: "tool_use_started", id: "toolu_1", name: "bash" },
      { type: "input_delta", id: "toolu_1", text: "" },
      { type: "input_delta", id: "toolu_1", text: '{"comm' },
      { type: "input_delta", id: "toolu_1", text: 'and":"ls"}' },
      { type: "tool_use_started", id: "toolu_2", name: "bash" },
    ]);
  });

  test("signed thinking without text goes back byte for byte, unknown fields and key order included", async () => {
    const odd = { signature: "", thinking: "", type: "thinking", estimated: 3 };
    const { reply } = await exchange(
      stream(start, ...block(0, odd, signed.slice(1)), ...text(1, "ok"), ended("end_turn"), stop),
    );
    const { content } = await reply;
    expect(JSON.stringify(content[0])).toBe(
      '{"signature":"c2ln","thinking":"","type":"thinking","estimated":3}',
    );
    const model = anthropicModel({ card });
    const next = { ...request, messages: [...request.messages, { role: "assistant" as const, content }] };
    expect(model.encode(next)).toContain(JSON.stringify(content));
  });

  test("characters that are split between packets arrive whole", async () => {
    const { reply } = await exchange(async (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const events = [start, ...text(0, "säge 🪚"), ended("end_turn"), stop];
      const bytes = Buffer.from(
        events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join(""),
      );
      const middle = bytes.indexOf(Buffer.from("🪚")) + 2;
      response.write(bytes.subarray(0, middle));
      await new Promise((resolve) => setTimeout(resolve, 50));
      response.end(bytes.subarray(middle));
    });
    expect((await reply).content).toEqual([{ type: "text", text: "säge 🪚" }]);
  });

  test("the last counts win, and one-hour writes are told apart", async () => {
    const usage = {
      input_tokens: 5,
      output_tokens: 80,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: 50,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
    };
    const { reply } = await exchange(stream(start, ...text(0, "ok"), ended("end_turn", usage), stop));
    expect((await reply).usage).toEqual({
      inputTokens: 5,
      cacheReadTokens: 30,
      cacheWrite5mTokens: 20,
      cacheWrite1hTokens: 30,
      outputTokens: 80,
    });
  });

  test("what the API says of the cache and of dropped thinking is passed on", async () => {
    const message = {
      ...start.message,
      diagnostics: { cache_miss_reason: { type: "tools_changed", cache_missed_input_tokens: 900 } },
      input_transformations: [
        { type: "thinking_dropped", path: "messages.1.content.0" },
        { type: "thinking_mismatch_allowed", path: "messages.3.content.0" },
      ],
    };
    const { reply } = await exchange(
      stream({ ...start, message }, ...text(0, "ok"), ended("end_turn"), stop),
    );
    expect(await reply).toMatchObject({ cacheMissReason: "tools_changed", droppedThinking: 1 });
  });

  test("of a reply cut by its length the calls are left out", async () => {
    const cutCall = call(2, "toolu_2", '{"command":"rm -r').slice(0, -1);
    const { reply } = await exchange(
      stream(start, ...text(0, "Now:"), ...call(1, "toolu_1", "{}"), ...cutCall, ended("max_tokens"), stop),
    );
    expect(await reply).toMatchObject({
      content: [{ type: "text", text: "Now:" }],
      stopReason: "max_tokens",
      usage: { outputTokens: 9 },
    });
  });

  test("thinking that was cut before its signature is left out", async () => {
    const cut = block(0, thinking, signed.slice(0, 1));
    const { reply } = await exchange(stream(start, ...cut, ended("max_tokens"), stop));
    expect((await reply).content).toEqual([]);
  });
});
