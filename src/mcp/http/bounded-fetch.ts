/** The requests to a server at an address: where they may go, how much may come back, and streams that break off. */

import type { CheckPlace } from "./places.ts";

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Most bytes of a plain answer, and of one event of a stream. */
const mostBytes = 64_000_000;
/** Code of the error that stands for an answer that never came, since its stream ended. */
export const brokenOff = -32_099;

class TooLong extends Error {}

/**
 * Returns a `fetch` for the SDK. A stream that ends without the answer to its request, and cannot be taken up again,
 * ends with an error as the answer: the SDK would wait for it. A request that is cancelled is ended, too.
 */
export function boundedFetch(check: CheckPlace): Fetch {
  const open = new Map<string | number, AbortController>();
  return async (url, init = {}) => {
    await check(new URL(url));
    const asked = messageOf(init.body);
    if (asked?.cancels !== undefined) {
      const cancelled = open.get(asked.cancels);
      // The server hears of it first.
      setTimeout(() => cancelled?.abort(), 100).unref();
    }
    if (asked?.id === undefined) return bounded(await fetch(url, init), undefined);
    const { id } = asked;
    const ending = new AbortController();
    open.set(id, ending);
    const signal = init.signal ? AbortSignal.any([init.signal, ending.signal]) : ending.signal;
    try {
      const response = await fetch(url, { ...init, signal });
      return bounded(response, { id, signal, done: () => void open.delete(id) });
    } catch (error) {
      open.delete(id);
      throw error;
    }
  };
}

/** `cancels`: the id of the call that it cancels. */
type Asked = { id?: string | number; cancels?: string | number };

function messageOf(body: unknown): Asked | undefined {
  if (typeof body !== "string" || !body.startsWith("{")) return undefined;
  try {
    const { id, method, params } = JSON.parse(body) as {
      id?: string | number;
      method?: string;
      params?: { requestId?: string | number };
    };
    if (method === "notifications/cancelled") return { cancels: params?.requestId ?? "" };
    return method !== undefined && id !== undefined ? { id } : undefined;
  } catch {
    return undefined;
  }
}

type Request = { id: string | number; signal: AbortSignal; done(): void };

/** Returns the response with a body that is bounded. Without a body it is as it was. */
function bounded(response: Response, request: Request | undefined): Response {
  const { body, status, statusText, headers } = response;
  if (!body) {
    request?.done();
    return response;
  }
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  const answer = new Response(limited(body, isStream, request), { status, statusText, headers });
  Object.defineProperty(answer, "url", { value: response.url });
  return answer;
}

function limited(
  body: ReadableStream<Uint8Array>,
  isStream: boolean,
  request: Request | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const seen = { bytes: 0, last: 0, hasIds: false };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) {
          measure(seen, value, isStream);
          return controller.enqueue(value);
        }
        if (isStream && request && !seen.hasIds) controller.enqueue(brokenAnswer(request.id, "ended"));
        controller.close();
      } catch (error) {
        await reader.cancel().catch(() => {});
        const isOurs = request?.signal.aborted === true || !isStream || !request || seen.hasIds;
        if (isOurs) return controller.error(error);
        controller.enqueue(brokenAnswer(request.id, (error as Error).message));
        controller.close();
      }
      request?.done();
    },
    async cancel(reason) {
      request?.done();
      await reader.cancel(reason);
    },
  });
}

/** Counts bytes since the last event. Throws `TooLong`. */
function measure(
  seen: { bytes: number; last: number; hasIds: boolean },
  chunk: Uint8Array,
  isStream: boolean,
): void {
  seen.bytes += chunk.length;
  if (isStream) {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const end = Math.max(text.lastIndexOf("\n\n"), text.lastIndexOf("\r\n\r\n"));
    if (end !== -1) seen.bytes = chunk.length - end;
    seen.hasIds ||= /(?:^|\n)id:/.test(text.subarray(0, 2000).toString("latin1"));
  }
  if (seen.bytes > mostBytes) throw new TooLong("sent a message of more than 64 MB");
}

/** An event with an error as the answer; one that was answered already is passed over by the SDK. */
function brokenAnswer(id: string | number, message: string): Uint8Array {
  const answer = { jsonrpc: "2.0", id, error: { code: brokenOff, message } };
  return new TextEncoder().encode(`\n\nevent: message\ndata: ${JSON.stringify(answer)}\n\n`);
}
