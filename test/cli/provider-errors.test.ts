/** Answers that are no replies: each says who answered what and what to do, and the session goes on. */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { sawtooth, start } from "../support/sawtooth.ts";
import { tempWorkspace } from "../support/served.ts";
import { until } from "../support/until.ts";

type Answer = (response: ServerResponse) => unknown;

const error = (status: number, message: string, headers = {}): Answer => {
  const body = JSON.stringify({ error: { message, type: "some_error", code: null } });
  return (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(body);
};
const page = (status: number, headers = {}): Answer => {
  const body = "<!DOCTYPE html><html><head><title>Sign in – Corp</title></head></html>";
  return (response) => response.writeHead(status, { "content-type": "text/html", ...headers }).end(body);
};
const chunk = { choices: [{ index: 0, delta: { content: "It is done." }, finish_reason: null }] };
const stop = { choices: [{ index: 0, delta: {}, finish_reason: "stop" }], usage: { prompt_tokens: 9 } };
const stream =
  (...chunks: object[]): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const one of chunks) response.write(`data: ${JSON.stringify(one)}\n\n`);
    response.end();
  };
const soon = { "retry-after-ms": "1" };

/** A provider with chat completions; its answers can be exchanged. */
async function serve(first: Answer) {
  const served = { answer: first, asked: 0 };
  const http = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      served.asked++;
      served.answer(response);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const host = `127.0.0.1:${(http.address() as AddressInfo).port}`;
  const env = { DEEPSEEK_API_KEY: "canary-7f3a9c1e55", DEEPSEEK_BASE_URL: `http://${host}/v1` };
  return { served, host, env };
}

const model = "deepseek/deepseek-flash";

const cases: [name: string, answer: Answer, code: number, words: RegExp][] = [
  [
    "401",
    error(401, "Invalid key"),
    4,
    /\(401\): Invalid key\. Check DEEPSEEK_API_KEY, and DEEPSEEK_BASE_URL/,
  ],
  ["402", error(402, "Insufficient Balance"), 4, /\(402\): Insufficient Balance\. Add credit with deepseek/],
  [
    "403",
    error(403, "No access"),
    4,
    /\(403\): No access\. Check that DEEPSEEK_API_KEY may use deepseek\/deepseek-flash/,
  ],
  [
    "404",
    error(404, "Model not found"),
    6,
    /\(404\): Model not found\. Check the name deepseek\/deepseek-flash.*sawtooth models deepseek/,
  ],
  [
    "429 with a long wait",
    error(429, "Slow down", { "retry-after": "7200" }),
    6,
    /\(429\): Slow down \(the server asks to wait 120 minutes\)\. Wait a while/,
  ],
  [
    "429 again and again",
    error(429, "Slow down", soon),
    6,
    /\(429\): Slow down\. Wait a while, or choose another model/,
  ],
  [
    "529 again and again",
    error(529, "Overloaded", soon),
    6,
    /\(529\): Overloaded\. deepseek cannot answer now/,
  ],
  [
    "a redirect to a page for signing in",
    page(302, { location: "https://sso.corp.example/login?a=b" }),
    6,
    /\(302\): a redirect to https:\/\/sso\.corp\.example came instead of an answer.*Check the address, and DEEPSEEK_BASE_URL/,
  ],
  [
    "a page instead of a stream",
    page(200),
    6,
    /\(200\): a web page \(text\/html\) came instead of a stream.*Check the address/,
  ],
  [
    "a page of a gateway",
    page(403),
    4,
    /\(403\): a web page \("Sign in – Corp"\) came instead of an answer of the API/,
  ],
  [
    "JSON instead of a stream",
    error(200, "hm"),
    6,
    /\(200\): JSON \(application\/json\) came instead of a stream/,
  ],
];

test.each(cases)(
  "%s: who answered what, what to do, and the session goes on",
  async (_, answer, code, words) => {
    const { served, host, env } = await serve(answer);
    const workspace = tempWorkspace();
    const failed = await sawtooth(workspace, ["-p", "go", "--model", model], { env });
    expect(failed.stderr).toContain(`sawtooth: ${host} `);
    expect(failed.stderr).toMatch(words);
    expect(failed.stderr).not.toContain("canary");
    expect(failed.code).toBe(code);
    served.answer = stream(chunk, stop);
    expect(await sawtooth(workspace, ["-p", "go on", "-c"], { env })).toMatchObject({
      code: 0,
      stdout: "It is done.\n",
    });
  },
);

test("a stream that ends without its end is tried again, which is told", async () => {
  const { served, env } = await serve(stream(chunk));
  const run = start(tempWorkspace(), ["-p", "go", "--model", model], { env });
  await until(() => /the stream ended before the reply was complete; trying again in/.test(run.stderr()));
  served.answer = stream(chunk, stop);
  expect(await run.ended).toMatchObject({ code: 0, stdout: "It is done.\n" });
});

