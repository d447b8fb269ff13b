/** Serves HTTP from the sandbox: requests to names on port 80, and those of clients that were given a proxy. */

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type EgressReason, egressNote } from "../core/network/egress.ts";
import { canonicalHost, splitPort } from "../permissions/sandbox/hosts.ts";
import { join, passage, refuse, type Target, tunnel, type Way } from "./tunnel.ts";

/** Not by `import`, which would load the built-in `fetch`: see `models/http/post.ts`. */
const { createServer, request } = process.getBuiltinModule("node:http");

/** Port of the proxy inside, for clients that are given one. */
export const proxyPort = 3128;

/** `meant`: the host that a connection was made to; undefined where clients know they talk to a proxy. */
export type HttpWay = Way & { meant(socket: Socket): Target | undefined };

/** Creates the server. It is given connections whose first bytes have come. */
export function httpServer(way: HttpWay): Server {
  const server = createServer({
    maxHeaderSize: 65_536,
    // A body may take its time.
    requestTimeout: 0,
    keepAliveTimeout: 60_000,
  });
  server.on("request", (message, response) => void onRequest(way, message, response));
  server.on(
    "upgrade",
    (message: IncomingMessage, socket: Duplex, head: Buffer) =>
      void onUpgrade(way, message, socket as Socket, head),
  );
  server.on(
    "connect",
    (message: IncomingMessage, socket: Duplex, head: Buffer) =>
      void onConnect(way, message, socket as Socket, head),
  );
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    // A connection that said nothing, or was given up, did not want anything.
    const said = error.code?.startsWith("HPE_") && error.code !== "HPE_INVALID_EOF_STATE";
    const end = socket as Socket;
    if (said) refuse(way, way.meant(end) ?? { host: "?", port: 0 }, way.source(end), "protocol");
    socket.destroy();
  });
  return server;
}

type Asked = Target & { path: string };

/** Finds the host and port that a request means; the reason where its parts disagree or are odd. */
function targetOf(way: HttpWay, message: IncomingMessage): Asked | EgressReason {
  const meant = way.meant(message.socket);
  const named = namedBy(message);
  if (typeof named === "string") return named;
  const { path, target } = named;
  // HTTP 1.0 needs no Host; then the name that was looked up is all there is.
  if (!target) return meant ? { ...meant, path } : "malformed";
  if (meant && !isSame(target, meant)) return "other_name";
  return { ...target, path };
}

/** Reads the request line and the Host header, which must not disagree. */
function namedBy({
  url = "",
  rawHeaders,
}: IncomingMessage): { path: string; target?: Target } | EgressReason {
  const hosts = pairs(rawHeaders).filter(([name]) => /^host$/i.test(name));
  const [, authority, rest = ""] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  if (hosts.length > 1 || (authority === undefined && !/^(\/|\*$)/.test(url))) return "malformed";
  const named = [authority, hosts[0]?.[1]]
    .filter((text) => text !== undefined)
    .map((text) => hostPort(text, 80));
  const [first, second] = named;
  if (named.includes(undefined)) return "malformed";
  if (first && second && !isSame(first, second)) return "other_name";
  const path = authority === undefined ? url : rest.startsWith("/") ? rest : `/${rest}`;
  return first ? { path, target: first } : { path };
}

function isSame(one: Target, other: Target): boolean {
  return one.host === other.host && one.port === other.port;
}

function hostPort(text: string, usual: number): Target | undefined {
  const split = splitPort(text);
  const host = split && canonicalHost(split.host);
  return host === undefined ? undefined : { host, port: split?.port ?? usual };
}

async function onRequest(way: HttpWay, message: IncomingMessage, response: ServerResponse): Promise<void> {
  response.on("error", () => {});
  const source = way.source(message.socket);
  const target = targetOf(way, message);
  if (typeof target === "string") {
    refuse(way, way.meant(message.socket) ?? oddTarget(message), source, target);
    return refuseRequest(way, response, target, way.meant(message.socket));
  }
  const passed = await passage(way, target, source);
  if ("refused" in passed) return refuseRequest(way, response, passed.refused, target);
  const { upstream, meter } = passed;
  const onward = request({
    ...{ method: message.method, path: target.path, setHost: false },
    headers: onwardHeaders(message.rawHeaders, target),
    createConnection: () => upstream,
  });
  const giveUp = (): void => {
    onward.destroy();
    upstream.destroy();
  };
  onward.on("response", (answer) => {
    const headers = withoutHops(answer.rawHeaders);
    response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
    answer.pipe(response);
    answer.on("error", () => response.destroy());
    answer.on("end", () => upstream.end());
  });
  onward.on("error", () => {
    if (response.headersSent) response.destroy();
    else if (meter.isCut()) refuseRequest(way, response, "budget", target);
    else response.writeHead(502, { connection: "close" }).end("sandbox: the host closed the connection\n");
    upstream.destroy();
  });
  response.on("close", () => {
    if (!response.writableFinished) giveUp();
  });
  message.pipe(onward);
}

