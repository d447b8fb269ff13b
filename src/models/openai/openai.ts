/**
 * OpenAI's chat completions, and every server that speaks them. No SDK: one POST and a few lines that read events
 * do all there is to do, where the SDK would cost start-up and memory. One attempt a call; retry.ts makes more.
 */

import { createHash } from "node:crypto";
import { type AssistantBlock, isToolUse } from "../../core/blocks.ts";
import { type ModelCard, noUsage, type Usage } from "../../core/model-card.ts";
import { type Model, ModelError } from "../../core/ports.ts";
import type { ModelRequest } from "../../core/request.ts";
import { attempt, checkAccess } from "../http/attempt.ts";
import { checkStream, modelErrorOf } from "../http/errors.ts";
import { type Answer, eventData, post, textOf } from "../http/post.ts";
import { type Dialect, encodeOpenai } from "./encoding.ts";
import { answerError, streamError } from "./errors.ts";
import { type AssemblyOptions, assembleReply, type Chunk } from "./stream.ts";

export type OpenaiOptions = {
  card: ModelCard;
  /** Without it and without `baseUrl` every `send` fails with `credentials`; many servers ask for none. */
  apiKey?: string;
  /** Default: the public API. A URL without a path gets `/v1`. */
  baseUrl?: string;
  /** Milliseconds without a content event after which a request is given up. Default 90,000. */
  idleMs?: number;
  /** Default: what the host is known for. */
  dialect?: Dialect;
};

const publicApi = "https://api.openai.com/v1";

/** Features that a server at this base URL understands. */
export function dialectOf(baseUrl: string | undefined): Dialect {
  const url = baseUrl || publicApi;
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  return {
    official: host === "api.openai.com",
    signedCalls: host === "generativelanguage.googleapis.com",
  };
}

/** A model behind chat completions. */
export function openaiModel(options: OpenaiOptions): Model {
  const { card, apiKey, baseUrl, idleMs, dialect = dialectOf(baseUrl) } = options;
  return {
    card,
    encode: (request) => encodeOpenai(request, dialect),
    async send(request, body, onPart, signal) {
      if (!apiKey && !baseUrl) throw new ModelError("credentials", "no API key: set OPENAI_API_KEY");
      checkAccess(apiKey, baseUrl);
      const assembly = assembleReply(assemblyOptions(options, request, body, onPart));
      return attempt((either) => chunksOf(options, body, either), assembly, { signal, idleMs });
    },
  };
}

function assemblyOptions(
  { card }: OpenaiOptions,
  request: ModelRequest,
  body: string,
  onPart: AssemblyOptions["onPart"],
): AssemblyOptions {
  const calls = request.messages.flatMap(({ content }) => content.filter(isToolUse));
  return {
    card,
    onPart,
    taken: new Set(calls.map(({ id }) => id)),
    // Bound to the request, so that no two replies of a session share an id.
    makeId: (index) => `call_${createHash("sha256").update(body).digest("hex").slice(0, 16)}_${index}`,
    estimate: (content) => estimatedUsage(body, content),
  };
}

/** Four bytes a token; an image costs about 1,500 whatever its bytes. */
function estimatedUsage(body: string, content: readonly AssistantBlock[]): Usage {
  const words = body.replace(/data:[\w/+.-]+;base64,[\w+/=]+/g, "x".repeat(6000));
  const tokens = (text: string) => Math.ceil(Buffer.byteLength(text) / 4);
  return { ...noUsage, inputTokens: tokens(words), outputTokens: tokens(JSON.stringify(content)) };
}

/** The chunks of the answer. Throws `ModelError`. */
async function* chunksOf(options: OpenaiOptions, body: string, signal: AbortSignal): AsyncGenerator<Chunk> {
  const { apiKey = "" } = options;
  try {
    for await (const data of eventData(await begin(options, body, signal))) {
      if (data === "[DONE]") continue;
      const chunk = JSON.parse(data) as Chunk & { error?: unknown };
      if (chunk.error) throw streamError(chunk.error, apiKey);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof ModelError ? error : modelErrorOf(error, apiKey);
  }
}

/** A stream that has begun. Throws `ModelError` for what the server says, else the network's error. */
async function begin(
  { apiKey = "", baseUrl }: OpenaiOptions,
  body: string,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  };
  const answer = await post(endpoint(baseUrl || publicApi), { headers, body, signal });
  if (answer.status < 200 || answer.status > 299)
    throw answerError(answer.status, await textOf(answer), answer.headers, apiKey);
  checkStream(answer);
  return answer;
}

function endpoint(baseUrl: string): URL {
  const url = new URL(baseUrl);
  const path = url.pathname.replace(/\/+$/, "");
  url.pathname = `${path || "/v1"}/chat/completions`;
  return url;
}
