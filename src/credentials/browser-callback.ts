/** The way back of a browser to this machine, after a page for signing in. */

import type { Server, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CredentialsError } from "./owned-file.ts";

/** Not by `import`, which would load the built-in `fetch`: see `models/http/post.ts`. */
const { createServer } = process.getBuiltinModule("node:http");

export type BrowserCallback = {
  /** The address that the page sends the browser to. */
  redirectUri: string;
  /** Takes the address that the browser ended on; returns why it is not the one. */
  paste(address: string): string | undefined;
  /** Stops listening; the browser gets its page first. */
  close(): void;
};

/**
 * Listens on 127.0.0.1 for one path. `take`: returns why an address is not the answer, which is then waited for.
 * `port`: any free one when 0. Throws `CredentialsError`.
 */
export async function listenForBrowser(
  path: string,
  take: (address: URL) => string | undefined,
  wanted = 0,
): Promise<BrowserCallback> {
  const server = createServer();
  const port = await listening(server, wanted);
  const origin = `http://127.0.0.1:${port}`;
  server.on("request", ({ method, url = "", headers }, response) => {
    const isHere = headers.host === `127.0.0.1:${port}` && method === "GET";
    const address = isHere ? addressOf(url, origin) : undefined;
    if (address?.pathname !== path) return answer(response, 404, "There is nothing here.");
    const wrong = take(address);
    answer(response, wrong ? 400 : 200, wrong ?? "Sawtooth has the answer: go back to the terminal.");
  });
  return {
    redirectUri: `${origin}${path}`,
    paste(text) {
      const pasted = addressOf(text.trim(), origin);
      const isOurs = pasted?.origin === origin && pasted.pathname === path;
      return isOurs ? take(pasted) : `it begins with ${origin}${path}`;
    },
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function listening(server: Server, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on("error", () => {
      const which = wanted === 0 ? "no port" : `port ${wanted}`;
      const not = wanted === 0 ? "could" : "could not";
      reject(new CredentialsError(`${which} of 127.0.0.1 ${not} be opened for the sign-in`));
    });
    server.listen(wanted, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

function addressOf(text: string, origin: string): URL | undefined {
  return URL.canParse(text, origin) ? new URL(text, origin) : undefined;
}

function answer(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'",
    connection: "close",
  });
  response.end(`<!doctype html><meta charset="utf-8"><title>Sawtooth</title><p>${text}</p>\n`);
}