/** Answers with the reason, in words that clients print. */
function refuseRequest(
  way: HttpWay,
  response: ServerResponse,
  reason: EgressReason,
  target: Target | undefined,
): void {
  const { host, port } = target ?? { host: "?", port: 0 };
  response.writeHead(403, { "content-type": "text/plain", connection: "close" });
  response.end(`${refusalText(way, { host, port }, reason)}\n`);
}

function refusalText({ gate }: Way, target: Target, reason: EgressReason): string {
  const entry = {
    ...target,
    decision: "deny" as const,
    reason,
    bytesUp: 0,
    bytesDown: 0,
    connections: 0,
    ms: 0,
  };
  return egressNote(entry, gate.hasPerson) ?? "";
}

/** Something to show of a request whose host is odd. */
function oddTarget({ url = "" }: IncomingMessage): Target {
  return { host: JSON.stringify(url.slice(0, 80)).slice(1, -1), port: 0 };
}

const hops =
  /^(connection|proxy-connection|keep-alive|proxy-authorization|proxy-authenticate|te|trailer|upgrade)$/i;

function withoutHops(raw: readonly string[]): string[] {
  const named = new Set(
    pairs(raw)
      .filter(([name]) => /^connection$/i.test(name))
      .flatMap(([, value]) => value.toLowerCase().split(/[\s,]+/)),
  );
  return pairs(raw).flatMap(([name, value]) =>
    hops.test(name) || named.has(name.toLowerCase()) ? [] : [name, value],
  );
}

function pairs(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, index) => (index % 2 === 0 ? [[name, raw[index + 1] ?? ""]] : []));
}

/** The Host header is ours: what the host reads is what was decided about. */
function onwardHeaders(raw: readonly string[], { host, port }: Target): string[] {
  const kept = pairs(withoutHops(raw)).filter(([name]) => !/^host$/i.test(name));
  const shown = host.includes(":") ? `[${host}]` : host;
  return ["Host", port === 80 ? shown : `${shown}:${port}`, ...kept.flat(), "Connection", "close"];
}

async function onConnect(
  way: HttpWay,
  message: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  socket.on("error", () => socket.destroy());
  const source = way.source(socket);
  const target = hostPort(message.url ?? "", 0);
  if (way.meant(socket) || !target || target.port === 0) {
    refuse(way, way.meant(socket) ?? oddTarget(message), source, "malformed");
    return answerEnd(socket, 400, "sandbox: write CONNECT host:port");
  }
  // The question comes before the answer: a client that was told 200 reports a fault of the line.
  const { owner, command, isGone } = source;
  const admission = await way.gate.admit({ ...target, owner, command }, isGone);
  if (!admission.allowed) {
    refuse(way, target, source, admission.reason);
    return answerEnd(socket, 403, refusalText(way, target, admission.reason));
  }
  socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (head.length > 0) socket.unshift(head);
  await tunnel({ ...way, source: () => source }, socket, target);
}

function answerEnd(socket: Socket, status: number, text: string): void {
  const body = `${text}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${status === 403 ? "Forbidden" : "Bad Request"}\r\nContent-Type: text/plain\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

/** Web sockets and the like: the head goes on as it came, then both ends are joined. */
async function onUpgrade(
  way: HttpWay,
  message: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  socket.on("error", () => socket.destroy());
  const source = way.source(socket);
  const target = targetOf(way, message);
  if (typeof target === "string") {
    refuse(way, way.meant(socket) ?? oddTarget(message), source, target);
    return answerEnd(socket, 403, refusalText(way, oddTarget(message), target));
  }
  const passed = await passage(way, target, source);
  if ("refused" in passed) return answerEnd(socket, 403, refusalText(way, target, passed.refused));
  const lines = pairs(message.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`);
  passed.upstream.write(`${message.method} ${target.path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  if (head.length > 0) socket.unshift(head);
  join(socket, passed.upstream);
}
