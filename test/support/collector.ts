/** A collector that decodes what it gets by the generated code of the OpenTelemetry project. */

import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { keptOpen } from "./kept-open.ts";

type Decoder = { decode(bytes: Uint8Array): { toJSON?(): unknown } };
type Type = Decoder & { toObject?(message: unknown, options: object): unknown };
const require = createRequire(import.meta.url);
const { opentelemetry } = require("@opentelemetry/otlp-transformer/build/src/generated/root.js") as {
  opentelemetry: { proto: { collector: Record<"trace" | "metrics", { v1: Record<string, Type> }> } };
};
const { trace, metrics } = opentelemetry.proto.collector;

export type SeenSpan = {
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  kind: number;
  ms: number;
  attributes: Record<string, unknown>;
  events: { name: string; attributes: Record<string, unknown> }[];
  error: string | undefined;
};
export type SeenPoint = { metric: string; attributes: Record<string, unknown>; sum: number; count: number };

export type Collector = {
  url: string;
  spans: SeenSpan[];
  points: SeenPoint[];
  resource: Record<string, unknown>;
  /** Requests by path, with their headers. */
  requests: { path: string; headers: IncomingMessage["headers"] }[];
};

/**
 * `answer`: the status of each request; "never": no answer comes. `afterMs`: milliseconds before it answers. `keeps`: false
 * for one that closes a connection just as its second request comes.
 */
export async function startCollector({
  answer = 200,
  afterMs = 0,
  keeps = true,
}: {
  answer?: number | "never";
  afterMs?: number;
  keeps?: boolean;
} = {}): Promise<Collector> {
  const seen: Collector = { url: "", spans: [], points: [], resource: {}, requests: [] };
  const used = new WeakSet<object>();
  const server = createServer(keptOpen, (request, response) => {
    if (!keeps && used.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    used.add(request.socket);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      seen.requests.push({ path, headers: request.headers });
      if (answer === 200) take(seen, path, request.headers, Buffer.concat(chunks));
      if (answer !== "never") setTimeout(() => response.writeHead(answer).end(), afterMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return seen;
}

/** Whatever JSON or a decoded message holds. */
interface Any {
  [field: string]: Any | undefined;
}

function take(seen: Collector, path: string, headers: IncomingMessage["headers"], body: Buffer): void {
  const bytes = headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
  const type =
    path === "/v1/traces" ? trace.v1.ExportTraceServiceRequest : metrics.v1.ExportMetricsServiceRequest;
  const isJson = headers["content-type"] === "application/json";
  const request = (isJson ? JSON.parse(bytes.toString("utf8")) : type?.decode(bytes)) as Any;
  for (const { resource, scopeSpans } of each(request.resourceSpans)) {
    seen.resource = attributesOf(resource?.attributes);
    for (const { spans } of each(scopeSpans))
      seen.spans.push(...each(spans).map((span) => spanOf(span, isJson)));
  }
  for (const { scopeMetrics } of each(request.resourceMetrics)) {
    // Sums since the start: a later request replaces an earlier one.
    seen.points.length = 0;
    for (const { metrics: all } of each(scopeMetrics))
      for (const metric of each(all)) seen.points.push(...pointsOf(metric));
  }
}

function spanOf(span: Any, isJson: boolean): SeenSpan {
  const id = (value: unknown) =>
    isJson ? (value as string) : Buffer.from(value as Uint8Array).toString("hex");
  const parent = span.parentSpanId as unknown as { length?: number } | undefined;
  return {
    ...{
      traceId: id(span.traceId),
      spanId: id(span.spanId),
      name: String(span.name),
      kind: Number(span.kind),
    },
    parentSpanId: parent?.length ? id(parent) : undefined,
    ms: Number(BigInt(String(span.endTimeUnixNano)) - BigInt(String(span.startTimeUnixNano))) / 1e6,
    attributes: attributesOf(span.attributes),
    events: each(span.events).map((event) => ({
      name: String(event.name),
      attributes: attributesOf(event.attributes),
    })),
    error: Number(span.status?.code ?? 0) === 2 ? String(span.status?.message) : undefined,
  };
}

function pointsOf(metric: Any): SeenPoint[] {
  const points = each(metric.histogram?.dataPoints ?? metric.sum?.dataPoints);
  return points.map((point) => ({
    metric: String(metric.name),
    attributes: attributesOf(point.attributes),
    sum: Number(point.sum ?? point.asDouble),
    count: Number(point.count ?? 0),
  }));
}

function each(list: unknown): Any[] {
  return (list as Any[] | undefined) ?? [];
}

function attributesOf(list: unknown): Record<string, unknown> {
  return Object.fromEntries(each(list).map(({ key, value }) => [String(key), plainValue(value as Any)]));
}

function plainValue(value: Any): unknown {
  if (Object.hasOwn(value, "stringValue")) return value.stringValue;
  if (Object.hasOwn(value, "boolValue")) return value.boolValue;
  if (Object.hasOwn(value, "intValue")) return Number(value.intValue);
  if (Object.hasOwn(value, "doubleValue")) return value.doubleValue;
  return each(value.arrayValue?.values).map(plainValue);
}
