/**
 * Asks a server which models it has, how large their windows are and, where it says so, what they cost
 * (integrations §6.5). Loaded only for providers whose servers tell it.
 */

import type { Prices } from "../../core/model-card.ts";
import type { ToldFacts } from "../cards.ts";
import { get, post, textOf } from "../http/post.ts";
import type { Asking } from "../providers.ts";

export type Server = { url: string; key?: string | undefined; asks: Asking };

/** Facts by the model's id on the server. `loading`: decided by the server only when the model is loaded. */
export type Told = Record<string, ToldFacts & { loading?: true }>;

/**
 * Returns what the server says; `model`: the one whose facts are wanted, where each costs a request. Rejects when the
 * server does not answer, or answers anything but JSON.
 */
export async function askServer(
  server: Server,
  model: string | undefined,
  signal: AbortSignal,
): Promise<Told> {
  switch (server.asks) {
    case "ollama":
      return askOllama(server, model, signal);
    case "lmstudio":
      return told(listOf(await json(server, "/api/v0/models", signal)));
    case "llamacpp":
      return askLlamaCpp(server, signal);
    case "models":
      return told(listOf(await json(server, "models", signal)));
  }
}

/** Older servers tell the window of their only model at `/props` alone. */
async function askLlamaCpp(server: Server, signal: AbortSignal): Promise<Told> {
  const models = told(listOf(await json(server, "models", signal)));
  if (Object.values(models).every(({ window }) => window !== undefined)) return models;
  const props = (await json(server, "/props", signal)) as Entry;
  const window = count(props.n_ctx) ?? count((props.default_generation_settings as Entry | undefined)?.n_ctx);
  if (window === undefined) return models;
  return Object.fromEntries(Object.entries(models).map(([id, facts]) => [id, { window, ...facts }]));
}

/** Models that are loaded have a window; the others get one when they are loaded, by `num_ctx` or the server's default. */
async function askOllama(server: Server, model: string | undefined, signal: AbortSignal): Promise<Told> {
  const [all, running] = (await Promise.all([
    json(server, "/api/tags", signal),
    json(server, "/api/ps", signal),
  ])) as { models?: Entry[] }[];
  const facts: Told = Object.fromEntries(
    (all?.models ?? []).map(({ name }) => [String(name), { loading: true }]),
  );
  for (const { name, context_length } of running?.models ?? []) {
    const window = count(context_length);
    if (window !== undefined) facts[String(name)] = { window };
  }
  const wanted = model === undefined ? undefined : ollamaName(model, facts);
  if (model !== undefined && wanted !== undefined) {
    if (facts[wanted]?.loading)
      facts[wanted] = (await parameterOf(server, wanted, signal)) ?? { loading: true };
    facts[model] ??= facts[wanted] ?? {};
  }
  return facts;
}

/** A name without a tag means the tag `latest`. */
function ollamaName(model: string, facts: Told): string | undefined {
  return [model, `${model}:latest`].find((name) => facts[name] !== undefined);
}

async function parameterOf(
  server: Server,
  model: string,
  signal: AbortSignal,
): Promise<ToldFacts | undefined> {
  const { parameters } = (await json(server, "/api/show", signal, { model })) as Entry;
  const window = count(/^num_ctx\s+(\d+)/m.exec(String(parameters ?? ""))?.[1]);
  return window === undefined ? undefined : { window };
}

type Entry = Record<string, unknown>;

function listOf(answer: unknown): Entry[] {
  const { data, models } = (answer ?? {}) as { data?: unknown; models?: unknown };
  const list = Array.isArray(data) ? data : Array.isArray(models) ? models : [];
  const entries = list.filter((entry): entry is Entry => typeof entry === "object" && entry !== null);
  return entries.flatMap((entry) => {
    // A ChatGPT plan's list, in which some are not meant to be shown.
    if ("slug" in entry) return entry.visibility === "list" ? [{ ...entry, id: entry.slug }] : [];
    return "id" in entry ? [entry] : [];
  });
}

function told(entries: readonly Entry[]): Told {
  return Object.fromEntries(entries.map((entry) => [String(entry.id), factsOf(entry)]));
}

/** The fields by server: LM Studio, llama.cpp, vLLM, OpenRouter and Groq. */
function factsOf(entry: Entry): Told[string] {
  const { meta, top_provider: top, pricing, state } = entry as Record<string, Entry | undefined>;
  const window =
    count(entry.loaded_context_length) ??
    count(meta?.n_ctx) ??
    count(entry.max_model_len) ??
    count(entry.context_length) ??
    count(entry.context_window);
  const maxOutput = count(top?.max_completion_tokens);
  const prices = pricing && pricesOf(pricing);
  return {
    ...(window === undefined ? {} : { window }),
    ...(maxOutput === undefined ? {} : { maxOutput }),
    ...(prices ? { prices } : {}),
    ...(String(state) === "not-loaded" ? { loading: true } : {}),
  };
}

/** OpenRouter tells dollars a token, as text; a negative one means that it depends. */
function pricesOf(pricing: Entry): Partial<Prices> | undefined {
  const dollars = (name: string): number | undefined => {
    const price = Number(pricing[name] ?? Number.NaN);
    return price >= 0 ? Number((price * 1e6).toPrecision(12)) : undefined;
  };
  const [input, output] = [dollars("prompt"), dollars("completion")];
  if (input === undefined || output === undefined) return undefined;
  const write = dollars("input_cache_write") ?? 0;
  return {
    ...{ input, output, cacheRead: dollars("input_cache_read") ?? input },
    ...{ cacheWrite5m: write, cacheWrite1h: write },
  };
}

function count(value: unknown): number | undefined {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number > 0 ? number : undefined;
}

/** `path`: under the base URL, or with a slash under the host. With `body` it is a POST. */
async function json(
  { url, key }: Server,
  path: string,
  signal: AbortSignal,
  body?: object,
): Promise<unknown> {
  const target = path.startsWith("/") ? new URL(path, url) : new URL(`${url.replace(/\/+$/, "")}/${path}`);
  const headers = { accept: "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
  const answer = body
    ? await post(target, {
        headers: { ...headers, "content-type": "application/json" },
        body: JSON.stringify(body),
        signal,
      })
    : await get(target, { headers, signal });
  const text = await textOf(answer);
  if (answer.status !== 200) throw new Error(`${target.pathname} answered ${answer.status}`);
  return JSON.parse(text);
}
