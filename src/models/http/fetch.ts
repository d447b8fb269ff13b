/**
 * `fetch` over Node's own HTTP client, for the SDK: the built-in one loads a WebAssembly parser that costs a headless
 * run about 25 MB. Only what the SDK asks for: a body of bytes, headers, an abort signal, a streamed answer.
 */

import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { Readable } from "node:stream";

type Init = {
  method?: string;
  headers?: ConstructorParameters<typeof Headers>[0];
  body?: unknown;
  signal?: AbortSignal | null;
};

/** Rejects, as `fetch` does, with a `TypeError` whose cause is the network's error, or with the signal's reason. */
export function httpFetch(input: string | URL | Request, init: Init = {}): Promise<Response> {
  const url = new URL(input instanceof Request ? input.url : input);
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = init.body instanceof Uint8Array || typeof init.body === "string" ? init.body : undefined;
  const options = { method: init.method ?? "GET", headers, ...(init.signal ? { signal: init.signal } : {}) };
  return new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const outgoing = send(url, options, (answer) => resolve(responseOf(answer)));
    outgoing.on("error", (error) => {
      reject(init.signal?.aborted ? error : new TypeError("fetch failed", { cause: error }));
    });
    outgoing.end(body);
  });
}

function responseOf(answer: IncomingMessage): Response {
  const status = answer.statusCode ?? 0;
  const headers = new Headers();
  for (const [name, values] of Object.entries(answer.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value);
  }
  const empty = status === 204 || status === 304;
  const body = empty ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>);
  return new Response(body, { status, statusText: answer.statusMessage ?? "", headers });
}
