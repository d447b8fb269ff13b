/** The strict server's bills: usage on a settable clock, and why the cache missed. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Json, post, requestOf } from "./mock-request.ts";
import { type MockServer, startMockServer } from "./mock-server.ts";

let now = 0;
let server: MockServer;
beforeEach(async () => {
  now = 0;
  server = await startMockServer({ turns: () => ({ text: "fine" }), now: () => now });
});
afterEach(() => server.close());

const long = (letter: string) => ({
  type: "text",
  text: letter.repeat(4000),
  cache_control: { type: "ephemeral" },
});
const messages = (...letters: string[]) => [{ role: "user", content: letters.map(long) }];

/** Tokens read, written and neither. */
async function usage(changes: Json): Promise<number[]> {
  const { body, message } = await post(server, requestOf(changes));
  expect(message).toBe("");
  const used = body.usage as Record<string, number>;
  return [used.cache_read_input_tokens, used.cache_creation_input_tokens, used.input_tokens] as number[];
}

test("a second request reads what the first one wrote, until five minutes have passed", async () => {
  const [, written] = await usage({ messages: messages("a") });
  expect(written).toBeGreaterThan(1000);
  now += 299_000;
  const [read, more] = await usage({ messages: messages("a", "b") });
  expect([read, more]).toEqual([written, expect.any(Number)]);
  now += 299_000;
  expect((await usage({ messages: messages("a", "b") }))[0]).toBe((read ?? 0) + (more ?? 0));
  now += 300_000;
  expect((await usage({ messages: messages("a", "b") }))[0]).toBe(0);
});

test("the first change of the tools misses the whole cache, unless a deferred tool stood in the first request", async () => {
  const bash = { name: "bash", description: "runs", input_schema: { type: "object" } };
  const other = { ...bash, name: "other" };
  const held = { ...bash, name: "held", defer_loading: true };
  const removal = { type: "tool_removal", tool: { type: "tool_reference", name: "other" } };
  const read = async (...tools: Json[]) => {
    const begun = { tools, messages: messages("a") };
    const [, written] = await usage(begun);
    const changed = [...begun.messages, { role: "system", content: [removal] }];
    const beta = { "anthropic-beta": "mid-conversation-tool-changes-2026-07-01" };
    const { body } = await post(server, requestOf({ ...begun, messages: changed }), beta);
    return { written, read: (body.usage as Record<string, number>).cache_read_input_tokens };
  };
  expect((await read(bash, other)).read).toBe(0);
  const kept = await read(bash, other, held);
  expect(kept.read).toBe(kept.written);
});

test("markers may come and go without a miss", async () => {
  const plain = { ...long("a"), cache_control: undefined };
  await usage({ messages: messages("a") });
  const [read] = await usage({
    messages: [{ role: "user", content: [plain] }],
    cache_control: { type: "ephemeral" },
  });
  expect(read).toBeGreaterThan(1000);
});

test("an hour's life is billed apart", async () => {
  const hour = { ...long("a"), cache_control: { type: "ephemeral", ttl: "1h" } };
  const { body } = await post(
    server,
    requestOf({ messages: [{ role: "user", content: [hour, long("b")] }] }),
  );
  const { cache_creation, cache_creation_input_tokens } = body.usage as {
    cache_creation: Record<string, number>;
  } & Json;
  const { ephemeral_1h_input_tokens: hours = 0, ephemeral_5m_input_tokens: minutes = 0 } = cache_creation;
  expect(Math.min(hours, minutes)).toBeGreaterThan(900);
  expect(hours + minutes).toBe(cache_creation_input_tokens);
});

test("each model has its own minimum", async () => {
  const written = async (model: string) => (await usage({ model, messages: messages("a") }))[1];
  expect(await written("claude-sonnet-4-6")).toBeGreaterThan(1000);
  expect(await written("claude-opus-4-7")).toBe(0);
});

test("a request that is refused or fails is not billed", async () => {
  const failing = await startMockServer({ turns: [{ fault: { status: 529 } }, { text: "fine" }] });
  await post(failing, requestOf({ messages: messages("a") }));
  const { body } = await post(failing, requestOf({ messages: messages("a") }));
  expect(body.usage).toMatchObject({ cache_read_input_tokens: 0 });
  await failing.close();
});

describe("diagnostics", () => {
  const reason = async (changes: Json, previous?: unknown) => {
    const first = await post(
      server,
      requestOf({ messages: messages("a"), diagnostics: { previous_message_id: null } }),
    );
    expect(first.body.diagnostics).toEqual({ cache_miss_reason: null });
    const diagnostics = { previous_message_id: previous ?? first.body.id };
    const { body } = await post(server, requestOf({ messages: messages("a"), ...changes, diagnostics }));
    return (body.diagnostics as { cache_miss_reason: unknown }).cache_miss_reason;
  };
  const missed = { cache_missed_input_tokens: expect.any(Number) };

  test.each<[string, Json, unknown]>([
    ["nothing", {}, null],
    ["what was appended", { messages: messages("a", "b") }, null],
    ["messages", { messages: messages("b") }, { type: "messages_changed", ...missed }],
    ["the system", { system: "other" }, { type: "system_changed", ...missed }],
    ["tools", { tools: [] }, { type: "tools_changed", ...missed }],
    ["the model", { model: "claude-opus-5-5" }, { type: "model_changed", ...missed }],
    ["effort", { output_config: { effort: "low" } }, { type: "unavailable" }],
  ])("name %s that changed", async (_title, changes, expected) => {
    expect(await reason(changes)).toEqual(expected);
  });

  test("say how much was missed", async () => {
    const found = (await reason({ system: "other" })) as { cache_missed_input_tokens: number };
    expect(found.cache_missed_input_tokens).toBeGreaterThan(1000);
  });

  test("do not know a message of another server", async () => {
    expect(await reason({}, "msg_elsewhere")).toEqual({ type: "previous_message_not_found" });
  });

  test("are absent when not asked for", async () => {
    expect((await post(server, requestOf())).body.diagnostics).toBeNull();
  });
});
