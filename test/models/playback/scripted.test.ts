/** The scripted model behind the port: replies, parts, usage, limits, interruption. */

import { describe, expect, test } from "vitest";
import type { AssistantBlock, Message } from "../../../src/core/blocks.ts";
import { inputTotal } from "../../../src/core/model-card.ts";
import type { Model, ModelPart } from "../../../src/core/ports.ts";
import type { ModelRequest } from "../../../src/core/request.ts";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import {
  inPieces,
  type ScriptedOptions,
  scriptedCard,
  scriptedModel,
} from "../../../src/models/playback/scripted.ts";

const card = scriptedCard({ file: "demo.yaml", model: { minTokens: 10 } });
const model = (turns: ScriptedReply[], options: Partial<ScriptedOptions> = {}) =>
  scriptedModel({ card, turns, ...options });
const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });

function request(messages: Message[], changes: Partial<ModelRequest> = {}): ModelRequest {
  const after = { message: messages.length - 1, block: 0, ttl: "5m" as const };
  return {
    model: card.id,
    system: "You are a tester.",
    tools: [],
    messages,
    cacheAfter: [
      { after: "system", ttl: "5m" },
      { after: "block", ...after },
    ],
    maxTokens: 1000,
    thinking: "adaptive",
    ...changes,
  };
}

async function send(target: Model, asked: ModelRequest, signal = new AbortController().signal) {
  const parts: ModelPart[] = [];
  const reply = await target.send(asked, target.encode(asked), (part) => parts.push(part), signal);
  return { reply, parts };
}

/** The conversation after a reply whose calls were answered. */
function answered(messages: Message[], content: AssistantBlock[], result: string): Message[] {
  const results = content.flatMap((block) =>
    block.type === "tool_use"
      ? [{ type: "tool_result" as const, tool_use_id: block.id, content: result }]
      : [],
  );
  return [...messages, { role: "assistant", content }, { role: "user", content: results }];
}

describe("a scripted model", () => {
  test("plays its turns over what the tools gave back", async () => {
    const played = model([
      { thinking: "hm", text: "I look.", calls: [{ bash: { command: "ls {{cwd}}" } }] },
      { expect: "(\\w+)\\.md", text: "There is {{1}}." },
    ]);
    const messages = [user("Folder: /tmp/my-work. Go.")];
    const first = await send(played, request(messages));
    expect(first.reply).toMatchObject({
      content: [
        { type: "thinking", thinking: "hm", signature: expect.stringMatching(/^[\w-]{40,}$/) },
        { type: "text", text: "I look." },
        { type: "tool_use", id: "toolu_script_1_1", name: "bash", input: { command: "ls /tmp/my-work" } },
      ],
      stopReason: "tool_use",
      model: "scripted/demo.yaml",
      messageId: "msg_script_1",
    });
    const next = await send(played, request(answered(messages, first.reply.content, "README.md")));
    expect(next.reply).toMatchObject({ content: [{ text: "There is README." }], stopReason: "end_turn" });
  });

  test("streams all of it", async () => {
    const text = "é🟢".repeat(300);
    const { parts } = await send(
      model([{ thinking: "hm", text, calls: [{ bash: { command: text } }] }]),
      request([user("go")]),
    );
    const joined = (type: ModelPart["type"]) =>
      parts.map((part) => (part.type === type && "text" in part ? part.text : "")).join("");
    expect([joined("thinking_delta"), joined("text_delta")]).toEqual(["hm", text]);
    expect(JSON.parse(joined("input_delta"))).toEqual({ command: text });
    expect(parts.filter((part) => part.type === "tool_use_started")).toHaveLength(1);
    expect(parts.length).toBeGreaterThan(10);
  });

  test("signs the same thinking in the same place alike, and elsewhere otherwise", async () => {
    const signature = async (words: string) => {
      const { reply } = await send(model([{ thinking: "hm" }]), request([user(words)]));
      return (reply.content[0] as { signature: string }).signature;
    };
    expect(await signature("go")).toBe(await signature("go"));
    expect(await signature("go")).not.toBe(await signature("stop"));
  });

  test("does not think when its card does not", async () => {
    const plain = scriptedCard({ file: "a", model: { thinking: "none" } });
    const { reply } = await send(
      model([{ thinking: "hm", text: "a" }], { card: plain }),
      request([user("go")]),
    );
    expect(reply.content).toEqual([{ type: "text", text: "a" }]);
  });

  test("reports what the API would bill, on its clock", async () => {
    let now = 0;
    const played = model([{ text: "a", repeat: 3 }], { now: () => now });
    const messages = [user("x".repeat(400))];
    const first = (await send(played, request(messages))).reply.usage;
    expect(first).toMatchObject({
      inputTokens: 0,
      cacheReadTokens: 0,
      cacheWrite5mTokens: expect.any(Number),
    });
    now += 299_000;
    const second = (await send(played, request(messages))).reply.usage;
    expect(second).toEqual({ ...first, cacheReadTokens: inputTotal(first), cacheWrite5mTokens: 0 });
    now += 300_000;
    expect((await send(played, request(messages))).reply.usage).toEqual(first);
  });

  test("caches without markers when its card says automatic, and not at all when it says none", async () => {
    const usage = async (kind: "automatic" | "none") => {
      const contract = { ...card.contract, cache: { ...card.contract.cache, kind } };
      const played = model([{ text: "a", repeat: 2 }], { card: { ...card, contract } });
      const asked = request([user("x".repeat(400))], { cacheAfter: [] });
      await send(played, asked);
      return (await send(played, asked)).reply.usage;
    };
    expect((await usage("automatic")).cacheReadTokens).toBeGreaterThan(100);
    expect((await usage("none")).cacheReadTokens).toBe(0);
  });

  test("reports the usage that a turn is given", async () => {
    const { reply } = await send(
      model([{ text: "a", usage: { input: 7, output: 3 } }]),
      request([user("go")]),
    );
    expect(reply.usage).toEqual({
      inputTokens: 7,
      cacheReadTokens: 0,
      cacheWrite5mTokens: 0,
      cacheWrite1hTokens: 0,
      outputTokens: 3,
    });
  });

  test("goes on where a resumed session stopped", async () => {
    const { reply } = await send(
      model([{ text: "a" }, { text: "b" }], { startAt: 1 }),
      request([user("go")]),
    );
    expect(reply).toMatchObject({ content: [{ text: "b" }], messageId: "msg_script_2" });
  });
});

