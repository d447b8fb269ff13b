/** A Messages API on this machine that answers at once, and notes when each request came and each reply ended. */

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A tool call to reply with, or nothing for a last word. */
export type Call = { name: string; input: object };

export type Loopback = {
  url: string;
  /** Milliseconds of `performance.now()`: when the head of each request arrived. */
  arrived: number[];
  /** When the last byte of each reply was handed to the socket. */
  ended: number[];
  close(): Promise<void>;
};

/**
 * Starts a server on a free port. `replyTo` gives the call for the request with this index (from 0). `afterMs`: how long
 * each reply is in coming.
 */
export async function startLoopback(
  replyTo: (index: number) => Call | undefined,
  onBody?: (body: string) => void,
  afterMs = 0,
): Promise<Loopback> {
  const arrived: number[] = [];
  const ended: number[] = [];
  const server = createServer((request, response) => {
    const index = arrived.push(performance.now()) - 1;
    let body = "";
    if (onBody) request.setEncoding("utf8").on("data", (text) => (body += text));
    request.on("end", async () => {
      onBody?.(body);
      if (afterMs > 0) await sleep(afterMs);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(streamOf(replyTo(index), index));
      ended.push(performance.now());
    });
    request.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    arrived,
    ended,
    close: () => closeServer(server),
  };
}

type Server = ReturnType<typeof createServer<typeof IncomingMessage, typeof ServerResponse>>;

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** A server whose one answer never ends: a piece of text every so many milliseconds. */
export async function startStream(
  pieceAt: (index: number) => string,
  everyMs: number,
): Promise<Pick<Loopback, "url" | "close">> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    const [head = "", text = ""] = streamOf(undefined, 0).split(/(?=event: content_block_delta)/);
    const delta = text.split("\n\n")[0] ?? "";
    response.write(head);
    let index = 0;
    const timer = setInterval(() => {
      response.write(`${delta.replace('"Done."', JSON.stringify(pieceAt(index++)))}\n\n`);
    }, everyMs);
    response.on("close", () => clearInterval(timer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => closeServer(server),
  };
}

/** The reply as server-sent events, in the order of the Messages API. */
function streamOf(call: Call | undefined, index: number): string {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 1,
  };
  const message = {
    id: `msg_${index}`,
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5-5",
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  const block = call
    ? { type: "tool_use", id: `toolu_${index}`, name: call.name, input: {} }
    : { type: "text", text: "" };
  const delta = call
    ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
    : { type: "text_delta", text: "Done." };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null },
      usage: { ...usage, output_tokens: 20 },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
}
