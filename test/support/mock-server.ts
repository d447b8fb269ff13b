/**
 * The strict Messages API server: real HTTP and SSE, the API's own refusals, its cache and its bills on a settable
 * clock, replies from a script, and faults.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Usage } from "../../src/core/model-card.ts";
import type { Clock } from "../../src/core/ports.ts";
import type { Turns } from "../../src/models/playback/script.ts";
import { keptOpen } from "./kept-open.ts";
import { billing } from "./mock-billing.ts";
import { type ModelChanges, modelIds } from "./mock-models.ts";
import { countTokens, type ReplyState, reply } from "./mock-reply.ts";
import { searches } from "./mock-search.ts";
import { errorTypes, sendJson } from "./mock-stream.ts";
import { RefusedError, type WireBody } from "./mock-wire.ts";

export type MockOptions = {
  /** A script's turns, or a function of the request and its index among those that were not refused. */
  turns: Turns<WireBody>;
  /** Changes to models by id; `"*"` changes all; an unknown id becomes known. */
  models?: ModelChanges;
  /** The only key that is accepted; any unless told. */
  apiKey?: string;
  /** Clock of the cache. */
  now?: Clock;
  /** Streams have only what llama.cpp puts into them. */
  bare?: true;
  /** Folder for raw bodies: `req-001.json` … */
  saveTo?: string;
  port?: number;
  /** Between pings of a silent stream. */
  pingMs?: number;
  /** For `{{cwd}}`; the first absolute path in the first user message unless told. */
  cwd?: string;
  onExchange?: (exchange: Exchange) => void;
};

/** One request to `/v1/messages` and what became of it. */
export type Exchange = {
  index: number;
  headers: IncomingHttpHeaders;
  rawBody: string;
  /** Real time, in milliseconds. */
  receivedAt: number;
  status: number;
  /** Why it was refused. */
  error?: string;
  usage?: Usage;
  messageId?: string;
  /** Real time at which the client hung up before the response was over. */
  clientClosedAt?: number;
  cutByServer?: true;
};

export type MockServer = {
  url: string;
  /** Bodies of the requests that were not refused. */
  requests: WireBody[];
  rawBodies: string[];
  exchanges: Exchange[];
  close(): Promise<void>;
};

type State = ReplyState & { server: Omit<MockServer, "url" | "close"> };

/** Listens on a free port of this machine. Resolves when it does. */
export async function startMockServer(options: MockOptions): Promise<MockServer> {
  if (options.saveTo) mkdirSync(options.saveTo, { recursive: true });
  const requests: WireBody[] = [];
  const server = { requests, rawBodies: [], exchanges: [] };
  const state: State = {
    options,
    server,
    requests,
    billing: billing(),
    thoughtFor: new Map(),
    searches: searches(),
  };
  const http = createServer(keptOpen, (request, response) => void answer(state, request, response));
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject).listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  return {
    ...server,
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}

async function answer(state: State, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { exchanges } = state.server;
  const id = `req_mock_${exchanges.length + 1}`;
  response.setHeader("request-id", id);
  const path = `${request.method} ${new URL(request.url ?? "/", "http://mock").pathname}`;
  const exchange = path === "POST /v1/messages" ? observed(state, request, response) : undefined;
  try {
    const raw = await buffer(request);
    if (exchange) keepBody(state, exchange, raw);
    const betas = checkHeaders(request.headers, state.options.apiKey);
    if (exchange) await reply(state, { raw, betas, exchange, response });
    else if (path === "POST /v1/messages/count_tokens") {
      sendJson(response, 200, { input_tokens: countTokens(state, raw, betas) });
    } else if (path === "GET /v1/models") {
      sendJson(response, 200, { data: modelIds.map((model) => ({ id: model, type: "model" })) });
    } else throw new RefusedError("Not found", 404, "not_found_error");
  } catch (error) {
    refuse(error, id, response, exchange);
  }
}

function observed({ options, server }: State, request: IncomingMessage, response: ServerResponse): Exchange {
  const exchange: Exchange = {
    index: server.exchanges.length,
    headers: request.headers,
    rawBody: "",
    receivedAt: Date.now(),
    status: 0,
  };
  server.exchanges.push(exchange);
  response.once("close", () => {
    if (!response.writableFinished && !exchange.cutByServer) exchange.clientClosedAt = Date.now();
    exchange.status ||= response.headersSent ? response.statusCode : 0;
    options.onExchange?.(exchange);
  });
  return exchange;
}

function keepBody({ options, server }: State, exchange: Exchange, raw: Buffer): void {
  exchange.rawBody = raw.toString();
  server.rawBodies.push(exchange.rawBody);
  const name = `req-${String(exchange.index + 1).padStart(3, "0")}.json`;
  if (options.saveTo) writeFileSync(join(options.saveTo, name), raw);
}

/** The beta features asked for. Throws `RefusedError` without a version or a good key. */
function checkHeaders(headers: IncomingHttpHeaders, apiKey: string | undefined): ReadonlySet<string> {
  const bearer = /^Bearer (.+)$/.exec(headers.authorization ?? "")?.[1];
  const key = headers["x-api-key"] || bearer;
  if (!key) throw new RefusedError("x-api-key header is required", 401, "authentication_error");
  if (apiKey !== undefined && key !== apiKey) {
    throw new RefusedError("invalid x-api-key", 401, "authentication_error");
  }
  if (!headers["anthropic-version"]) throw new RefusedError("anthropic-version: header is required");
  return new Set(String(headers["anthropic-beta"] ?? "").split(/\s*,\s*/));
}

function refuse(error: unknown, id: string, response: ServerResponse, exchange: Exchange | undefined): void {
  const refused = error instanceof RefusedError;
  const status = refused ? error.status : 500;
  const message = refused ? error.message : String((error as Error).stack);
  if (exchange) Object.assign(exchange, { status, error: message });
  if (response.headersSent || response.destroyed) return void response.destroy();
  const type = refused ? error.type : errorTypes[500];
  sendJson(response, status, { type: "error", error: { type, message }, request_id: id });
}
