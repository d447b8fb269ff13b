/** The body of a request, whole. */

import { describe, expect, test } from "vitest";
import type { ModelRequest } from "../../../src/core/request.ts";
import { betasOf, encodeAnthropic } from "../../../src/models/anthropic/encoding.ts";

const tool = { name: "bash", description: "Runs.", input_schema: { type: "object" } } as const;
const request: ModelRequest = {
  model: "anthropic/claude-sonnet-5-5",
  system: "Be careful.",
  tools: [tool],
  messages: [
    { role: "user", content: [{ type: "text", text: "fix it" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "", signature: "c2ln" },
        { type: "tool_use", id: "toolu_1", name: "bash", input: { b: 1, a: 2 } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "ok" }] },
    { role: "system", content: [{ type: "text", text: "todo" }], clear_at: "next_user_message" },
  ],
  cacheAfter: [
    { after: "system", ttl: "1h" },
    { after: "block", message: 1, block: 1, ttl: "5m" },
    { after: "block", message: 2, block: 0, ttl: "5m" },
  ],
  maxTokens: 4096,
  thinking: "adaptive",
  effort: "high",
};

test("a request is encoded whole, markers where the cache points are", () => {
  expect(JSON.parse(encodeAnthropic(request))).toEqual({
    model: "claude-sonnet-5-5",
    max_tokens: 4096,
    stream: true,
    thinking: { type: "adaptive", display: "summarized" },
    output_config: { effort: "high" },
    tools: [tool],
    system: [{ type: "text", text: "Be careful.", cache_control: { type: "ephemeral", ttl: "1h" } }],
    messages: [
      request.messages[0],
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "", signature: "c2ln" },
          {
            type: "tool_use",
            id: "toolu_1",
            name: "bash",
            input: { b: 1, a: 2 },
            cache_control: { type: "ephemeral" },
          },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: "ok",
            cache_control: { type: "ephemeral" },
          },
        ],
      },
      request.messages[3],
    ],
  });
});

test("without cache points a longer session begins with the very bytes of the shorter one", () => {
  const longer = { ...request, cacheAfter: [] };
  const shorter = { ...longer, messages: request.messages.slice(0, 3) };
  const begin = encodeAnthropic(shorter).slice(0, -"]}".length);
  expect(encodeAnthropic(longer).startsWith(begin)).toBe(true);
});

test("what is empty is left out", () => {
  const bare: ModelRequest = { ...request, system: "", tools: [], cacheAfter: [], thinking: "none" };
  const body = JSON.parse(encodeAnthropic({ ...bare, effort: "" }));
  expect(Object.keys(body)).toEqual(["model", "max_tokens", "stream", "messages"]);
});

test("only the provider is taken off the model's name", () => {
  const body = JSON.parse(encodeAnthropic({ ...request, model: "anthropic/hosted/claude-x" }));
  expect(body.model).toBe("hosted/claude-x");
});

test("encoding leaves the request as it was", () => {
  const before = JSON.stringify(request);
  encodeAnthropic(request);
  expect(JSON.stringify(request)).toBe(before);
});

describe("an edited bound history", () => {
  const edited: ModelRequest = { ...request, blockBinding: "drop_block" };

  test("asks for mismatched thinking to be dropped", () => {
    expect(JSON.parse(encodeAnthropic(edited)).thinking).toEqual({
      type: "adaptive",
      display: "summarized",
      block_binding: { prefix_mismatch_behavior: "drop_block" },
    });
  });

  test("names the beta feature", () => {
    expect(betasOf(edited)).toContain("thinking-binding-controls-2026-08-01");
    expect(betasOf({ ...request, messages: request.messages.slice(0, 3) })).toEqual([]);
  });
});
