/** Dialects of chat completions: the rules of a server beside those that all of them have. Pure. */

import { createHash } from "node:crypto";
import { publicApi } from "./client.ts";

export type Dialect = {
  /** Fields may be sent that only OpenAI's own host understands. */
  official: boolean;
  /**
   * Calls of Gemini 3 need the signature that they came with: at Google each call has its own, at OpenRouter the message
   * has them in its reasoning details. A call that another model made needs one word in its place.
   */
  signedCalls?: "call" | "details";
  /** Ids of calls that are longer are refused. `exact`: so are shorter ones, and all but letters and digits. */
  callIds?: { longest: number; exact?: true };
  /**
   * A host for many makers: models whose names match want the thinking of each message with calls in
   * `reasoning_content`, also when it is empty, besides the form of the host. Without it all that carry thinking do.
   */
  thinkingContent?: RegExp;
  /** Usage is stated unasked, and asking for it is refused. */
  statesUsage?: true;
  /** Between results, or what was said, and what is said next there must be a reply. */
  repliesBetween?: true;
};

/** The rules of the chat templates of Mistral's models, at every server (vllm#6862, opencode#5034, llama.cpp#10572). */
const mistralTemplates = {
  callIds: { longest: 9, exact: true },
  repliesBetween: true,
} as const satisfies Partial<Dialect>;

/**
 * The dialects by the names that cassettes have for them. OpenAI's limit of ids: opencode#12653; Mistral's rules:
 * avante.nvim#2347 (usage) and #2695 (order of roles), opencode#1680 (ids); OpenRouter's: Roo-Code#10640, openclaw#875,
 * and for thinking inspect_ai#4080 (DeepSeek), pi#5309 (Kimi) and hermes-agent#25484 (MiMo).
 */
export const dialects = {
  chat: { official: false },
  chat_official: { official: true, callIds: { longest: 40 } },
  chat_signed: { official: false, signedCalls: "call" },
  chat_mistral: { ...mistralTemplates, official: false, statesUsage: true },
  chat_openrouter: {
    official: false,
    signedCalls: "details",
    callIds: { longest: 64 },
    thinkingContent: /deepseek|kimi|mimo/i,
  },
} as const satisfies Record<string, Dialect>;

const byHost: Readonly<Record<string, Dialect>> = {
  "api.openai.com": dialects.chat_official,
  "generativelanguage.googleapis.com": dialects.chat_signed,
  "api.mistral.ai": dialects.chat_mistral,
  "openrouter.ai": dialects.chat_openrouter,
};
/** Providers whose API stands behind another base URL too. */
const byProvider: Readonly<Record<string, keyof typeof dialects>> = {
  gemini: "chat_signed",
  mistral: "chat_mistral",
  openrouter: "chat_openrouter",
};

/** Returns the dialect of the server at this base URL, OpenAI's without one, for the model of this name. */
export function dialectOf(baseUrl: string | undefined, model: string): Dialect {
  const url = baseUrl || publicApi;
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return byHost[host] ?? dialects[dialectName(model)];
}

/** Returns the name of the dialect that the provider of this model speaks wherever it is. */
export function dialectName(model: string): keyof typeof dialects {
  return byProvider[model.slice(0, model.indexOf("/"))] ?? "chat";
}

/** Adds to the dialect of a server the rules of the model that it runs. */
export function dialectFor(model: string, dialect: Dialect): Dialect {
  return /(?:mi|mini|magi|code|dev|pix)stral|mixtral/i.test(model)
    ? { ...dialect, ...mistralTemplates }
    : dialect;
}

/** Returns the id of a call as the server takes it. The same id always becomes the same one. */
export function callId(id: string, { callIds }: Dialect): string {
  if (!callIds) return id;
  const { longest, exact } = callIds;
  const fits = exact ? id.length === longest && !/[^a-zA-Z0-9]/.test(id) : id.length <= longest;
  if (fits) return id;
  const digest = createHash("sha256")
    .update(id)
    .digest("base64")
    .replace(/[^a-zA-Z0-9]/g, "");
  return exact ? digest.slice(0, longest) : `call_${digest}`.slice(0, longest);
}
