/** OpenAI's Responses API, and hosts that speak it. One attempt a call; retry.ts makes more. */

import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import type { ModelCard } from "../../core/model-card.ts";
import { type Model, ModelError } from "../../core/ports.ts";
import { attempt, checkAccess } from "../http/attempt.ts";
import { type Access, estimatedUsage, streamOf } from "../openai/client.ts";
import { encodeResponses, outputLimit, type ResponsesDialect } from "./encoding.ts";
import { assembleResponse } from "./stream.ts";

/** Without a key and a base URL every `send` fails with `credentials`. */
export type ResponsesOptions = Access &
  ResponsesDialect & {
    card: ModelCard;
    /** Milliseconds without a content event after which a request is given up. Default 90,000. */
    idleMs?: number;
  };

/** A model behind Responses. */
export function responsesModel(options: ResponsesOptions): Model {
  const { card, apiKey = "", baseUrl, headers, idleMs } = options;
  return {
    card,
    encode: (request) => encodeResponses(request, options),
    async send(request, body, onPart, signal) {
      if (!apiKey && !baseUrl && !headers)
        throw new ModelError("credentials", "no API key: set OPENAI_API_KEY");
      checkAccess(apiKey, baseUrl);
      const assembly = assembleResponse({
        card,
        onPart,
        estimate: (content) => estimatedUsage(body, content),
        secret: apiKey,
        limit: outputLimit(request),
      });
      const open = (either: AbortSignal) =>
        streamOf<ResponseStreamEvent>(options, { path: "responses", body, signal: either });
      return attempt(open, assembly, { signal, idleMs });
    },
  };
}
