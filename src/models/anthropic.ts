/** Anthropic's Messages API, over the core client of its SDK. One attempt a call; retry.ts makes more of them. */

import type { ModelCard } from "../core/model-card.ts";
import { type Model, ModelError } from "../core/ports.ts";
import { betasOf, encodeAnthropic } from "./anthropic-encoding.ts";
import { assembleReply } from "./anthropic-stream.ts";

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

/** How long a whole reply waits for the server to end its response, so that the connection can be used again. */
const lingerMs = 1000;

/** A Claude model. The SDK is loaded in the background, so that start-up does not wait for it. */
export function anthropicModel(options: AnthropicOptions): Model {
  const { card, idleMs = 90_000 } = options;
  const sdk = import("./anthropic-client.ts");
  return {
    card,
    encode: encodeAnthropic,
    async send(request, body, onPart, signal) {
      checkOptions(options);
      const { streamEvents } = await sdk;
      const watch = startWatch(signal);
      const assembly = assembleReply(onPart);
      const outgoing = { body, betas: betasOf(request), signal: watch.signal };
      watch.giveUpAfter(idleMs);
      try {
        for await (const event of streamEvents(options, outgoing)) {
          assembly.take(event);
          watch.giveUpAfter(assembly.stopped() ? lingerMs : idleMs);
        }
      } catch (error) {
        // After our own abort an error is expected; after the whole reply it changes nothing.
        const expected = watch.signal.aborted || assembly.stopped();
        if (!(error instanceof ModelError && expected)) throw error;
      } finally {
        watch.end();
      }
      if (assembly.stopped()) return assembly.reply();
      if (signal.aborted) throw new ModelError("aborted", "interrupted", { partial: assembly.partial() });
      if (watch.signal.aborted) throw new ModelError("idle", `no data for ${idleMs / 1000} s`);
      return assembly.reply();
    },
  };
}

/** Throws `ModelError`. A key that cannot stand in a header would be quoted in the error about it. */
function checkOptions({ apiKey, authToken, baseUrl }: AnthropicOptions): void {
  const credential = apiKey || authToken;
  if (!credential)
    throw new ModelError("credentials", "no API key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN");
  if (!/^[\x21-\x7e]+$/.test(credential))
    throw new ModelError("credentials", "the API key holds characters that no key has: copy it again");
  if (baseUrl && !URL.canParse(baseUrl))
    throw new ModelError("bad_request", `the base URL of the API is not a URL: ${baseUrl}`);
}

/** A signal that follows `outer`, and fires by itself when `giveUpAfter` is not called again in time. */
function startWatch(outer: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  let timer: NodeJS.Timeout | undefined;
  if (outer.aborted) abort();
  outer.addEventListener("abort", abort);
  return {
    signal: controller.signal,
    giveUpAfter(ms: number) {
      clearTimeout(timer);
      timer = setTimeout(abort, ms);
    },
    end() {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    },
  };
}
