/**
 * Serves a page that grows to browsers of this machine. Whoever does not know the secret in the address gets nothing;
 * a page of another site that reaches this port under its own name (DNS rebinding) is refused.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

const { createServer } = process.getBuiltinModule("node:http");

/** Pages that may follow at once; a browser itself opens at most six connections to one server. */
const mostFollowers = 16;
const tooMany = `${mostFollowers} pages follow this session already: close one of them\n`;
const mostConnections = 64;
/** Milliseconds for the reader of a page or of a request's body to take something. */
const readMs = 30_000;
/**
 * A follower that took nothing for more than `patience` beats is dropped. Beats count and not time: while this process
 * itself stands still, no reader is served, and none is late.
 */
type Pace = { beatMs: number; patience: number };
const usual: Pace = { beatMs: 15_000, patience: 2 };

export type Served = {
  page(): string;
  /** The Content-Security-Policy of the page. */
  policy: string;
  /** The exact body of a request; undefined where there is none. */
  body(kind: "step" | "summary", number: number): string | undefined;
  /** A message with what changed after an id, and its id; undefined when nothing did, "reload" for an id of old. */
  message(after: string): { text: string; id: string } | "reload" | undefined;
};

export type PageServer = {
  url: string;
  /** Sends followers what changed. */
  push(): void;
  /** Tells followers why nothing more comes, and closes; a reader that does not take it is dropped. */
  close(farewell: string): Promise<void>;
};

/** `missed`: the beats since it stopped taking what was written; undefined while it takes it. */
type Follower = { response: ServerResponse; id: string; missed: number | undefined };

/** Listens on a free port of 127.0.0.1. Rejects with the error of the system when it cannot. */
export async function servePage(served: Served, pace: Pace = usual): Promise<PageServer> {
  const secret = randomBytes(32).toString("base64url");
  const followers = followersOf(served, pace);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 16_384 });
  server.maxConnections = mostConnections;
  const hosts = () => {
    const { port } = server.address() as AddressInfo;
    return [`127.0.0.1:${port}`, `localhost:${port}`];
  };
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const status = refusal(request, hosts(), secret);
    if (status) {
      response.writeHead(status, { connection: "close" }).end();
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://page");
    const path = pathname.slice(secret.length + 2);
    const [after] = [request.headers["last-event-id"] ?? searchParams.get("from") ?? ""].flat();
    if (path === "updates") followers.add(response, after ?? "");
    else answer(served, path, response);
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  return {
    url: `http://${hosts()[0]}/${secret}/`,
    push: followers.push,
    async close(farewell) {
      followers.end(farewell);
      const closed = new Promise((done) => server.close(done));
      server.closeIdleConnections();
      const drop = setTimeout(() => server.closeAllConnections(), 1000);
      await closed;
      clearTimeout(drop);
    },
  };
}

/** The pages that follow, each with the id that it has. One that reads nothing is dropped. */
function followersOf(served: Served, { beatMs, patience }: Pace) {
  const followers = new Set<Follower>();
  const beat = setInterval(() => {
    for (const follower of followers) {
      if (follower.missed === undefined) write(follower, ":\n\n");
      else if (follower.missed++ >= patience) follower.response.destroy();
    }
  }, beatMs);
  return {
    add(response: ServerResponse, id: string): void {
      if (followers.size >= mostFollowers) {
        send(response, 503, "text/plain", tooMany);
        return;
      }
      const follower: Follower = { response, id, missed: undefined };
      followers.add(follower);
      response.on("close", () => followers.delete(follower));
      response.on("drain", () => {
        follower.missed = undefined;
        feed(follower, served);
      });
      response.writeHead(200, { ...safe, "content-type": "text/event-stream" });
      write(follower, "retry: 1000\n\n");
      feed(follower, served);
    },
    push(): void {
      for (const follower of followers) feed(follower, served);
    },
    end(farewell: string): void {
      clearInterval(beat);
      for (const { response } of followers)
        response.end(`event: ended\ndata: ${JSON.stringify(farewell)}\n\n`);
    },
  };
}

const safe = {
  "cache-control": "no-store",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
};

/** Returns the status of a refusal; undefined for a request of somebody who knows the secret. */
function refusal({ method, url = "", headers }: IncomingMessage, hosts: readonly string[], secret: string) {
  const { host = "", origin } = headers;
  if (!hosts.includes(host) || (origin !== undefined && origin !== `http://${host}`)) return 403;
  if (headers["sec-fetch-site"] === "cross-site") return 403;
  const [, given = "", rest] = /^\/([^/?]*)(\/?)/.exec(url) ?? [];
  // Digests have one length, so the comparison tells nothing of either.
  if (!timingSafeEqual(digest(given), digest(secret)) || rest !== "/") return 404;
  return method === "GET" ? undefined : 405;
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function answer(served: Served, path: string, response: ServerResponse): void {
  const [, kind, number] = /^(step|summary)\/([1-9]\d{0,8})$/.exec(path) ?? [];
  const body = kind ? served.body(kind as "step" | "summary", Number(number)) : undefined;
  if (path === "") {
    const policy = `${served.policy}; frame-ancestors 'none'`;
    send(response, 200, "text/html", served.page(), { "content-security-policy": policy });
  } else if (body === undefined) send(response, 404, "text/plain", "There is no such request.\n");
  else send(response, 200, "text/plain", body);
}

function send(response: ServerResponse, status: number, type: string, text: string, more = {}): void {
  response.setTimeout(readMs, () => response.destroy());
  response.writeHead(status, { ...safe, ...more, "content-type": `${type}; charset=utf-8` }).end(text);
}

/** Sends what a follower lacks, as long as it reads; what it does not take now is not kept for it. */
function feed(follower: Follower, served: Served): void {
  while (follower.missed === undefined) {
    const message = served.message(follower.id);
    if (message === undefined) return;
    if (message === "reload") {
      follower.response.end("event: reload\ndata: \n\n");
      return;
    }
    follower.id = message.id;
    write(follower, message.text);
  }
}

function write(follower: Follower, text: string): void {
  if (!follower.response.writableEnded && !follower.response.write(text)) follower.missed = 0;
}
