/** The tool that is declared for a change of tools later on: in new sessions where tools can change, and nowhere else. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

async function setup() {
  const server = await startMockServer({ turns: () => ({ text: "done" }) });
  onTestFinished(() => server.close());
  const here = makeWorkspace(server.url);
  onTestFinished(here.remove);
  return { server, here };
}

const words = ["--output-format", "json"];
const deferred = ({ tools }: { tools: { name: string; defer_loading?: boolean }[] }) =>
  tools.filter((tool) => tool.defer_loading).map(({ name }) => name);

test("it stands in the first request of a model whose tools can change, and in no request of another", async () => {
  const { server, here } = await setup();
  await sawtooth(here, ["-p", "go", "--model", "anthropic/claude-sonnet-5-5", ...words]);
  await sawtooth(here, ["-p", "go", "--model", "anthropic/claude-haiku-4-5", ...words]);
  expect(server.requests.map(deferred)).toEqual([["reserved"], []]);
  expect(server.exchanges[0]?.headers["anthropic-beta"]).toContain(
    "mid-conversation-tool-changes-2026-07-01",
  );
  const stream = await sawtooth(here, ["-p", "go", "--output-format", "stream-json"]);
  expect(stream.stdout).not.toContain(`"reserved"`);
});

test("another model in the same session is not told of it, and the first one is again", async () => {
  const { server, here } = await setup();
  const first = await sawtooth(here, ["-p", "go", "--model", "anthropic/claude-sonnet-5-5", ...words]);
  const resumed = (model: string) => {
    const { session_id } = JSON.parse(first.stdout);
    return sawtooth(here, ["-p", "go on", "--resume", session_id, "--model", model, ...words]);
  };
  await resumed("anthropic/claude-haiku-4-5");
  await resumed("anthropic/claude-sonnet-5-5");
  expect(server.exchanges.map(({ error }) => error)).toEqual([undefined, undefined, undefined]);
  expect(server.requests.map(deferred)).toEqual([["reserved"], [], ["reserved"]]);
});

test("a session from before resumes with the bytes that it was sent with", async () => {
  const { server, here } = await setup();
  const first = await sawtooth(here, ["-p", "go", "--model", "anthropic/claude-sonnet-5-5", ...words]);
  const { session_id } = JSON.parse(first.stdout);
  // As the version before this one wrote it.
  const [log = ""] = globSync(join(here.home, "**", session_id, "events.jsonl"));
  const old = readFileSync(log, "utf8").replace(/,\{"name":"reserved".*?"defer_loading":true\}/, "");
  writeFileSync(log, old);
  await sawtooth(here, ["-p", "go on", "--resume", session_id, ...words]);
  const [sent = "", resumed = ""] = server.rawBodies;
  const plain = (body: string) =>
    body
      .replace(/,\{"name":"reserved".*?"defer_loading":true\}/, "")
      .replaceAll(/,"cache_control":\{[^}]*\}/g, "");
  const conversation = (body: string) => body.slice(body.indexOf('"tools":'));
  expect(resumed).not.toContain(`"reserved"`);
  expect(old).not.toContain(`"reserved"`);
  expect(conversation(plain(resumed)).startsWith(conversation(plain(sent)).slice(0, -2))).toBe(true);
});
