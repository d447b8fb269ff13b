/**
 * The requests of Anthropic's SDK without the SDK, which would cost a start as much time as all the rest: one POST,
 * the events of its answer, and what the server says when it refuses. A test holds the headers against the SDK's.
 */

import type { BetaRawMessageStreamEvent } from "@anthropic-ai/sdk/resources/beta/messages/messages";
import { ModelError } from "../../core/ports.ts";
import { checkStream, modelErrorOf, serverError, statusOfType } from "../http/errors.ts";
import { type Answer, eventData, post, textOf } from "../http/post.ts";
import type { Sign, Unsigned } from "../signers/signer.ts";
import { apiVersion } from "./encoding.ts";

/** One of `apiKey` and `authToken`, the key first. `baseUrl`: default the public API. `headers`: of the user. */
export type Access = {
  apiKey?: string;
  authToken?: string;
  baseUrl?: string;
  headers?: Readonly<Record<string, string>>;
  /** The whole address, where it is not the base URL and `/v1/messages`. */
  endpoint?: string;
  /** Signs in place of a key. */
  sign?: Sign;
};
type Outgoing = { body: string; betas: readonly string[]; signal: AbortSignal };
type StreamEvent = BetaRawMessageStreamEvent | { type: "ping" } | { type: "error"; error?: WireError };
type WireError = { type?: string; message?: string; details?: { error_code?: unknown } };

const publicApi = "https://api.anthropic.com";

/** Sends `body` as it is and gives the events of the answer, pings left out. Throws `ModelError`. */
export async function* streamEvents(
  access: Access,
  outgoing: Outgoing,
): AsyncGenerator<BetaRawMessageStreamEvent> {
  const secret = access.apiKey || access.authToken || "";
  try {
    const answer = await begin(access, outgoing, secret);
    for await (const data of eventData(answer)) {
      const event = JSON.parse(data) as StreamEvent;
      if (event.type === "error") throw refusal(statusOfType(event.error?.type), data, answer, secret);
      if (isBareError(event))
        throw refusal(statusOfType(event.type), JSON.stringify({ error: event }), answer, secret);
      if (event.type !== "ping") yield event;
    }
  } catch (error) {
    throw error instanceof ModelError ? error : modelErrorOf(error, secret);
  }
}

/** llama.cpp sends the error itself where the API sends an event that holds it. */
function isBareError(event: { type: string }): boolean {
  return event.type.endsWith("_error") && "message" in event;
}

async function begin(access: Access, { body, betas, signal }: Outgoing, secret: string): Promise<Answer> {
  const url = new URL(access.endpoint ?? `${(access.baseUrl || publicApi).replace(/\/$/, "")}/v1/messages`);
  const headers = {
    accept: "application/json",
    "user-agent": "sawtooth",
    "anthropic-version": apiVersion,
    ...(secret ? { authorization: `Bearer ${secret}` } : {}),
    ...lowerCase(access.headers),
    "content-type": "application/json",
    ...(betas.length > 0 ? { "anthropic-beta": betas.join(",") } : {}),
  };
  const signed = access.sign ? await signedHeaders(access.sign, { url, headers, body }) : headers;
  const answer = await post(url, { headers: signed, body, signal });
  if (answer.status < 200 || answer.status > 299)
    throw refusal(answer.status, await textOf(answer), answer, secret);
  checkStream(answer);
  return answer;
}

async function signedHeaders(sign: Sign, request: Unsigned): Promise<Record<string, string>> {
  try {
    return await sign(request);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ModelError("credentials", `no credentials were found to sign with: ${reason}`);
  }
}

/** Names of headers know no case, keys of objects do. */
function lowerCase(headers: Access["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** `text`: an error object of the API, or a page of a server between. */
function refusal(status: number, text: string, { headers }: Answer, secret: string): ModelError {
  const { type, message, details } = wireErrorIn(text);
  const code = typeof details?.error_code === "string" ? details.error_code : type;
  const explanation = message || text.trim().slice(0, 1000) || `the server answered ${status}`;
  return serverError({ status, message: explanation, code, headers }, secret);
}

function wireErrorIn(text: string): WireError {
  try {
    return (JSON.parse(text) as { error?: WireError } | null)?.error ?? {};
  } catch {
    return {};
  }
}
