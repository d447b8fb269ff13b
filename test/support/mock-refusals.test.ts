/** Each refusal of the strict server, beside a request that differs only in being right. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, post, requestOf, step, tools } from "./mock-request.ts";
import { sealPage } from "./mock-search.ts";
import { type MockServer, startMockServer } from "./mock-server.ts";

let server: MockServer;
beforeAll(async () => {
  server = await startMockServer({
    turns: () => ({ text: "fine" }),
    models: { tiny: { window: 500 } },
  });
});
afterAll(() => server.close());

const clearAt = { "anthropic-beta": "mid-conversation-system-clear-at-2026-08-21" };
const binding = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
const user = (content: unknown) => ({ role: "user", content });
const talk = (...messages: unknown[]): Json => ({ messages: [user("go"), ...messages] });
const [calls, results] = step("a", "b") as [Json, Json];
const marked = (text: string, ttl = "5m") => ({
  type: "text",
  text,
  cache_control: { type: "ephemeral", ttl },
});
const named = (name: string) => ({ ...tools[0], name });
const onModel = (model: string, changes: Json) => ({ ...changes, model });

type Row = [title: string, message: RegExp, refused: Json, accepted: Json, headers?: Record<string, string>];

const parameters: Row[] = [
  ["no max_tokens", /max_tokens: Field required/, { max_tokens: undefined }, { max_tokens: 1 }],
  ["too many max_tokens", /128001 > 128000/, { max_tokens: 128_001 }, { max_tokens: 128_000 }],
  [
    "max_tokens as text",
    /max_tokens: Input should be a valid integer/,
    { max_tokens: "9" },
    { max_tokens: 9 },
  ],
  ["an unknown field", /efort: Extra inputs/, { efort: "low" }, { output_config: { effort: "low" } }],
  [
    "an unknown effort",
    /effort: Input should be/,
    { output_config: { effort: "huge" } },
    { output_config: { effort: "max" } },
  ],
  [
    "a thinking budget",
    /thinking.type.enabled" is not supported/,
    { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 },
    onModel("claude-haiku-4-5", { thinking: { type: "enabled", budget_tokens: 1024 }, max_tokens: 2000 }),
  ],
  [
    "adaptive thinking before 4.6",
    /thinking.type.adaptive" is not supported/,
    onModel("claude-haiku-4-5", { thinking: { type: "adaptive" } }),
    onModel("claude-sonnet-4-6", { thinking: { type: "adaptive" } }),
  ],
  [
    "thinking turned off",
    /thinking.type.disabled" is not supported/,
    { thinking: { type: "disabled" } },
    onModel("claude-sonnet-4-6", { thinking: { type: "disabled" } }),
  ],
  ["a forced tool", /forces tool use/, { tool_choice: { type: "any" } }, { tool_choice: { type: "auto" } }],
  ["a temperature", /temperature/, { temperature: 0.2 }, { temperature: 1 }],
  ["top_p", /top_p/, { top_p: 0.9 }, onModel("claude-sonnet-4-6", { top_p: 0.9 })],
  ["top_k", /top_k/, { top_k: 5 }, onModel("claude-sonnet-4-6", { top_k: 5 })],
  ["a tool's name with a dot", /tools.0.name/, { tools: [named("a.b")] }, { tools: [named("a-b_9")] }],
  [
    "a tool's name of 65 letters",
    /tools.0.name/,
    { tools: [named("a".repeat(65))] },
    { tools: [named("a".repeat(64))] },
  ],
  [
    "two tools of one name",
    /must be unique/,
    { tools: [named("a"), named("a")] },
    { tools: [named("a"), named("b")] },
  ],
  [
    "a tool whose input is no object",
    /input_schema.type/,
    { tools: [{ name: "a", input_schema: { type: "string" } }] },
    { tools: [{ name: "a", input_schema: { type: "object" } }] },
  ],
  ["a field of tools that is ours", /tools.0.run/, { tools: [{ ...tools[0], run: 1 }] }, { tools }],
];

const messages: Row[] = [
  ["no message", /at least one message/, { messages: [] }, talk()],
  ["an assistant who begins", /first message must use/, { messages: [calls, results] }, talk(calls, results)],
  [
    "a prefill",
    /prefill/,
    talk({ role: "assistant", content: "{" }),
    talk({ role: "assistant", content: "{" }, user("on")),
  ],
  ["an unknown role", /messages.1.role/, talk({ role: "tool", content: "x" }), talk(user("x"))],
  ["an empty message", /non-empty content/, talk(user([])), talk(user("x"))],
  ["an empty text", /must be non-empty/, talk(user("")), talk(user("."))],
  ["a text of blanks", /non-whitespace/, talk(user(" \n")), talk(user(" \n."))],
  ["an empty text in a result", /must be non-empty/, ...inResult([{ type: "text", text: "" }], "")],
  [
    "a call without a result",
    /without `tool_result` blocks immediately after: b/,
    talk(calls, step("a")[1]),
    talk(calls, results),
  ],
  [
    "results a message late",
    /immediately after: a, b/,
    talk(calls, user("wait"), results),
    talk(calls, results, user("wait")),
  ],
  ["a result without a call", /unexpected `tool_use_id`/, talk(step("a")[0], results), talk(calls, results)],
  [
    "text before results",
    /must come first/,
    talk(calls, user([{ type: "text", text: "so" }, ...(results.content as Json[])])),
    talk(calls, user([...(results.content as Json[]), { type: "text", text: "so" }])),
  ],
  [
    "two results of one call",
    /single result/,
    talk(calls, user([...(results.content as Json[]), { type: "tool_result", tool_use_id: "a" }])),
    talk(calls, results),
  ],
  [
    "an id used twice",
    /ids must be unique/,
    talk(...step("a"), ...step("a")),
    talk(...step("a"), ...step("b")),
  ],
  ["an input that is text", /input: Input should be a valid dictionary/, ...withInput("{}", {})],
  ["an input that is a list", /input: Input should be a valid dictionary/, ...withInput([], {})],
  ["a call's name with a blank", /content.0.name/, ...withCall({ name: "a b" }, { name: "ab" })],
  ["a field of blocks that is ours", /content.0.done: Extra/, ...withCall({ done: true }, {})],
  [
    "thinking from a user",
    /Input tag 'thinking'/,
    talk(user([{ type: "thinking", thinking: "", signature: "" }])),
    talk(user("x")),
  ],
  [
    "a system message where the model has none",
    /'system' is not supported/,
    onModel("claude-sonnet-5", talk({ role: "system", content: "note" })),
    onModel("claude-opus-5", talk({ role: "system", content: "note" })),
  ],
  [
    "a system message after the assistant",
    /must follow a 'user' message/,
    talk({ role: "assistant", content: "hm" }, { role: "system", content: "note" }),
    talk({ role: "assistant", content: "hm" }, user("x"), { role: "system", content: "note" }),
  ],
  [
    "a system message first",
    /first message must use/,
    { messages: [{ role: "system", content: "x" }, user("x")] },
    talk(user("x")),
  ],
  [
    "clear_at on a user message",
    /clear_at: Extra/,
    talk({ ...user("x"), clear_at: "next_user_message" }),
    talk({ role: "system", content: "x", clear_at: "next_user_message" }),
    clearAt,
  ],
];

const searchTool = { type: "web_search_20250305", name: "web_search" };
const found = (changes: Json = {}) => {
  const [url, title] = ["https://a.example/", "A"];
  const page = {
    type: "web_search_result",
    url,
    title,
    encrypted_content: sealPage(`${url} ${title}`),
    page_age: null,
  };
  return { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [{ ...page, ...changes }] };
};
const asked = { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "a" } };
const said = { type: "text", text: "so" };
const searched = (...content: unknown[]) => ({
  tools: [...tools, searchTool],
  ...talk({ role: "assistant", content }, user("more")),
});
const whole = searched(asked, found(), said);

const searches: Row[] = [
  [
    "a tool of an unknown type",
    /tools.1: Input tag 'web_search_1' found/,
    { tools: [...tools, { ...searchTool, type: "web_search_1" }] },
    { tools: [...tools, searchTool] },
  ],
  [
    "a search of another name",
    /tools.1.name: Input should be 'web_search'/,
    { tools: [...tools, { ...searchTool, name: "look" }] },
    whole,
  ],
  [
    "domains allowed and blocked",
    /only one of/,
    { tools: [{ ...searchTool, allowed_domains: ["a.example"], blocked_domains: ["b.example"] }] },
    { tools: [{ ...searchTool, blocked_domains: ["b.example"] }] },
  ],
  [
    "a domain with a scheme",
    /without a scheme/,
    { tools: [{ ...searchTool, blocked_domains: ["https://a.example"] }] },
    whole,
  ],
  [
    "a search without its result",
    /`srvtoolu_1` was found without a corresponding/,
    searched(asked, said),
    whole,
  ],
  [
    "a result without its search",
    /unexpected `tool_use_id` found in `web_search_tool_result`/,
    searched(found(), said),
    whole,
  ],
  [
    "pages that were changed",
    /Invalid `encrypted_content`/,
    searched(asked, found({ title: "B" }), said),
    whole,
  ],
  [
    "a reply that stands last and was not paused",
    /prefill/,
    { ...whole, ...talk({ role: "assistant", content: [asked, found(), said] }) },
    { ...whole, ...talk({ role: "assistant", content: [asked] }) },
  ],
];

const markers: Row[] = [
  [
    "five markers",
    /maximum of 4 .* Found 5/,
    { system: "12345".split("").map((text) => marked(text)) },
    { system: "1234".split("").map((text) => marked(text)) },
  ],
  [
    "a marker of the whole request as the fifth",
    /Found 5/,
    { system: "1234".split("").map((text) => marked(text)), cache_control: { type: "ephemeral" } },
    { system: "123".split("").map((text) => marked(text)), cache_control: { type: "ephemeral" } },
  ],
  [
    "a long life after a short one",
    /ttl='1h'/,
    { system: [marked("a"), marked("b", "1h")] },
    { system: [marked("a", "1h"), marked("b")] },
  ],
  ["an unknown life", /cache_control.ttl/, { system: [marked("a", "2h")] }, { system: [marked("a", "1h")] }],
  [
    "a marker on thinking",
    /cache_control: Extra/,
    talk(
      {
        role: "assistant",
        content: [{ type: "thinking", thinking: "", signature: "", cache_control: null }],
      },
      user("x"),
    ),
    talk(user("x")),
  ],
  [
    "a prompt longer than the window",
    /^prompt is too long: \d+ tokens > 500 maximum$/,
    onModel("tiny", talk(user("x".repeat(2000)))),
    onModel("tiny", talk(user("x".repeat(1400)))),
  ],
];

function inResult(refused: unknown, accepted: unknown): [Json, Json] {
  const result = (content: unknown) =>
    talk(step("a")[0], user([{ type: "tool_result", tool_use_id: "a", content }]));
  return [result(refused), result(accepted)];
}

function withCall(refused: Json, accepted: Json): [Json, Json] {
  const call = { type: "tool_use", id: "a", name: "bash", input: {} };
  const turn = (changes: Json) =>
    talk({ role: "assistant", content: [{ ...call, ...changes }] }, step("a")[1]);
  return [turn(refused), turn(accepted)];
}

function withInput(refused: unknown, accepted: unknown): [Json, Json] {
  return withCall({ input: refused }, { input: accepted });
}

describe.each([...parameters, ...messages, ...searches, ...markers])(
  "%s",
  (_title, message, refused, accepted, headers) => {
    test("is refused, and its opposite is not", async () => {
      const bad = await post(server, requestOf(refused), headers);
      expect([bad.status, bad.message]).toEqual([400, expect.stringMatching(message)]);
      expect(bad.body).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
      const good = await post(server, requestOf(accepted), headers);
      expect([good.status, good.message]).toEqual([200, ""]);
    });
  },
);

test.each([
  ["clear_at", clearAt, talk({ role: "system", content: "x", clear_at: "next_user_message" })],
  [
    "block_binding",
    binding,
    { thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } } },
  ],
  [
    "context_management",
    { "anthropic-beta": "context-management-2025-06-27" },
    { context_management: { edits: [] } },
  ],
  ["compaction", { "anthropic-beta": "other, compact-2026-09-04" }, { compaction: { type: "summarize" } }],
])("%s needs its beta header", async (field, headers, changes) => {
  const without = await post(server, requestOf(changes));
  expect([without.status, without.message]).toEqual([400, expect.stringContaining(`${field}: Extra inputs`)]);
  expect((await post(server, requestOf(changes), headers)).status).toBe(200);
});
