/** Attributes of model calls in the words of the GenAI conventions. Pure. */

import { inputTotal, type ModelCard, type Usage } from "../core/model-card.ts";
import type { Attributes } from "./span.ts";

/** Providers whose name in the conventions differs from ours. */
const providerNames: Readonly<Record<string, string>> = {
  chatgpt: "openai",
  gemini: "gcp.gemini",
  vertex: "gcp.vertex_ai",
  bedrock: "aws.bedrock",
  mistral: "mistral_ai",
  moonshot: "moonshot_ai",
  xai: "x_ai",
};

/** Names a model call in the words of the conventions. */
export function modelAttributes(card: ModelCard | undefined, response?: string): Record<string, string> {
  const [provider = "", ...rest] = (card?.id ?? "").split("/");
  const request = rest.join("/");
  return {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": providerNames[provider] ?? provider,
    "gen_ai.request.model": request,
    ...(response === undefined ? {} : { "gen_ai.response.model": response }),
  };
}

/** Returns the tokens of one call. */
export function usageAttributes(usage: Usage): Attributes {
  const written = usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
  return {
    "gen_ai.usage.input_tokens": inputTotal(usage),
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cacheReadTokens,
    "gen_ai.usage.cache_write.input_tokens": written,
    // The name of the same up to version 1.41 of the conventions.
    "gen_ai.usage.cache_creation.input_tokens": written,
  };
}

/** Adds the class of an error, if there is one. */
export function withError(attributes: Attributes, error: string | undefined): Attributes {
  return error === undefined ? attributes : { ...attributes, "error.type": error };
}
