/** Chunks of odd servers, and usage at the prices of the cards. */

import { describe, expect, test } from "vitest";
import { costOf, noUsage } from "../../../src/core/model-card.ts";
import type { ModelPart } from "../../../src/core/ports.ts";
import { findCard } from "../../../src/models/cards.ts";
import { assembleReply, type Chunk, openaiUsage } from "../../../src/models/openai/stream.ts";

const { card } = findCard("openai/gpt-6.1-sol");

/** The calls of a reply with these deltas, each in a chunk of its own. */
function callsOf(...deltas: object[]) {
  const assembly = assembleReply({
    card,
    onPart: () => {},
    makeId: (index) => `made_${index}`,
    taken: new Set(),
    estimate: () => noUsage,
  });
  for (const delta of deltas) assembly.take({ choices: [{ delta: { tool_calls: [delta] } }] } as Chunk);
  assembly.take({ choices: [{ finish_reason: "tool_calls" }] });
  return assembly.reply().content.map((block) => block.type === "tool_use" && [block.id, block.input]);
}

describe("thinking", () => {
  const contract = { ...card.contract, thinking: "carried" as const };

  function replyOf(...deltas: object[]) {
    const parts: ModelPart[] = [];
    const assembly = assembleReply({
      card: { ...card, contract },
      onPart: (part) => parts.push(part),
      makeId: String,
      taken: new Set(),
      estimate: () => noUsage,
    });
    for (const delta of deltas) assembly.take({ choices: [{ delta }] } as Chunk);
    assembly.take({ choices: [{ finish_reason: "stop" }] });
    return { content: assembly.reply().content, parts };
  }

  test("the parts of a reply of Mistral's reasoning models are its thoughts and its text", () => {
    const { content, parts } = replyOf(
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }] },
      { content: [{ type: "text", text: "It is " }] },
      { content: "42." },
    );
    expect(content).toEqual([{ type: "text", text: "It is 42." }]);
    expect(parts[0]).toEqual({ type: "thinking_delta", text: "hm" });
  });

  test("details that come in pieces are kept whole, and the thought is shown once", () => {
    const summary = (text: string) => ({ type: "reasoning.summary", summary: text, index: 0 });
    const secret = { type: "reasoning.encrypted", data: "aGk=", id: "rs_1", index: 1 };
    const { content, parts } = replyOf(
      { reasoning: "I ", reasoning_details: [summary("I ")] },
      { reasoning: "look", reasoning_details: [summary("look")] },
      { reasoning_details: [secret] },
      { content: "done" },
    );
    const details = [summary("I look"), secret];
    const wire = { api: "chat", field: "reasoning_details", details };
    expect(content).toEqual([
      { type: "thinking", thinking: "I look", signature: "", wire },
      { type: "text", text: "done" },
    ]);
    expect(parts.filter(({ type }) => type === "thinking_delta")).toHaveLength(2);
  });

  test("thinking that is signed over the conversation does not come back, which edits would make invalid", () => {
    const thought = { type: "reasoning.text", text: "I look", index: 0 };
    const { content } = replyOf(
      { reasoning: "I look", reasoning_details: [thought] },
      { reasoning_details: [{ type: "reasoning.text", signature: "sig", index: 0 }] },
      { content: "done" },
    );
    expect(content).toEqual([{ type: "text", text: "done" }]);
  });
});

describe("calls", () => {
  const called = (args: string) => ({ function: { name: "bash", arguments: args } });

  test("two whole calls that share an index and differ in id are two", () => {
    const deltas = [
      { index: 0, id: "a", ...called('{"x":1}') },
      { index: 0, id: "b", ...called('{"x":2}') },
    ];
    expect(callsOf(...deltas)).toEqual([
      ["a", { x: 1 }],
      ["b", { x: 2 }],
    ]);
  });

  test("calls without an index are told apart by their ids", () => {
    const deltas = [
      { id: "a", ...called('{"x"') },
      { function: { arguments: ":1}" } },
      { id: "b", ...called("{}") },
    ];
    expect(callsOf(...deltas)).toEqual([
      ["a", { x: 1 }],
      ["b", {}],
    ]);
  });

  test("pieces of two calls may come in turns, each with its id and name again", () => {
    const deltas = [
      { index: 0, id: "a", ...called('{"x"') },
      { index: 1, ...called('{"y"') },
      { index: 0, id: "a", ...called(":1}") },
      { index: 1, ...called(":2}") },
    ];
    expect(callsOf(...deltas)).toEqual([
      ["a", { x: 1 }],
      ["made_1", { y: 2 }],
    ]);
  });

  test("an end for calls without any is no whole reply", () => {
    expect(() => callsOf()).toThrow("holds none");
  });
});

describe("what it costs", () => {
  const openai = {
    prompt_tokens: 70_010,
    completion_tokens: 500,
    prompt_tokens_details: { cached_tokens: 50_000 },
  };
  const anthropic = {
    ...noUsage,
    inputTokens: 10,
    cacheWrite5mTokens: 20_000,
    cacheReadTokens: 50_000,
    outputTokens: 500,
  };
  test.each([
    ["anthropic/claude-sonnet-5-5", 0.06002],
    ["anthropic/claude-opus-5-5", 0.12004],
    ["anthropic/claude-haiku-4-5", 0.03251],
    ["openai/gpt-6.1-sol", 0.060025],
    ["openai/gpt-6-sol", 0.065025],
    ["openai/gpt-5.5", 0.14005],
    ["openai/deepseek-flash", 0.006903],
    ["openai/glm-5.3", 0.043214],
  ])("the same request to %s costs $%f", (id, dollars) => {
    const priced = findCard(id);
    expect(priced.warning).toBeUndefined();
    const usage = id.startsWith("openai/") ? openaiUsage(openai, priced.card) : anthropic;
    expect(Math.abs(costOf(usage, priced.card.prices) - dollars)).toBeLessThan(1e-6);
  });

  test("where writing has no price, and below the cache's minimum, nothing counts as written", () => {
    expect(openaiUsage(openai, findCard("openai/gpt-5.5").card).inputTokens).toBe(20_010);
    expect(openaiUsage({ prompt_tokens: 900 }, card)).toEqual({ ...noUsage, inputTokens: 900 });
  });
});
