/** Which edits of a conversation its thinking survives (provider-facts §2), against the strict server. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ModelChanges } from "./mock-models.ts";
import { type Json, post, requestOf } from "./mock-request.ts";
import { type MockServer, startMockServer } from "./mock-server.ts";

type Message = { role: string; content: Json[]; clear_at?: string };

let server: MockServer;
const models: ModelChanges = { "claude-sonnet-5-5": { minTokens: 1 } };
beforeAll(async () => {
  server = await startMockServer({
    turns: (_, index) => ({ thinking: `thought ${index}`, calls: [{ bash: { command: `ls ${index}` } }] }),
    models,
  });
});
afterAll(() => server.close());

const dropBlock = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } };
const beta = {
  "anthropic-beta": "thinking-binding-controls-2026-08-01,mid-conversation-system-clear-at-2026-08-21",
};
const said = (role: string, text: string): Message => ({ role, content: [{ type: "text", text }] });

/** Goes on from `messages` by so many replies, each answered by a result. */
async function talk(messages: Message[], replies: number, changes: Json = {}): Promise<Message[]> {
  let all = messages;
  for (let reply = 0; reply < replies; reply++) {
    const { body, message } = await post(server, requestOf({ ...changes, messages: all }), beta);
    expect(message).toBe("");
    const content = body.content as Json[];
    const id = content.find((block) => block.type === "tool_use")?.id;
    const result = { type: "tool_result", tool_use_id: id, content: `result ${reply}` };
    all = [...all, { role: "assistant", content }, { role: "user", content: [result] }];
  }
  return all;
}

/** The conversation without the thinking of its assistant messages with these numbers (from 0). */
function without(messages: Message[], ...numbers: number[]): Message[] {
  let number = -1;
  return messages.map((message) => {
    if (message.role !== "assistant" || !numbers.includes(++number)) return message;
    return { ...message, content: message.content.filter((block) => block.type !== "thinking") };
  });
}

function changed(messages: Message[], index: number, block: Json): Message[] {
  return messages.map((message, at) =>
    at === index ? { ...message, content: [{ ...message.content.at(-1), ...block }] } : message,
  );
}

const send = (messages: Message[], changes: Json = {}) =>
  post(server, requestOf({ ...changes, messages }), beta);
const bound = /Invalid "signature" in "thinking" block. The block is bound to a different conversation/;

describe("a conversation of four thoughts", () => {
  let whole: Message[];
  beforeAll(async () => {
    whole = await talk([said("user", "go")], 4);
  });

  test.each<[string, (all: Message[]) => Message[], Json?]>([
    ["as it was", (all) => all],
    ["with words appended", (all) => [...all, said("user", "and?")]],
    ["with a cache marker moved", (all) => changed(all, 8, { cache_control: { type: "ephemeral" } })],
    ["with less effort and another limit", (all) => all, { output_config: { effort: "low" }, max_tokens: 5 }],
    ["without the first thought", (all) => without(all, 0)],
    ["without the first two", (all) => without(all, 0, 1)],
    ["without the last", (all) => without(all, 3)],
    ["without the first and the last", (all) => without(all, 0, 3)],
    ["without any", (all) => without(all, 0, 1, 2, 3)],
    ["with its tail cut off and other words there", (all) => [...all.slice(0, 5), said("user", "no, so")]],
    ["edited after its last thought", (all) => changed(all, 8, { content: "short" })],
    [
      "edited, without the thoughts after the edit",
      (all) => changed(without(all, 1, 2, 3), 2, { content: "short" }),
    ],
  ])("is accepted %s", async (_title, edit, changes) => {
    expect(await send(edit(whole), changes)).toMatchObject({ status: 200 });
  });

  test.each<[string, (all: Message[]) => Message[], Json?]>([
    ["without a thought in the middle", (all) => without(all, 1)],
    ["without the first and a middle one", (all) => without(all, 0, 2)],
    ["with an earlier result shortened", (all) => changed(all, 6, { content: "short" })],
    ["with an earlier input changed", (all) => changed(all, 3, { input: { command: "rm" } })],
    [
      "with a block added to an earlier message",
      (all) =>
        all.with(2, {
          ...all[2],
          content: [...(all[2]?.content ?? []), { type: "text", text: "!" }],
        } as Message),
    ],
    ["with its first message refreshed", (all) => changed(all, 0, { text: "go, it is noon" })],
    ["with a message put between", (all) => all.toSpliced(1, 0, said("user", "now"))],
    ["under another system prompt", (all) => all, { system: "You are another." }],
    ["with other tools", (all) => all, { tools: [{ name: "sh", input_schema: { type: "object" } }] }],
    ["with another bound model", (all) => all, { model: "claude-opus-5-5" }],
  ])("is refused %s", async (_title, edit, changes) => {
    const answer = await send(edit(whole), changes);
    expect([answer.status, answer.message]).toEqual([400, expect.stringMatching(bound)]);
  });

  test("names the block that broke", async () => {
    expect((await send(changed(whole, 4, { content: "short" }))).message).toMatch(
      /^messages\.5\.content\.0: /,
    );
  });

  test("is accepted by a server that did not see it begin", async () => {
    const other = await startMockServer({ turns: () => ({ text: "fine" }) });
    expect(await post(other, requestOf({ messages: whole }))).toMatchObject({ status: 200 });
    await other.close();
  });

  test("loses the failing thought and the later ones under drop_block", async () => {
    const edited = changed(whole, 4, { content: "short" });
    const { body } = await send(edited, { thinking: dropBlock });
    const dropped = (path: string) => ({ type: "thinking_dropped", path, reason: "prefix_binding_mismatch" });
    expect(body.input_transformations).toEqual([
      dropped("messages.5.content.0"),
      dropped("messages.7.content.0"),
    ]);
    expect((await send(whole, { thinking: dropBlock })).body.input_transformations).toEqual([]);
  });
});

