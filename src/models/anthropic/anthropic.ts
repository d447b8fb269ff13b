/** Anthropic's Messages API, over the core client of its SDK. One attempt a call; retry.ts makes more of them. */

import type { ModelCard } from "../../core/model-card.ts";
import { type Model, ModelError } from "../../core/ports.ts";
import { attempt, checkAccess } from "../http/attempt.ts";
import { betasOf, encodeAnthropic } from "./encoding.ts";
import { assembleReply } from "./stream.ts";

export type AnthropicOptions = {
  card: ModelCard;
  /** One of `apiKey` and `authToken`; without either every `send` fails with `credentials`. */
  apiKey?: string;
  authToken?: string;
  /** Default: the public API. */
  baseUrl?: string;
  /** Milliseconds without a content event after which a request is given up. Default 90,000. */
  idleMs?: number;
};

/** A Claude model. The SDK is loaded in the background, so that start-up does not wait for it. */
export function anthropicModel(options: AnthropicOptions): Model {
  const { card, apiKey, authToken, baseUrl, idleMs } = options;
  const sdk = import("./client.ts");
  return {
    card,
    encode: encodeAnthropic,
    async send(request, body, onPart, signal) {
      const credential = apiKey || authToken;
      if (!credential)
        throw new ModelError("credentials", "no API key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN");
      checkAccess(credential, baseUrl);
      const { streamEvents } = await sdk;
      const betas = betasOf(request);
      const open = (either: AbortSignal) => streamEvents(options, { body, betas, signal: either });
      return attempt(open, assembleReply(onPart), { signal, idleMs });
    },
  };
}
