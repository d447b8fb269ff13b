/** Anthropic's Messages API. One attempt a call; retry.ts makes more of them. */

import type { ModelCard } from "../../core/model-card.ts";
import { type Model, ModelError } from "../../core/ports.ts";
import { attempt, checkAccess } from "../http/attempt.ts";
import { type Access, streamEvents } from "./client.ts";
import { betasOf, type Cloud, encodeAnthropic } from "./encoding.ts";
import { assembleReply } from "./stream.ts";

/** Without a key or a token every `send` fails with `credentials`, unless the server asks for none. */
export type AnthropicOptions = Access & {
  card: ModelCard;
  keyless?: boolean;
  cloud?: Cloud;
  /** Milliseconds without a content event after which a request is given up. Default 90,000. */
  idleMs?: number;
};

/** A Claude model. */
export function anthropicModel(options: AnthropicOptions): Model {
  const { card, apiKey, authToken, baseUrl, idleMs, cloud, sign, keyless } = options;
  return {
    card,
    encode: (request) => encodeAnthropic(request, cloud ? { cloud } : {}),
    async send(request, body, onPart, signal) {
      const credential = apiKey || authToken;
      if (!credential && !sign && !keyless)
        throw new ModelError("credentials", "no API key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN");
      checkAccess(credential, baseUrl);
      const betas = betasOf(request);
      const open = (either: AbortSignal) => streamEvents(options, { body, betas, signal: either });
      return attempt(open, assembleReply(onPart), { signal, idleMs });
    },
  };
}