test("a thought that was left out cannot be put back", async () => {
  const begun = await talk([said("user", "go")], 2);
  const onward = await talk(without(begun, 0), 1);
  expect(await send(onward)).toMatchObject({ status: 200 });
  expect(await send([...begun, ...onward.slice(5)])).toMatchObject({ status: 400 });
});

test("a turn-scoped reminder stays in place, cleared or not", async () => {
  const reminder = { ...said("system", "hurry"), clear_at: "next_user_message" };
  const begun = await talk([said("user", "go"), reminder], 2);
  expect(await send(begun)).toMatchObject({ status: 200 });
  const lasting = begun.with(1, said("system", "hurry"));
  expect(await send(lasting)).toMatchObject({ status: 400, message: expect.stringMatching(bound) });
  const removed = begun.filter((message) => message.role !== "system");
  expect(await send(removed)).toMatchObject({ status: 400, message: expect.stringMatching(bound) });
});

test.each(["claude-sonnet-5-5", "claude-sonnet-5"])(
  "%s refuses thinking that was altered or made up",
  async (model) => {
    const adaptive = { model, thinking: { type: "adaptive", display: "summarized" } };
    const [first, reply, result] = (await talk([said("user", "go")], 1, adaptive)) as [
      Message,
      Message,
      Message,
    ];
    const [thought, call] = reply.content as [Json, Json];
    expect(thought.thinking).toMatch(/^thought/);
    const withThought = (block: Json) => [first, { role: "assistant", content: [block, call] }, result];
    const own = /Invalid "signature" in "thinking" block. The block was altered/;
    for (const change of [{ thinking: "" }, { thinking: "more" }, { signature: "c2ln" }, { signature: "" }]) {
      const answer = await send(withThought({ ...thought, ...change }), adaptive);
      expect([answer.status, answer.message]).toEqual([400, expect.stringMatching(own)]);
    }
    expect(await send(withThought(thought), adaptive)).toMatchObject({ status: 200 });
  },
);

describe("a free model", () => {
  const adaptive = { model: "claude-sonnet-5", thinking: { type: "adaptive" } };

  test("lets the past be edited", async () => {
    const all = await talk([said("user", "go")], 3, adaptive);
    const edited = changed(without(all, 1), 2, { content: "short" });
    expect(await send(edited, { ...adaptive, system: "You are another." })).toMatchObject({ status: 200 });
  });

  test("needs the newest thinking while its tools run, and not after", async () => {
    const all = await talk([said("user", "go")], 2, adaptive);
    const answer = await send(without(all, 1), adaptive);
    expect([answer.status, answer.message]).toEqual([
      400,
      expect.stringMatching(/^messages\.3.*Expected `thinking`/),
    ]);
    expect(await send(without(all, 0), adaptive)).toMatchObject({ status: 200 });
    const rested = [...without(all, 1), said("assistant", "done"), said("user", "next")];
    expect(await send(rested, adaptive)).toMatchObject({ status: 200 });
  });

  test("does not think unless asked", async () => {
    const { body } = await send([said("user", "go")], { model: "claude-sonnet-4-6" });
    expect((body.content as Json[]).map((block) => block.type)).toEqual(["tool_use"]);
  });
});

test("thinking goes out without its text unless a summary is asked for", async () => {
  const asked = { thinking: { type: "adaptive", display: "summarized" } };
  const thoughtOf = async (changes: Json) =>
    ((await send([said("user", "go")], changes)).body.content as Json[])[0];
  expect(await thoughtOf({})).toMatchObject({
    type: "thinking",
    thinking: "",
    signature: expect.any(String),
  });
  expect(await thoughtOf(asked)).toMatchObject({
    type: "thinking",
    thinking: expect.stringMatching(/^thought/),
  });
});
