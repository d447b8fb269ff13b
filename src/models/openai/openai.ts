/**
 * OpenAI's chat completions, and every server that speaks them. No SDK: one POST and a few lines that read events
 * do all there is to do, where the SDK would cost start-up and memory. One attempt a call; retry.ts makes more.
 */

import { createHash } from "node:crypto";
import { isToolUse } from "../../core/blocks.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { type Model, ModelError } from "../../core/ports.ts";
import type { ModelRequest } from "../../core/request.ts";
import { attempt, checkAccess } from "../http/attempt.ts";
import { type Access, estimatedUsage, streamOf } from "./client.ts";
import { type Dialect, dialectOf } from "./dialects.ts";
import { encodeOpenai } from "./encoding.ts";
import { type AssemblyOptions, assembleReply, type Chunk } from "./stream.ts";

/** Without a key and a base URL every `send` fails with `credentials`; many servers ask for no key. */
export type OpenaiOptions = Access & {
  card: ModelCard;
  /** Milliseconds without a content event after which a request is given up. Default 90,000. */
  idleMs?: number;
  /** Default: what the host is known for. */
  dialect?: Dialect;
};

/** A model behind chat completions. */
export function openaiModel(options: OpenaiOptions): Model {
  const { card, apiKey, baseUrl, idleMs, dialect = dialectOf(baseUrl, options.card.id) } = options;
  return {
    card,
    encode: (request) => encodeOpenai(request, dialect),
    async send(request, body, onPart, signal) {
      if (!apiKey && !baseUrl) throw new ModelError("credentials", "no API key: set OPENAI_API_KEY");
      checkAccess(apiKey, baseUrl);
      const assembly = assembleReply(assemblyOptions(options, request, body, onPart));
      const open = (either: AbortSignal) =>
        streamOf<Chunk>(options, { path: "chat/completions", body, signal: either });
      return attempt(open, assembly, { signal, idleMs });
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
