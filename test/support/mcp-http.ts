/** A server of tools at an address of this machine, on the newest protocol and the one before; it may misbehave. */

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import type { ReadableStream } from "node:stream/web";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { keptOpen } from "./kept-open.ts";
import { testOffers } from "./mcp-offers.ts";

export type Asked = { method: string; path: string; headers: IncomingMessage["headers"]; body: string };

export type McpHttp = {
  url: string;
  /** Every request so far. */
  asked: Asked[];
  /** Notes of the tools. */
  notes: string[];
};

/**
 * Serves until the test is over. `behave`: answers a request by itself; the real server answers where it returns
 * undefined.
 */
export async function serveMcp(
  behave: (asked: Asked) => Response | Promise<Response | undefined> | undefined = () => undefined,
): Promise<McpHttp> {
  const asked: Asked[] = [];
  const notes: string[] = [];
  const handler = createMcpHandler(() => testOffers({ note: (text) => void notes.push(text), isRich: true }));
  const server = createServer(keptOpen, (request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const { method = "GET", url = "/", headers } = request;
      const body = Buffer.concat(chunks).toString();
      const one = { method, path: url, headers, body };
      asked.push(one);
      const gone = new AbortController();
      response.on("close", () => gone.abort());
      const fetched = new Request(`http://${headers.host}${url}`, {
        ...{ method, signal: gone.signal, headers: Object.entries(headers) as [string, string][] },
        ...(body === "" ? {} : { body }),
      });
      const answer = (await behave(one)) ?? (await handler.fetch(fetched));
      response.writeHead(answer.status, Object.fromEntries(answer.headers));
      if (!answer.body) return response.end();
      const stream = Readable.fromWeb(answer.body as ReadableStream);
      stream.on("error", () => response.destroy());
      response.on("close", () => stream.destroy());
      return stream.pipe(response);
    })().catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, asked, notes };
}