test("-p says at the first retry that it waits for a server that does not answer", async () => {
  const env = { DEEPSEEK_API_KEY: "canary-7f3a9c1e55", DEEPSEEK_BASE_URL: "http://127.0.0.1:1/v1" };
  const run = start(tempWorkspace(), ["-p", "go", "--model", model], { env });
  await until(() => /^sawtooth: connect ECONNREFUSED 127\.0\.0\.1:1; trying again in \d/.test(run.stderr()));
  run.child.kill("SIGINT");
  expect((await run.ended).code).toBe(130);
});

test("a key of another provider's form is told and not sent", async () => {
  const env = { DEEPSEEK_API_KEY: "sk-ant-canary-0123456789" };
  const { code, stderr } = await sawtooth(tempWorkspace(), ["-p", "go", "--model", model], { env });
  expect(stderr).toContain(
    "DEEPSEEK_API_KEY has the form of a key of anthropic, so it was not sent to deepseek",
  );
  expect([code, stderr.includes("canary")]).toEqual([4, false]);
});

test.each([
  [
    "olama/qwen3-coder",
    2,
    /unknown provider olama in olama\/qwen3-coder: did you mean ollama\?.*"providers" in settings: \{"olama"/,
  ],
  [
    "qwen3-coder",
    2,
    /unknown model qwen3-coder: name it as provider\/id, such as .*see sawtooth models qwen3-coder/,
  ],
  ["anthropic/claude-sonet-5-5", 4, /set ANTHROPIC_API_KEY/],
])("an unknown name, %s, is told with the nearest and how to add a row", async (name, exit, words) => {
  const { code, stderr } = await sawtooth(tempWorkspace(), ["-p", "go", "--model", name]);
  expect(stderr).toMatch(words);
  expect([code, stderr.trim().split("\n").length]).toEqual([exit, 1]);
});

test("a setting of models that makes no sense is one line with the key and what it may be, in every command", async () => {
  const workspace = tempWorkspace();
  const config = join(workspace.home, "sawtooth", "config");
  mkdirSync(config, { recursive: true });
  const models = { "a/b": { prices: { inptu: 3 } } };
  writeFileSync(join(config, "settings.json"), JSON.stringify({ models }));
  const words = `${join(config, "settings.json")}: models.a/b.prices.inptu is not known: use input, output, cacheRead, cacheWrite5m, cacheWrite1h, webSearch, tier: correct or remove it`;
  for (const command of [["-p", "go"], ["models"]])
    expect(await sawtooth(workspace, command)).toMatchObject({ code: 2, stderr: `sawtooth: ${words}\n` });
  const { stdout } = await sawtooth(workspace, ["doctor"]);
  expect(stdout.replace(/\s+/g, " ")).toMatch(
    /FAIL settings \S+settings\.json: models\.a\/b\.prices\.inptu is not known/,
  );
});

test.each([
  [{ corp: { url: "https://x.example" } }, "providers.corp.wire is missing: it must be one of messages,"],
  [{ corp: { wire: "chat" } }, "providers.corp.url is missing: the base URL of the API"],
  [{ corp: { wire: "chat", url: "x.example" } }, "providers.corp.url x.example: must be a URL"],
  [{ corp: { wire: "soap" } }, "providers.corp.wire must be one of messages,"],
  [{ zai: { key: "sk-123" } }, "providers.zai.key: must be the name of the environment variable"],
  [{ zai: { uri: "https://x" } }, "providers.zai.uri is not known: use wire, url, key, asks"],
])("a row of providers that makes no sense is one line: %j", async (providers, words) => {
  const workspace = tempWorkspace();
  const config = join(workspace.home, "sawtooth", "config");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "settings.json"), JSON.stringify({ providers }));
  const { code, stderr } = await sawtooth(workspace, ["-p", "go"]);
  expect(stderr).toContain(`settings.json: ${words}`);
  expect([code, stderr.trim().split("\n").length]).toEqual([2, 1]);
});

test("a model without a card is told with the nearest one", async () => {
  const { env } = await serve(stream(chunk, stop));
  const { stderr } = await sawtooth(tempWorkspace(), ["-p", "go", "--model", "deepseek/deepsek-flash"], {
    env,
  });
  expect(stderr).toContain(
    "deepseek/deepsek-flash is not a known model (did you mean deepseek/deepseek-flash?)",
  );
});

test("a model of a server that is not there is no line about its window: the request says what is wrong", async () => {
  const env = { OLLAMA_HOST: "http://127.0.0.1:9" };
  const run = start(tempWorkspace(), ["-p", "go", "--model", "ollama/qwen3"], { env });
  await until(() => run.stderr().includes("ECONNREFUSED"), "what is wrong");
  run.child.kill();
  expect((await run.ended).stderr).not.toContain("window");
});
