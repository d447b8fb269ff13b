/** Cassettes: what is recorded from a model over HTTP plays again without it. */

import { describe, expect, onTestFinished, test } from "vitest";
import type { Message } from "../../../src/core/blocks.ts";
import { type Model, ModelError, type ModelPart } from "../../../src/core/ports.ts";
import type { ModelRequest } from "../../../src/core/request.ts";
import { anthropicModel } from "../../../src/models/anthropic/anthropic.ts";
import { findCard } from "../../../src/models/cards.ts";
import { dialects } from "../../../src/models/openai/dialects.ts";
import { openaiModel } from "../../../src/models/openai/openai.ts";
import { recordedModel, recording } from "../../../src/models/playback/recorded.ts";
import { scriptedCard, scriptedModel } from "../../../src/models/playback/scripted.ts";
import { responsesModel } from "../../../src/models/responses/responses.ts";
import { startOpenaiServer } from "../../support/mock-openai.ts";
import { startResponsesServer } from "../../support/mock-responses.ts";
import {
  block,
  call,
  ended,
  hello,
  refusal,
  start,
  startWireServer,
  stop,
  stream,
} from "../fixtures/wire-server.ts";

const key = "sk-canary-7f3a";
const { card } = findCard("anthropic/claude-sonnet-5-5");
const first: ModelRequest = {
  model: card.id,
  system: "Be careful.",
  tools: [],
  messages: [{ role: "user", content: [{ type: "text", text: "fix it" }] }],
  cacheAfter: [{ after: "system", ttl: "5m" }],
  maxTokens: 100,
  thinking: "adaptive",
};
const called: Message[] = [
  {
    role: "assistant",
    content: [{ type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls" } }],
  },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "src" }] },
];
const second = { ...first, messages: [...first.messages, ...called] };
const thought = block(0, { type: "thinking", thinking: "", signature: "" }, [
  { type: "signature_delta", signature: "c2ln" },
]);
const calling = [start, ...thought, ...call(1, "toolu_1", '{"command":"ls"}'), ended("tool_use"), stop];

async function send(model: Model, request: ModelRequest, onPart: (part: ModelPart) => void = () => {}) {
  return model.send(request, model.encode(request), onPart, new AbortController().signal);
}

async function problemOf(sent: Promise<unknown>): Promise<string> {
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ModelError);
  expect((error as ModelError).kind).toBe("script");
  return (error as ModelError).message;
}

/** The cassette of two exchanges with a server, and the replies they had. */
async function record() {
  const server = await startWireServer(stream(...calling), stream(...hello));
  let cassette = "";
  const model = recording(anthropicModel({ card, apiKey: key, baseUrl: server.url }), (line) => {
    cassette += line;
  });
  const replies = [await send(model, first), await send(model, second)];
  await server.close();
  return { cassette, replies };
}

const play = (cassette: string, loose = false) => recordedModel({ cassette, loose, fileName: "run.jsonl" });

describe("a recorded run", () => {
  test("plays the same replies to the same requests", async () => {
    const { cassette, replies } = await record();
    const model = await play(cassette);
    expect([await send(model, first), await send(model, second)]).toEqual(replies);
  });

  test("has the card and the encoding of the model that was recorded", async () => {
    const model = await play((await record()).cassette);
    expect(model.card).toEqual(card);
    expect(model.encode(second)).toBe(anthropicModel({ card }).encode(second));
  });

  test("streams what it replies", async () => {
    const model = await play((await record()).cassette);
    const parts: ModelPart[] = [];
    await send(model, first, (part) => parts.push(part));
    expect(parts).toEqual([
      { type: "thinking_delta", text: "" },
      { type: "tool_use_started", id: "toolu_1", name: "bash" },
      { type: "input_delta", id: "toolu_1", text: '{"command":"ls"}' },
    ]);
  });

  test("is one line of JSON for each exchange, and holds no key", async () => {
    const { cassette } = await record();
    expect(cassette.trimEnd().split("\n")).toHaveLength(3);
    expect(cassette.endsWith("\n")).toBe(true);
    expect(cassette).not.toContain(key);
  });

  test("plays in any order, equal requests in the order of recording", async () => {
    const { cassette, replies } = await record();
    const again = cassette + cassette.split("\n")[1]?.replace("toolu_1", "toolu_9");
    const model = await play(again);
    expect(await send(model, second)).toEqual(replies[1]);
    const calls = [await send(model, first), await send(model, first)].map((reply) => reply.content[1]);
    expect(calls).toMatchObject([{ id: "toolu_1" }, { id: "toolu_9" }]);
  });

  test("fails where the recorded model failed", async () => {
    const server = await startWireServer(refusal(400, "invalid_request_error", "prompt is too long: 9 > 8"));
    let cassette = "";
    const model = recording(anthropicModel({ card, apiKey: key, baseUrl: server.url }), (line) => {
      cassette += line;
    });
    await expect(send(model, first)).rejects.toMatchObject({ kind: "context_full" });
    await server.close();
    await expect(send(await play(cassette), first)).rejects.toMatchObject({
      kind: "context_full",
      message: "prompt is too long: 9 > 8",
    });
  });

  test("of a scripted model plays too", async () => {
    const scripted = scriptedModel({ card: scriptedCard({ file: "run.yaml" }), turns: [{ text: "done" }] });
    let cassette = "";
    const request = { ...first, model: scripted.card.id };
    const reply = await send(
      recording(scripted, (line) => {
        cassette += line;
      }),
      request,
    );
    expect(await send(await play(cassette), request)).toEqual(reply);
  });
});

