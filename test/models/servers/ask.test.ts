/** Windows, models and prices as servers tell them. The servers are made from documentation (test/support/mock-servers.ts). */

import { expect, test } from "vitest";
import type { Asking } from "../../../src/models/providers.ts";
import { askServer } from "../../../src/models/servers/ask.ts";
import {
  llamaCppRoutes,
  lmStudioRoutes,
  olderLlamaCppRoutes,
  ollamaRoutes,
  openRouterRoutes,
  type Routes,
  startListServer,
  vllmRoutes,
} from "../../support/mock-servers.ts";
import { patienceMs } from "../../support/until.ts";

async function told(asks: Asking, routes: Routes, model?: string) {
  const { url } = await startListServer(routes);
  return askServer({ url: `${url}/v1`, asks }, model, AbortSignal.timeout(patienceMs));
}

test("llama.cpp tells its window with its model, an older one at /props", async () => {
  expect(await told("llamacpp", llamaCppRoutes)).toEqual({ "tinyllama.gguf": { window: 8192 } });
  expect(await told("llamacpp", olderLlamaCppRoutes)).toEqual({ "old.gguf": { window: 4096 } });
});

test("LM Studio tells the window of what is loaded, which is not what the model could hold", async () => {
  expect(await told("lmstudio", lmStudioRoutes)).toEqual({
    "qwen3-8b": { window: 8192 },
    "gemma-3-12b": { loading: true },
  });
});

test("vLLM tells its window, OpenRouter windows and prices", async () => {
  expect(await told("models", vllmRoutes)).toEqual({
    "Qwen/Qwen3-Coder-30B-A3B-Instruct": { window: 65_536 },
  });
  expect(await told("models", openRouterRoutes)).toEqual({
    "z-ai/glm-5.3": {
      window: 1_048_576,
      maxOutput: 131_072,
      prices: { input: 1.4, output: 4.4, cacheRead: 0.26, cacheWrite5m: 0, cacheWrite1h: 0 },
    },
    "openrouter/auto": { window: 2_000_000 },
  });
});

test("Ollama tells the window of the loaded model, also by its name without a tag", async () => {
  const facts = await told("ollama", ollamaRoutes({ loaded: 4096 }), "qwen3-coder");
  expect(facts["qwen3-coder"]).toEqual({ window: 4096 });
});

test("Ollama tells the window that a model's file sets; of another that is not loaded none", async () => {
  const set = ollamaRoutes({ parameters: 'stop "<|im_end|>"\nnum_ctx                        32768' });
  expect((await told("ollama", set, "qwen3-coder"))["qwen3-coder"]).toEqual({ window: 32_768 });
  expect((await told("ollama", ollamaRoutes({}), "qwen3-coder"))["qwen3-coder"]).toEqual({ loading: true });
});

test("a page that is not JSON and a server without this route are errors", async () => {
  await expect(told("models", { "GET /v1/models": "<html>sign in</html>" })).rejects.toThrow();
  await expect(told("lmstudio", {})).rejects.toThrow("/api/v0/models answered 404");
});
