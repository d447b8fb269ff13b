/** The core client of Anthropic's SDK. Loaded on its own, so that a bundler leaves out the rest of the SDK. */

import { BaseAnthropic } from "@anthropic-ai/sdk/client";
import type { BetaRawMessageStreamEvent } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { modelErrorOf } from "../http/errors.ts";
import { httpFetch } from "../http/fetch.ts";

/** Exactly one of `apiKey` and `authToken` is used, the key first. */
type Access = { apiKey?: string; authToken?: string; baseUrl?: string };
type Outgoing = { body: string; betas: readonly string[]; signal: AbortSignal };

/**
 * Sends `body` as it is (the SDK passes bytes through, where it would encode an object anew) and gives the events
 * of the answer, pings left out. Throws `ModelError`; an abort may also end the events.
 */
export async function* streamEvents(
  { apiKey, authToken, baseUrl }: Access,
  { body, betas, signal }: Outgoing,
): AsyncGenerator<BetaRawMessageStreamEvent> {
  const client = new BaseAnthropic({
    ...(apiKey ? { apiKey } : { authToken }),
    baseURL: baseUrl || "https://api.anthropic.com",
    maxRetries: 0,
    // The caller watches the time.
    timeout: 2 ** 31 - 1,
    logLevel: "off",
    openTelemetry: false,
    fetch: httpFetch,
  });
  const headers = {
    "content-type": "application/json",
    ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
  };
  const request = { body: Buffer.from(body), stream: true, headers, signal };
  try {
    yield* await client.post<AsyncIterable<BetaRawMessageStreamEvent>>("/v1/messages", request);
  } catch (error) {
    throw modelErrorOf(error, apiKey || authToken || "");
  }
}
