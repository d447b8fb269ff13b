/**
 * Servers of models on this machine and gateways, as far as they say which models they have. Made by hand from their
 * documentation, not recorded: Ollama's `docs/api.md` and `docs/context-length.mdx`, LM Studio's REST API v0, vLLM's and
 * OpenRouter's list of models. That of llama.cpp is as llama-server 0.5.0 answered.
 */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { keptOpen } from "./kept-open.ts";

type Reply = object | string | undefined;
/** Answers by `METHOD /path`; a function gets the body. Undefined: never answers. */
export type Routes = Record<string, Reply | ((body: string) => Reply)>;
export type ListServer = { url: string; asked: string[] };

/** Listens until the test is over. `chat`: base URL of a server that gets the chat completions. */
export async function startListServer(routes: Routes, chat?: string): Promise<ListServer> {
  const asked: string[] = [];
  const http = createServer(keptOpen, async (request, response) => {
    const name = `${request.method} ${request.url}`;
    const body = await text(request);
    asked.push(name);
    if (chat && request.url === "/v1/chat/completions") {
      const answer = await fetch(`${chat}/chat/completions`, { method: "POST", body });
      response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
      return void response.end(await answer.text());
    }
    if (!(name in routes)) return void response.writeHead(404).end("404 page not found");
    const route = routes[name];
    const reply = typeof route === "function" ? route(body) : route;
    if (reply === undefined) return;
    const type = typeof reply === "string" ? "text/html" : "application/json";
    // Google's client takes a token from a machine only with this.
    const google = request.url?.startsWith("/computeMetadata/") ? { "metadata-flavor": "Google" } : {};
    response.writeHead(200, { "content-type": type, ...google });
    response.end(typeof reply === "string" ? reply : JSON.stringify(reply));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, asked };
}

type OllamaOptions = {
  /** Window of the loaded model. */
  loaded?: number;
  /** Window that it gets when it is loaded by a request. */
  loads?: number;
  parameters?: string;
};

/** Ollama with one model, `qwen3-coder:latest`. */
export function ollamaRoutes({ loaded, loads, parameters }: OllamaOptions): Routes {
  const model = { name: "qwen3-coder:latest", model: "qwen3-coder:latest" };
  let window = loaded;
  return {
    "GET /api/tags": { models: [{ ...model, size: 18_556_700_761, details: { family: "qwen3moe" } }] },
    "GET /api/ps": () => ({ models: window === undefined ? [] : [{ ...model, context_length: window }] }),
    "POST /api/show": {
      ...(parameters ? { parameters } : {}),
      details: { family: "qwen3moe" },
      model_info: { "general.architecture": "qwen3moe", "qwen3moe.context_length": 262_144 },
      capabilities: ["completion", "tools"],
    },
    "POST /api/generate": () => {
      window = loads ?? window;
      return { model: model.name, response: "", done: true, done_reason: "load" };
    },
  };
}

export const lmStudioRoutes: Routes = {
  "GET /api/v0/models": {
    object: "list",
    data: [
      {
        id: "qwen3-8b",
        type: "llm",
        state: "loaded",
        max_context_length: 32_768,
        loaded_context_length: 8192,
      },
      { id: "gemma-3-12b", type: "llm", state: "not-loaded", max_context_length: 131_072 },
    ],
  },
};

export const vllmRoutes: Routes = {
  "GET /v1/models": {
    object: "list",
    data: [
      { id: "Qwen/Qwen3-Coder-30B-A3B-Instruct", object: "model", owned_by: "vllm", max_model_len: 65_536 },
    ],
  },
};

export const llamaCppRoutes: Routes = {
  "GET /v1/models": {
    object: "list",
    data: [
      {
        id: "tinyllama.gguf",
        object: "model",
        owned_by: "llamacpp",
        meta: { n_ctx: 8192, n_ctx_train: 2048 },
      },
    ],
  },
};

/** An older llama-server, which tells its window at /props alone. */
export const olderLlamaCppRoutes: Routes = {
  "GET /v1/models": { object: "list", data: [{ id: "old.gguf", meta: { n_ctx_train: 2048 } }] },
  "GET /props": { default_generation_settings: { n_ctx: 4096 }, total_slots: 1 },
};

export const openRouterRoutes: Routes = {
  "GET /v1/models": {
    data: [
      {
        id: "z-ai/glm-5.3",
        context_length: 1_048_576,
        top_provider: { max_completion_tokens: 131_072 },
        pricing: { prompt: "0.0000014", completion: "0.0000044", input_cache_read: "0.00000026" },
      },
      { id: "openrouter/auto", context_length: 2_000_000, pricing: { prompt: "-1", completion: "-1" } },
    ],
  },
};