describe("a request that is not on the cassette", () => {
  const changed = (change: Partial<ModelRequest>) => ({ ...first, ...change });
  const other: Message = { role: "user", content: [{ type: "text", text: "break it" }] };

  test.each([
    [
      "its model",
      changed({ model: "anthropic/other" }),
      "its model is anthropic/other, recorded: anthropic/",
    ],
    ["the system text", changed({ system: "Be quick." }), "the system text differs"],
    ["the tools", changed({ tools: [{ name: "a", description: "", input_schema: {} }] }), "the tools differ"],
    ["its settings", changed({ effort: "max" }), "its settings differ"],
    [
      "a message",
      changed({ messages: [other] }),
      'from message 0 on (counted from 0; 1 messages, recorded were 1); the last one begins "break it", recorded: "fix it"',
    ],
    ["a further message", second, "from message 1 on (counted from 0; 3 messages, recorded were 1)"],
  ])("is told by %s", async (_title, request, problem) => {
    const { cassette } = await record();
    const lines = cassette.split("\n");
    const model = await play([lines[0], lines[1]].join("\n"));
    const message = await problemOf(send(model, request));
    expect(message).toMatch(/^run\.jsonl: request 1 is not on the cassette: /);
    expect(message).toContain(problem);
  });

  test("is told when the cassette is at its end", async () => {
    const model = await play((await record()).cassette);
    await send(model, first);
    await send(model, second);
    expect(await problemOf(send(model, first))).toBe(
      "run.jsonl: the cassette ends after 2 requests, but another one was made",
    );
  });

  test("is played all the same when played loosely, by order", async () => {
    const { cassette, replies } = await record();
    const model = await play(cassette, true);
    const requests = [changed({ system: "x" }), changed({ system: "y" })];
    expect([await send(model, requests[0] ?? first), await send(model, requests[1] ?? first)]).toEqual(
      replies,
    );
    expect(await problemOf(send(model, first))).toContain("ends after 2 requests");
  });
});

test("an interrupted player throws what any model throws", async () => {
  const model = await play((await record()).cassette);
  const reply = model.send(first, model.encode(first), () => {}, AbortSignal.abort());
  await expect(reply).rejects.toMatchObject({ kind: "aborted" });
});

test.each([
  ["", "run.jsonl is not a cassette"],
  ['{"role":"user"}', "run.jsonl is not a cassette"],
  ['{"cassette":1}\n{oops', "run.jsonl:2 is not JSON"],
  ['{"cassette":1,"encoding":"morse"}', "run.jsonl was recorded in an unknown encoding: morse"],
])("a broken file is told in one line: %j", async (cassette, message) => {
  await expect(play(cassette)).rejects.toThrow(new Error(message));
});

test("every wire can be recorded and plays again", async () => {
  const chat = await startOpenaiServer({ text: "hi" });
  const responses = await startResponsesServer({ turnOf: () => ({ text: "hi" }) });
  onTestFinished(() => void chat.close());
  onTestFinished(() => void responses.close());
  const models = [
    openaiModel({ card, baseUrl: chat.url }),
    openaiModel({ card, baseUrl: chat.url, dialect: dialects.chat_official }),
    openaiModel({ card: { ...card, id: "mistral/x" }, baseUrl: chat.url }),
    openaiModel({ card: { ...card, id: "openrouter/x" }, baseUrl: chat.url }),
    responsesModel({ card, baseUrl: responses.url }),
  ];
  const encodings = [];
  for (const model of models) {
    let cassette = "";
    const recorded = recording(model, (line) => {
      cassette += line;
    });
    const reply = await send(recorded, second);
    expect(await send(await play(cassette), second)).toEqual(reply);
    encodings.push(JSON.parse(cassette.split("\n")[0] ?? "").encoding);
  }
  expect(encodings).toEqual(["chat", "chat_official", "chat_mistral", "chat_openrouter", "responses"]);
});
