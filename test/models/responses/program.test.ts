/** The program over Responses, how that wire is chosen, and sessions that were begun before there was one. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { spokenRow } from "../../../src/models/access.ts";
import { findCard } from "../../../src/models/cards.ts";
import { providers } from "../../../src/models/providers.ts";
import { startOpenaiServer } from "../../support/mock-openai.ts";
import { type ResponsesTurn, startResponsesServer } from "../../support/mock-responses.ts";
import { makeWorkspace, sawtooth, writeSettings } from "../../support/sawtooth.ts";

function workspace() {
  const made = makeWorkspace();
  onTestFinished(made.remove);
  return made;
}

const openai = providers.find(({ name }) => name === "openai") as (typeof providers)[number];
const step = (command: string): ResponsesTurn => ({
  ...{ thinking: "hm", text: "Let me see.", phase: "commentary" },
  calls: [{ name: "bash", args: JSON.stringify({ command }) }],
});

test("OpenAI's own host speaks Responses, a server that stands in for it and a session from before do not", () => {
  const { card } = findCard("openai/gpt-6.1-sol");
  const wireOf = (env: Record<string, string>, stored?: typeof card) => spokenRow(openai, env, stored).wire;
  expect(wireOf({})).toBe("responses");
  expect(wireOf({ OPENAI_BASE_URL: "https://api.openai.com/v1" })).toBe("responses");
  expect(wireOf({ OPENAI_BASE_URL: "http://127.0.0.1:8080/v1" })).toBe("chat");
  expect(wireOf({ OPENAI_BASE_URL: "https://api.openai.com.example/v1" })).toBe("chat");
  expect(wireOf({}, card)).toBe("chat");
  const spoken = findCard("openai/gpt-6.1-sol", { row: openai }).card;
  expect(spoken).toMatchObject({
    api: "responses",
    contract: { thinking: "carried", cache: { kind: "breakpoints" } },
  });
  expect(wireOf({}, spoken)).toBe("responses");
  expect(findCard("openai/gpt-4.1", { row: openai }).card.contract.thinking).toBe("none");
  expect(findCard("openai/gpt-9", { row: openai }).card.contract.cache.kind).toBe("automatic");
});

test("a run, a resume, a step's body and a report over Responses, by a row of one's own", async () => {
  const turns = [step("echo $((6 * 7))"), { text: "It is 42." }, step("echo on"), { text: "Done." }];
  const server = await startResponsesServer({ turnOf: (_, index) => turns[index] ?? {} });
  onTestFinished(() => server.close());
  const here = workspace();
  const models = { "mine/gpt-6.1-sol": { contract: { history: "free" } } };
  writeSettings(here, {
    models,
    providers: { mine: { wire: "responses", url: server.url, key: "MINE_KEY" } },
  });
  const words = ["--permission-mode", "auto", "--output-format", "json"];
  const env = { MINE_KEY: "sk-canary-7f3a" };
  const first = await sawtooth(here, ["-p", "how much?", "--model", "mine/gpt-6.1-sol", ...words], { env });
  expect(JSON.parse(first.stdout)).toMatchObject({ subtype: "success", result: "It is 42.", num_turns: 2 });
  const { session_id } = JSON.parse(first.stdout);
  const second = await sawtooth(here, ["-p", "go on", "--resume", session_id, ...words], { env });
  expect(JSON.parse(second.stdout)).toMatchObject({ subtype: "success", result: "Done." });
  expect(server.received.map(({ refused }) => refused)).toEqual(Array(4).fill(undefined));
  const types = server.requests[3]?.input.map(({ type, role }) => role ?? type).join();
  expect(types).toBe(
    "developer,user,reasoning,assistant,function_call,function_call_output,assistant,user,reasoning,assistant,function_call,function_call_output",
  );
  for (const number of [1, 2, 3, 4]) {
    const body = await sawtooth(here, ["report", session_id, "--step", String(number)]);
    expect(JSON.parse(body.stdout)).toEqual(server.requests[number - 1]);
  }
});

test("a session from before goes on with the bytes that it was sent with, and with the card that it had", async () => {
  const args = JSON.stringify({ command: "echo on" });
  const server = await startOpenaiServer(
    { text: "Let me see.", thinking: "hm", calls: [{ id: "a", name: "bash", args }] },
    { text: "It is on." },
    { text: "Done." },
  );
  onTestFinished(() => server.close());
  const here = workspace();
  const words = ["--permission-mode", "auto", "--output-format", "json"];
  const env = { ZAI_BASE_URL: server.url, ZAI_API_KEY: "sk-canary-7f3a" };
  const first = await sawtooth(here, ["-p", "go", "--model", "zai/glm-5.3", ...words], { env });
  const { session_id } = JSON.parse(first.stdout);
  // As the version before this one wrote it: no thinking kept, and nothing said of it in the card.
  const [log = ""] = globSync(join(here.home, "**", session_id, "events.jsonl"));
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  const old = lines.map((line) => {
    const event = JSON.parse(line);
    if (event.type === "session_started") delete event.model.contract.thinking;
    if (event.type === "assistant_message")
      event.content = event.content.filter(({ type }: { type: string }) => type !== "thinking");
    return JSON.stringify(event);
  });
  writeFileSync(log, `${old.join("\n")}\n`);
  const resumed = await sawtooth(here, ["-p", "go on", "--resume", session_id, ...words], { env });
  expect(JSON.parse(resumed.stdout)).toMatchObject({ subtype: "success", result: "Done." });
  expect(server.received[2]?.raw).not.toContain("reasoning_content");
  expect(readFileSync(log, "utf8")).not.toContain("model_changed");
  const before = server.received[1]?.raw.replace(',"reasoning_content":"hm"', "").slice(0, -2) ?? "";
  expect(server.received[2]?.raw.startsWith(before)).toBe(true);
});
