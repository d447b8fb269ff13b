/** The strict server as a program on the wire: bytes, keys, events, faults, what it records. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Fault, ScriptedReply } from "../../src/models/playback/script.ts";
import { type Json, post, requestOf, stream } from "./mock-request.ts";
import { type MockOptions, type MockServer, startMockServer } from "./mock-server.ts";

const open: MockServer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

async function serve(
  turns: MockOptions["turns"],
  options: Omit<MockOptions, "turns"> = {},
): Promise<MockServer> {
  const server = await startMockServer({ turns, ...options });
  open.push(server);
  return server;
}

const fine = () => ({ text: "fine" });
const types = (events: Json[]) => events.map((event) => event.type).filter((type) => type !== "ping");

test("an unknown model is not found, and a dated name is known", async () => {
  const server = await serve(fine);
  const unknown = await post(server, requestOf({ model: "claude-9" }));
  expect(unknown).toMatchObject({ status: 404, message: "model: claude-9" });
  expect(await post(server, requestOf({ model: "claude-haiku-4-5-20251001" }))).toMatchObject({
    status: 200,
  });
});

test("a request needs a key, in either header, and a version", async () => {
  const server = await serve(fine);
  const withHeaders = async (headers: Record<string, string>) =>
    (await post(server, requestOf(), headers)).status;
  expect(await withHeaders({ "x-api-key": "" })).toBe(401);
  expect(await withHeaders({ "x-api-key": "", authorization: "Bearer k" })).toBe(200);
  expect(await withHeaders({ "anthropic-version": "" })).toBe(400);
});

test("a server that knows its key refuses others", async () => {
  const server = await serve(fine, { apiKey: "right" });
  expect(await post(server, requestOf(), { "x-api-key": "wrong" })).toMatchObject({ status: 401 });
  expect(await post(server, requestOf(), { "x-api-key": "right" })).toMatchObject({ status: 200 });
});

test("text that is no UTF-8, no JSON or half a character is refused", async () => {
  const server = await serve(fine);
  const body = (text: string) => JSON.stringify(requestOf()).replace("go on", text);
  const bytes = (text: string) => new Uint8Array(Buffer.from(body(text), "latin1"));
  const wrong = [bytes("caf\xe9"), body("go").slice(0, -1), body("\\ud83d"), body("\\ude00\\ud83d")];
  for (const one of wrong) {
    const { status, message } = await post(server, one);
    expect([status, message]).toEqual([400, expect.stringContaining("not valid JSON")]);
  }
  const right = [bytes("caf\xc3\xa9"), body("go"), body("\\ud83d\\ude00"), body("🟢")];
  for (const one of right) expect((await post(server, one)).status).toBe(200);
});

test("a body of more than 32 MB is too large", async () => {
  const server = await serve(fine, { models: { wide: { window: 20_000_000 } } });
  const megabytes = (count: number) => ({ role: "user", content: "x".repeat(count * 1024 * 1024) });
  const answer = await post(server, requestOf({ model: "wide", messages: [megabytes(32)] }));
  expect(answer).toMatchObject({ status: 413, body: { error: { type: "request_too_large" } } });
  expect(await post(server, requestOf({ model: "wide", messages: [megabytes(31)] }))).toMatchObject({
    status: 200,
  });
});

test("a reply streams as events that carry it whole, with the usage at both ends", async () => {
  const command = `echo ${"é🟢".repeat(40)}`;
  const server = await serve([
    { thinking: "hm", text: "so\n", calls: [{ bash: { command } }], stop: "tool_use" },
  ]);
  const { events } = await stream(
    server,
    requestOf({ thinking: { type: "adaptive", display: "summarized" } }),
  );
  expect(types(events).filter((type) => type !== "content_block_delta")).toEqual([
    "message_start",
    ...Array(3).fill(["content_block_start", "content_block_stop"]).flat(),
    "message_delta",
    "message_stop",
  ]);
  const deltas = events.flatMap((event) => (event.delta ? [event.delta as Json] : []));
  const joined = (key: string) => deltas.map((delta) => delta[key] ?? "").join("");
  expect([joined("thinking"), joined("text")]).toEqual(["hm", "so\n"]);
  expect(JSON.parse(joined("partial_json"))).toEqual({ command });
  expect(deltas.at(-1)).toEqual({ stop_reason: "tool_use", stop_sequence: null });
  const started = events[0]?.message as { usage: Json; content: unknown };
  const usage = events.at(-2)?.usage as Json;
  expect(started).toMatchObject({ content: [], usage: { output_tokens: 1 } });
  expect(usage).toMatchObject({ ...started.usage, output_tokens: expect.any(Number) });
  expect(usage.output_tokens).toBeGreaterThan(100);
});

test("the usage of a turn is reported as written", async () => {
  const server = await serve([
    { text: "a", usage: { input: 10, cache_write: 20_000, cache_read: 50_000, output: 500 } },
  ]);
  expect((await post(server, requestOf())).body.usage).toMatchObject({
    input_tokens: 10,
    cache_creation_input_tokens: 20_000,
    cache_read_input_tokens: 50_000,
    output_tokens: 500,
  });
});

describe("a turn that goes wrong", () => {
  const afterFault = async (fault: Fault, turn: ScriptedReply = { text: "good" }) => {
    const server = await serve([{ ...turn, fault }], { pingMs: 5 });
    return { server, ...(await stream(server, requestOf())) };
  };

  test("may answer with a status and headers, and the next one is played afterwards", async () => {
    const server = await serve([
      { fault: { status: 429, headers: { "retry-after": "7" } }, repeat: 2 },
      { text: "ok" },
    ]);
    for (let attempt = 0; attempt < 2; attempt++) {
      const answer = await post(server, requestOf());
      expect(answer).toMatchObject({ status: 429, body: { error: { type: "rate_limit_error" } } });
      expect(answer.headers.get("retry-after")).toBe("7");
    }
    expect(await post(server, requestOf())).toMatchObject({ status: 200 });
  });

  test("may never answer", async () => {
    const server = await serve([{ fault: { dropConnection: true } }]);
    await expect(post(server, requestOf())).rejects.toThrow();
    expect(server.exchanges).toMatchObject([{ status: 0, cutByServer: true }]);
  });

  test("may break off after some events", async () => {
    const { events, broke, server } = await afterFault({ closeAfterEvents: 2 });
    expect(types(events)).toEqual(["message_start", "content_block_start"]);
    expect(broke).toBe(true);
    expect(server.exchanges[0]?.clientClosedAt).toBeUndefined();
  });

  test("may end without message_stop", async () => {
    const { events, broke } = await afterFault({ noMessageStop: true });
    expect([types(events).at(-1), broke]).toEqual(["message_delta", false]);
  });

  test("may send an error among the events", async () => {
    const { events } = await afterFault({ errorEventAfter: 3 });
    expect(events.at(-1)).toEqual({
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
    });
    expect(types(events)).toHaveLength(4);
  });

  test("may cut the last call's input", async () => {
    const calls = [{ bash: { command: "ls" } }, { bash: { command: "echo a long command" } }];
    const { events } = await afterFault({ cutToolJson: true }, { calls });
    const json = events
      .flatMap((event) => (event.index === 1 ? [(event.delta as Json)?.partial_json ?? ""] : []))
      .join("");
    expect(json).toMatch(/^\{"command":"echo/);
    expect(() => JSON.parse(json)).toThrow();
    expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "max_tokens" } });
  });

  test("may fall silent but for pings, and the server sees the client hang up", async () => {
    const server = await serve([{ text: "good", fault: { silentAfterEvents: 3 } }], { pingMs: 5 });
    const pinged = (text: string) => text.split("event: ping").length > 3;
    const { events, broke } = await stream(server, requestOf(), pinged);
    expect(broke).toBe(true);
    expect(types(events)).toEqual(["message_start", "content_block_start", "content_block_delta"]);
    expect(events.filter((event) => event.type === "ping").length).toBeGreaterThan(2);
    await expect
      .poll(() => server.exchanges[0]?.clientClosedAt)
      .toBeGreaterThan(server.exchanges[0]?.receivedAt ?? 0);
  });

  test("may wait before the answer and between events", async () => {
    const begun = performance.now();
    const { events } = await afterFault({ delayMs: 60, pauseMs: 10 });
    expect(performance.now() - begun).toBeGreaterThan(100);
    expect(types(events).at(-1)).toBe("message_stop");
  });
});

describe("a script that does not fit", () => {
  test("is told in words that no client tries again", async () => {
    const server = await serve([{ expect: "README", text: "a" }]);
    expect(await post(server, requestOf())).toMatchObject({
      status: 400,
      message: "mock script: turn 1: expected /README/ in the user's message, got: go on",
    });
    expect(await post(server, requestOf())).toMatchObject({
      status: 400,
      message: "mock script: the script ends after 1 reply, and one more was asked for",
    });
  });

  test("is not used up by requests that are refused", async () => {
    const server = await serve([{ text: "first" }]);
    expect(await post(server, requestOf({ max_tokens: 0 }))).toMatchObject({ status: 400 });
    expect((await post(server, requestOf())).body.content).toEqual([{ type: "text", text: "first" }]);
    expect([server.requests.length, server.rawBodies.length]).toEqual([1, 2]);
    expect(server.exchanges.map((exchange) => exchange.error)).toEqual([
      expect.stringMatching(/max_tokens/),
      undefined,
    ]);
  });
});

test("the ids of calls are new in every request, whatever server made the earlier ones", async () => {
  const turn = { calls: [{ bash: {} }, { bash: {} }] };
  const ids = async (messages: Json[]) => {
    const { body } = await post(await serve([turn]), requestOf({ messages }));
    return (body.content as Json[]).map((block) => block.id);
  };
  const say = (content: string) => ({ role: "user", content });
  expect(new Set([...(await ids([say("a")])), ...(await ids([say("a"), say("b")]))]).size).toBe(4);
});

test("raw bodies are kept as files, those of refused requests as well", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mock-"));
  const server = await serve(fine, { saveTo: folder });
  await post(server, '{"broken');
  await post(server, requestOf());
  expect(readdirSync(folder)).toEqual(["req-001.json", "req-002.json"]);
  expect(readFileSync(join(folder, "req-001.json"), "utf8")).toBe('{"broken');
  rmSync(folder, { recursive: true });
});

test("tokens can be counted and models listed, other paths are not found", async () => {
  const server = await serve(fine);
  const { max_tokens, ...request } = requestOf();
  const counted = await post(server, request, {}, "/v1/messages/count_tokens");
  expect(counted.body.input_tokens).toBeGreaterThan(20);
  expect(await post(server, requestOf(), {}, "/v1/messages/count_tokens")).toMatchObject({ status: 400 });
  const key = { headers: { "x-api-key": "k", "anthropic-version": "2023-06-01" } };
  const models = (await (await fetch(`${server.url}/v1/models`, key)).json()) as { data: Json[] };
  expect(models.data).toContainEqual({ id: "claude-opus-5-5", type: "model" });
  expect(await post(server, request, {}, "/v1/complete")).toMatchObject({ status: 404 });
  expect(server.exchanges).toEqual([]);
});
