/** Anthropic's Messages API, over the core client of its SDK. One attempt a call; retry.ts makes more of them. */

import type { BetaRawMessageStreamEvent } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import type { ModelCard } from "../core/model-card.ts";
import { type Model, ModelError } from "../core/ports.ts";
import { betasOf, encodeAnthropic } from "./anthropic-encoding.ts";
import { modelErrorOf } from "./anthropic-errors.ts";
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

type Sdk = typeof import("@anthropic-ai/sdk/client");
type Client = InstanceType<Sdk["BaseAnthropic"]>;

const publicUrl = "https://api.anthropic.com";
/** How long a whole reply waits for the server to end its response, so that the connection can be used again. */
const lingerMs = 1000;

/** A Claude model. The SDK is loaded in the background, so that start-up does not wait for it. */
export function anthropicModel(options: AnthropicOptions): Model {
  const { card, idleMs = 90_000 } = options;
  const sdk = import("@anthropic-ai/sdk/client");
  return {
    card,
    encode: encodeAnthropic,
    async send(request, body, onPart, signal) {
      const secret = credentialOf(options);
      const client = clientOf(await sdk, options);
      const watch = startWatch(signal);
      const assembly = assembleReply(onPart);
      watch.giveUpAfter(idleMs);
      try {
        for await (const event of eventsOf(client, body, betasOf(request), watch.signal, secret)) {
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

/** The key or token, checked: what cannot stand in a header would be quoted in an error about it. */
function credentialOf({ apiKey, authToken, baseUrl }: AnthropicOptions): string {
  const credential = apiKey || authToken;
  if (!credential)
    throw new ModelError("credentials", "no API key: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN");
  if (!/^[\x21-\x7e]+$/.test(credential))
    throw new ModelError("credentials", "the API key holds characters that no key has: copy it again");
  if (baseUrl && !URL.canParse(baseUrl))
    throw new ModelError("bad_request", `the base URL of the API is not a URL: ${baseUrl}`);
  return credential;
}

/** One credential is always passed, so the SDK looks for no other; it prints nothing and tries once. */
function clientOf({ BaseAnthropic }: Sdk, { apiKey, authToken, baseUrl, idleMs }: AnthropicOptions): Client {
  return new BaseAnthropic({
    ...(apiKey ? { apiKey } : { authToken }),
    baseURL: baseUrl || publicUrl,
    maxRetries: 0,
    // The watch is the only timer.
    timeout: 2 * Math.max(idleMs ?? 0, 600_000),
    logLevel: "off",
    openTelemetry: false,
  });
}

/** Sends `body` as it is: the SDK passes bytes through, where it would encode an object anew. */
async function* eventsOf(
  client: Client,
  body: string,
  betas: readonly string[],
  signal: AbortSignal,
  secret: string,
): AsyncGenerator<BetaRawMessageStreamEvent> {
  const headers = {
    "content-type": "application/json",
    ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
  };
  const request = { body: Buffer.from(body), stream: true, headers, signal };
  try {
    yield* await client.post<AsyncIterable<BetaRawMessageStreamEvent>>("/v1/messages", request);
  } catch (error) {
    throw modelErrorOf(error, secret);
  }
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
