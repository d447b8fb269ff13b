/** System messages in the middle of a conversation: their place, and the changes of tools in them. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Json, post, requestOf } from "./mock-request.ts";
import { type MockServer, startMockServer } from "./mock-server.ts";

let server: MockServer;
beforeAll(async () => {
  server = await startMockServer({ turns: () => ({ text: "fine" }) });
});
afterAll(() => server.close());

const clearAt = { "anthropic-beta": "mid-conversation-system-clear-at-2026-08-21" };
const user = (content: unknown) => ({ role: "user", content });
const talk = (...messages: unknown[]): Json => ({ messages: [user("go"), ...messages] });
const marked = (text: string) => ({ type: "text", text, cache_control: { type: "ephemeral" } });
const onModel = (model: string, changes: Json) => ({ ...changes, model });

type Row = [title: string, message: RegExp, refused: Json, accepted: Json, headers?: Record<string, string>];

const gating = { "anthropic-beta": "mid-conversation-tool-changes-2026-07-01" };
const withdraws = (name: string, type = "tool_removal") => ({
  type,
  tool: { type: "tool_reference", name },
});
const says = (...content: Json[]) => ({ role: "system", content });

const toolChanges: Row[] = [
  [
    "a system message before one of the user",
    /must be followed by an 'assistant' message/,
    talk({ role: "system", content: "note" }, user("x")),
    talk({ role: "system", content: "note" }, { role: "assistant", content: "hm" }, user("x")),
  ],
  [
    "a marker on a turn-scoped message",
    /content.0: cache_control is not permitted/,
    talk({ role: "system", content: [marked("x")], clear_at: "next_user_message" }),
    talk({ role: "system", content: [marked("x")] }),
    clearAt,
  ],
  [
    "a change of tools in a turn-scoped message",
    /text blocks only/,
    talk({ ...says(withdraws("bash")), clear_at: "next_user_message" }),
    talk(says(withdraws("bash"))),
    { "anthropic-beta": `${clearAt["anthropic-beta"]},${gating["anthropic-beta"]}` },
  ],
  [
    "a change of tools on a model without it",
    /'system' is not supported/,
    onModel("claude-sonnet-4-6", talk(says(withdraws("bash")))),
    onModel("claude-opus-5", talk(says(withdraws("bash")))),
    gating,
  ],
  [
    "a change of tools after the assistant",
    /must follow a 'user' message/,
    talk({ role: "assistant", content: "hm" }, says(withdraws("bash"))),
    talk({ role: "assistant", content: "hm" }, user("x"), says(withdraws("bash"))),
    gating,
  ],
  [
    "the withdrawal of a tool that is not declared",
    /no tool sh is declared/,
    talk(says(withdraws("sh"))),
    talk(says(withdraws("bash"))),
    gating,
  ],
  [
    "the withdrawal of a tool that was withdrawn",
    /bash is not offered/,
    talk(says(withdraws("bash"), withdraws("bash"))),
    talk(says(withdraws("bash"), withdraws("bash", "tool_addition"), withdraws("bash"))),
    gating,
  ],
  [
    "the offer of a tool that is offered",
    /bash is already offered/,
    talk(says(withdraws("bash", "tool_addition"))),
    talk(says(withdraws("bash"), withdraws("bash", "tool_addition"))),
    gating,
  ],
];

describe.each(toolChanges)("%s", (_title, message, refused, accepted, headers) => {
  test("is refused, and its opposite is not", async () => {
    const bad = await post(server, requestOf(refused), headers);
    expect([bad.status, bad.message]).toEqual([400, expect.stringMatching(message)]);
    const good = await post(server, requestOf(accepted), headers);
    expect([good.status, good.message]).toEqual([200, ""]);
  });
});

test("a change of tools needs its beta header", async () => {
  const body = requestOf(talk(says(withdraws("bash"))));
  const without = await post(server, body);
  expect([without.status, without.message]).toEqual([400, expect.stringMatching(/beta header/)]);
  expect((await post(server, body, gating)).status).toBe(200);
});

test("a script that calls a tool that was withdrawn is no model", async () => {
  const calling = await startMockServer({ turns: () => ({ calls: [{ bash: { command: "ls" } }] }) });
  const answer = await post(calling, requestOf(talk(says(withdraws("bash")))), gating);
  expect([answer.status, answer.message]).toEqual([400, expect.stringMatching(/bash, which was withdrawn/)]);
  expect((await post(calling, requestOf(talk()))).status).toBe(200);
  await calling.close();
});
