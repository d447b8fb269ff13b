/** Requests over Node's own HTTP client, and the server-sent events of an answer. */

import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, RequestOptions } from "node:http";

export type Sent = { headers: Record<string, string>; body: string; signal: AbortSignal };

export type Answer = {
  status: number;
  headers: IncomingHttpHeaders;
  /** As it comes; to be read to its end, so that the connection can be used again. */
  text: AsyncIterable<string>;
};

/** Rejects with the network's error, or with that of an abort. */
export function post(url: URL, { headers, body, signal }: Sent): Promise<Answer> {
  const bytes = Buffer.from(body);
  const options = { method: "POST", headers: { ...headers, "content-length": bytes.length } };
  return send(url, options, bytes, signal);
}

/** Does the same without a body. */
export function get(url: URL, { headers, signal }: Omit<Sent, "body">): Promise<Answer> {
  return send(url, { method: "GET", headers }, "", signal);
}

function send(url: URL, options: RequestOptions, body: Buffer | "", signal: AbortSignal): Promise<Answer> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const outgoing = clientFor(url).request(url, options, (answer) => resolve(answerOf(answer)));
    // Node's own `signal` option gives the socket an error, which nobody hears once the answer has been read.
    const abort = () => outgoing.destroy();
    signal.addEventListener("abort", abort, { once: true });
    outgoing.on("close", () => signal.removeEventListener("abort", abort));
    const readBefore = bytesReadBy(outgoing);
    outgoing.on("error", (error) => {
      const isUnread = outgoing.socket?.bytesRead === readBefore();
      if (isStale(outgoing, error) && isUnread && !signal.aborted) resolve(send(url, options, body, signal));
      else reject(error);
    });
    outgoing.end(body);
  });
}

/**
 * Returns true when a connection that was kept from an earlier request broke: the server closed it, as it does with idle
 * ones, while the request was on its way. It leaves the pool with this, so the next try ends at a new one.
 */
function isStale({ reusedSocket }: ClientRequest, error: Error): boolean {
  return reusedSocket && "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

/** Returns how many bytes its connection had read when the request got it; earlier requests may have used it. */
function bytesReadBy(outgoing: ClientRequest): () => number | undefined {
  let bytes: number | undefined;
  outgoing.once("socket", (socket) => {
    bytes = socket.bytesRead;
  });
  return () => bytes;
}

/**
 * Not by `import`, which asks for every export of the module, and some of them load the built-in `fetch`: 14 MB that
 * nobody uses, and as much time as the rest of a start. TLS is loaded only where it is spoken.
 */
function clientFor({ protocol }: URL) {
  return protocol === "https:"
    ? process.getBuiltinModule("node:https")
    : process.getBuiltinModule("node:http");
}

function answerOf(answer: IncomingMessage): Answer {
  // The reader of `text` gets the error; one that comes after the reader has left must not end the process.
  answer.on("error", () => undefined);
  return { status: answer.statusCode ?? 0, headers: answer.headers, text: answer.setEncoding("utf8") };
}

/** The whole answer. Rejects when the connection breaks. */
export async function textOf({ text }: Answer): Promise<string> {
  let whole = "";
  for await (const piece of text) whole += piece;
  return whole;
}

/** The `data` lines of the events; these servers write one to an event. Comments and names are left out. */
export async function* eventData({ text }: Answer): AsyncGenerator<string> {
  let rest = "";
  for await (const piece of text) {
    const [first = "", ...more] = piece.split(/\r?\n|\r/);
    const lines = [rest + first, ...more];
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.startsWith("data:")) yield line.slice(5).trim();
  }
  if (rest.startsWith("data:")) yield rest.slice(5).trim();
}