describe("a scripted model fails", () => {
  test.each<[string, ScriptedReply[], Partial<ScriptedOptions>, object]>([
    [
      "when the script ends",
      [{ text: "a" }],
      { startAt: 1 },
      { kind: "script", message: expect.stringMatching(/ends after 1 reply/) },
    ],
    [
      "when an expectation is not met",
      [{ expect: "stop", text: "a" }],
      {},
      { kind: "script", message: "turn 1: expected /stop/ in the user's message, got: go" },
    ],
    [
      "when the prompt is too long",
      [{ text: "a" }],
      { card: { ...card, window: 10 } },
      {
        kind: "context_full",
        message: expect.stringMatching(/^prompt is too long: \d+ tokens > 10 maximum$/),
      },
    ],
  ])("%s", async (_title, turns, options, error) => {
    await expect(send(model(turns, options), request([user("go")]))).rejects.toMatchObject(error);
  });

  test("when it is interrupted, keeping what was complete and the text begun", async () => {
    const controller = new AbortController();
    const played = model([{ thinking: "hm", text: "x".repeat(1000), calls: [{ bash: {} }] }]);
    const asked = request([user("go")]);
    const stop = (part: ModelPart) => part.type === "text_delta" && controller.abort();
    const error = await played
      .send(asked, played.encode(asked), stop, controller.signal)
      .catch((caught: unknown) => caught);
    const thought = { type: "thinking", thinking: "hm", signature: expect.any(String) };
    expect(error).toMatchObject({
      kind: "aborted",
      partial: [thought, { type: "text", text: "x".repeat(63) }],
    });
  });

  test("before it says anything when it was interrupted already", async () => {
    await expect(
      send(model([{ calls: [{ bash: {} }] }]), request([user("go")]), AbortSignal.abort()),
    ).rejects.toMatchObject({
      kind: "aborted",
      partial: [],
    });
  });
});

test("a text is split between characters only", () => {
  const text = `a${"🟢".repeat(500)}`;
  const pieces = inPieces(text);
  expect(pieces.join("")).toBe(text);
  expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  expect([inPieces(""), pieces.length]).toEqual([[], 8]);
});
