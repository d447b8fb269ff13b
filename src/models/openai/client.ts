/** One request to a server that speaks as OpenAI does: the events of its answer, and what it says when it refuses. */

import { createHash } from "node:crypto";
import type { AssistantBlock } from "../../core/blocks.ts";
import { noUsage, type Usage } from "../../core/model-card.ts";
import { ModelError } from "../../core/ports.ts";
import { checkStream, modelErrorOf } from "../http/errors.ts";
import { type Answer, eventData, post, textOf } from "../http/post.ts";
import { answerError, streamError } from "./errors.ts";

/** `baseUrl`: default the public API; one without a path gets `/v1`. `headers`: besides the key's, or in its place. */
export type Access = {
  apiKey?: string;
  baseUrl?: string;
  headers?: Readonly<Record<string, string>>;
};
/** `path`: behind the base URL. */
type Outgoing = { path: string; body: string; signal: AbortSignal };

export const publicApi = "https://api.openai.com/v1";

/** Sends `body` as it is and gives the events of the answer. Throws `ModelError`. */
export async function* streamOf<Event>(access: Access, outgoing: Outgoing): AsyncGenerator<Event> {
  const { apiKey = "" } = access;
  try {
    for await (const data of eventData(await begin(access, outgoing))) {
      if (data === "[DONE]") continue;
      const event = JSON.parse(data);
      // Chat completions send an error as such, Responses as an event of that type.
      if (event.type === "error" || event.error) throw streamError(event.error ?? event, apiKey);
      yield event;
    }
  } catch (error) {
    throw error instanceof ModelError ? error : modelErrorOf(error, apiKey);
  }
}

/** A stream that has begun. Throws `ModelError` for what the server says, else the network's error. */
async function begin(access: Access, { path, body, signal }: Outgoing): Promise<Answer> {
  const { apiKey = "", baseUrl, headers } = access;
  const answer = await post(endpoint(baseUrl || publicApi, path), {
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
      ...headers,
    },
    body,
    signal,
  });
  if (answer.status < 200 || answer.status > 299)
    throw answerError(answer.status, await textOf(answer), answer.headers, apiKey);
  checkStream(answer);
  return answer;
}

function endpoint(baseUrl: string, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "") || "/v1"}/${path}`;
  return url;
}

/** Estimates a bill that the server does not state: four bytes a token; an image costs about 1,500. */
export function estimatedUsage(body: string, content: readonly AssistantBlock[]): Usage {
  const words = body.replace(/data:[\w/+.-]+;base64,[\w+/=]+/g, "x".repeat(6000));
  const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);
  return { ...noUsage, inputTokens: tokens(words), outputTokens: tokens(JSON.stringify(content)) };
}

/** Sends requests with the same beginning to the same machine: without that beginning there is nothing to hit. */
export function cacheKey(system: string, tools: readonly object[], first: object | undefined): string {
  const beginning = JSON.stringify([system, tools, first]);
  return createHash("sha256").update(beginning).digest("base64url").slice(0, 24);
}
