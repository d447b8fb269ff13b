/** Whole runs on servers of this machine: what they tell counts, and a silent one delays nothing for long. */

import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startOpenaiServer } from "../../support/mock-openai.ts";
import { ollamaRoutes, type Routes, startListServer, vllmRoutes } from "../../support/mock-servers.ts";
import { jsonLines, sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { tempWorkspace } from "../../support/served.ts";

type Tried = { workspace: Workspace; env: Record<string, string>; requests: () => number; asked: string[] };

async function serve(routes: Routes, variable: string): Promise<Tried> {
  const chat = await startOpenaiServer({ text: "It is done." });
  onTestFinished(() => chat.close());
  const server = await startListServer(routes, chat.url);
  const url = variable === "OLLAMA_HOST" ? server.url.replace("http://", "") : `${server.url}/v1`;
  return {
    ...{ workspace: tempWorkspace(), env: { [variable]: url }, asked: server.asked },
    requests: () => chat.requests.length,
  };
}

const run = ({ workspace, env }: Tried, model: string, ...words: string[]) =>
  sawtooth(workspace, ["-p", "go", "--model", model, ...words], { env });

function windowOf({ workspace }: Tried): number {
  const [file] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  const [first = {}] = jsonLines(readFileSync(join(workspace.home, String(file)), "utf8"));
  return (first.model as { window: number }).window;
}

test("a model on Ollama works with nothing said but its name, in the window that it was loaded with", async () => {
  const tried = await serve(ollamaRoutes({ loaded: 32_768 }), "OLLAMA_HOST");
  const ended = await run(tried, "ollama/qwen3-coder");
  expect(ended).toMatchObject({ code: 0, stdout: "It is done.\n", stderr: "" });
  expect(windowOf(tried)).toBe(32_768);
});

test("Ollama's 4,096 tokens are told at once, with the line that mends it", async () => {
  const tried = await serve(ollamaRoutes({ loaded: 4096 }), "OLLAMA_HOST");
  const { stderr } = await run(tried, "ollama/qwen3-coder");
  expect(stderr).toContain("ollama/qwen3-coder holds only 4,096 tokens");
  expect(stderr).toContain("OLLAMA_CONTEXT_LENGTH=65536 ollama serve");
});

test("a prompt that Ollama would cut after loading the model is not sent", async () => {
  const tried = await serve(ollamaRoutes({ loads: 1024 }), "OLLAMA_HOST");
  const { code, stderr } = await run(tried, "ollama/qwen3-coder");
  expect(tried.asked).toContain("POST /api/generate");
  expect([tried.requests(), code === 0]).toEqual([0, false]);
  expect(stderr).toContain("is not loaded yet");
  expect(stderr).toContain("OLLAMA_CONTEXT_LENGTH=65536 ollama serve");
  expect(stderr).toContain("the context is full");
});

test("a model that Ollama does not have is named with how to get it", async () => {
  const tried = await serve(ollamaRoutes({ loaded: 32_768 }), "OLLAMA_HOST");
  const { stderr } = await run(tried, "ollama/qwen3-codr");
  expect(stderr).toContain("ollama has no model qwen3-codr now: did you mean ollama/qwen3-coder:latest?");
  expect(stderr).toContain("ollama pull qwen3-codr");
});

test("a server that never answers is not waited for, and the last answer still counts", async () => {
  const routes = { ...vllmRoutes };
  const tried = await serve(routes, "VLLM_BASE_URL");
  const model = "vllm/Qwen/Qwen3-Coder-30B-A3B-Instruct";
  expect((await run(tried, model)).stderr).toBe("");
  expect(windowOf(tried)).toBe(65_536);
  routes["GET /v1/models"] = undefined;
  const again = await run(tried, model, "--session-dir", join(tried.workspace.home, "other"));
  expect(again).toMatchObject({ code: 0, stderr: "" });
  expect(tried.requests()).toBe(2);
});

test("a provider of one's own is a row in the settings, with its key and the card of the same model", async () => {
  const tried = await serve({}, "UNUSED");
  const config = join(tried.workspace.home, "sawtooth", "config");
  mkdirSync(config, { recursive: true });
  const providers = { corp: { wire: "chat", url: tried.env.UNUSED, key: "CORP_KEY" } };
  writeFileSync(join(config, "settings.json"), JSON.stringify({ providers }));
  const without = await run(tried, "corp/glm-5.3");
  expect(without).toMatchObject({ code: 4, stderr: expect.stringContaining("set CORP_KEY") });
  tried.env.CORP_KEY = "any-key";
  expect(await run(tried, "corp/glm-5.3")).toMatchObject({ code: 0, stderr: "" });
  expect(windowOf(tried)).toBe(1_000_000);
});

test("a window that the prompt alone fills is told with the line that widens it, and nothing is sent", async () => {
  const list = { object: "list", data: [{ id: "tiny", meta: { n_ctx: 2048 } }] };
  const tried = await serve({ "GET /v1/models": list }, "LLAMACPP_BASE_URL");
  const { code, stderr } = await run(tried, "llamacpp/tiny");
  expect([code, tried.requests()]).toEqual([2, 0]);
  expect(stderr).toContain("llamacpp/tiny holds only 2,048 tokens");
  expect(stderr).toContain("llama-server -c 32768");
  expect(stderr).toMatch(/the system prompt and tools alone take about \d+ tokens of a window of 1228/);
});

test("any server with chat completions that tells its window is asked for it", async () => {
  const tried = await serve(vllmRoutes, "OPENAI_BASE_URL");
  const { stderr } = await run(tried, "openai/Qwen/Qwen3-Coder-30B-A3B-Instruct");
  expect(stderr).not.toContain("window is taken as");
  expect(windowOf(tried)).toBe(65_536);
});
