/** A whole run of the program on a chat-completions server, and how a model there is chosen. */

import { expect, onTestFinished, test } from "vitest";
import { startMakersServer, startOpenaiServer } from "../../support/mock-openai.ts";
import { makeWorkspace, sawtooth } from "../../support/sawtooth.ts";

function workspace() {
  const made = makeWorkspace();
  onTestFinished(made.remove);
  return made;
}

test("a run calls bash, reads its result and ends, without any key", async () => {
  const args = JSON.stringify({ command: "echo $((6 * 7))" });
  const server = await startOpenaiServer(
    { text: "Let me see.", calls: [{ name: "bash", args }], usage: { prompt: 2000, output: 20 } },
    { text: "It is 42.", usage: { prompt: 2100, cached: 1900, output: 10 } },
  );
  onTestFinished(() => server.close());
  const here = workspace();
  const words = ["-p", "how much?", "--model", "openai/gpt-6.1-sol", "--permission-mode", "auto"];
  const ended = await sawtooth(here, [...words, "--output-format", "json"], {
    env: { OPENAI_BASE_URL: server.url },
  });
  expect(ended.code).toBe(0);
  expect(JSON.parse(ended.stdout)).toMatchObject({ subtype: "success", result: "It is 42.", num_turns: 2 });
  expect(server.received.map(({ refused }) => refused)).toEqual([undefined, undefined]);
  const result = server.requests[1]?.messages.find(({ role }) => role === "tool");
  expect(result?.content).toContain("42");
  const report = await sawtooth(here, ["report", "--step", "2"], { env: { OPENAI_BASE_URL: server.url } });
  expect(report.stdout).toContain('"max_tokens"');
});

test("a session at Mistral, whose server refuses what others take, is never refused, also with words behind results", async () => {
  const todo = { name: "todo", args: JSON.stringify({ content: "- [ ] look" }) };
  const server = await startMakersServer("mistral", ({ messages }, index) => {
    if (index === 0) return { calls: [{ id: "D681PevKs", ...todo }] };
    return index === 1
      ? { calls: [{ name: "bash", args: '{"command":"pwd"}' }] }
      : { text: `${messages.length}` };
  });
  onTestFinished(() => server.close());
  const here = workspace();
  const env = { MISTRAL_BASE_URL: server.url, MISTRAL_API_KEY: "k" };
  const words = ["--model", "mistral/devstral-latest", "--permission-mode", "auto"];
  expect(await sawtooth(here, ["-p", "look", ...words], { env })).toMatchObject({ code: 0 });
  expect(await sawtooth(here, ["-c", "-p", "and now?", ...words], { env })).toMatchObject({ code: 0 });
  expect(server.received.map(({ refused }) => refused)).toEqual(server.received.map(() => undefined));
  const roles = server.requests.map(({ messages }) => messages.map(({ role }) => role).join(" "));
  expect(roles.join("\n")).toContain("tool assistant user");
});

test("no model is guessed for another server: exit 2, the option is named", async () => {
  const env = { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
  const { code, stderr } = await sawtooth(workspace(), ["-p", "x"], { env });
  expect(code).toBe(2);
  expect(stderr).toContain("OPENAI_BASE_URL: name its model with --model openai/<id>");
});

test("without a key and a server: exit 4, the variable is named", async () => {
  const { code, stderr } = await sawtooth(workspace(), ["-p", "x", "--model", "openai/gpt-6.1-sol"]);
  expect(code).toBe(4);
  expect(stderr).toContain("OPENAI_API_KEY");
});
