/** Sends spans and metrics to a collector. Never waits for it, but for a moment at the end, and never fails a session. */

import { gzipSync } from "node:zlib";
import { meter } from "./metrics.ts";
import { metricsRequest, type Resource, traceRequest } from "./otlp.ts";
import { protobuf } from "./protobuf.ts";
import type { Signal, TelemetrySettings } from "./settings.ts";
import type { Span } from "./span.ts";
import type { Observed } from "./spans.ts";

/** Spans that wait at most; more are dropped and counted. */
const mostWaiting = 2048;
/** Spans of one request. */
const mostSent = 512;
/** Milliseconds after which spans are sent. */
const sendAfterMs = 5000;

export type Exporter = {
  add(observed: Observed): void;
  /** Sends what waits, for as long as the settings say. */
  close(): Promise<void>;
};

type Context = { settings: TelemetrySettings; resource: Resource; now(): number; warn(text: string): void };

/** Creates an exporter. `warn`: called once, when the collector takes nothing. */
export function createExporter({ settings, resource, now, warn }: Context): Exporter {
  const { targets, parent, closeMs } = settings;
  const start = now();
  const sums = meter();
  const waiting: Span[] = [];
  const ending = new AbortController();
  let [warned, dropped, sending] = [false, 0, Promise.resolve()];
  const complain = (signal: Signal, why: string): void => {
    if (warned) return;
    warned = true;
    warn(
      `telemetry: the collector of OTEL_EXPORTER_OTLP_ENDPOINT takes no ${signal} (${why}); the session goes on`,
    );
  };
  const send = async (signal: Signal, body: object): Promise<boolean> => {
    const refusal = await post(signal, body, settings, ending.signal);
    if (refusal) complain(signal, refusal.why);
    return !refusal?.mayRetry;
  };
  const sendSpans = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, mostSent);
      const isOver = await send("traces", traceRequest(batch, resource));
      if (!isOver) return;
      waiting.splice(0, batch.length);
    }
  };
  const sendMetrics = async (): Promise<void> => {
    const points = sums.points();
    if (targets.metrics && points.size > 0)
      await send("metrics", metricsRequest(points, { resource, start, now: now() }));
  };
  // One after the other: a slow collector gets no pile of requests.
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    sending = sending.then(work);
    return sending;
  };
  const spansTimer = setInterval(() => waiting.length > 0 && void inTurn(sendSpans), sendAfterMs).unref();
  const metricsTimer = setInterval(() => void inTurn(sendMetrics), settings.metricsEveryMs).unref();
  return {
    add({ spans, measurements }) {
      for (const measurement of measurements) sums.add(measurement);
      if (!targets.traces || parent?.sampled === false) return;
      const room = mostWaiting - waiting.length;
      waiting.push(...spans.slice(0, Math.max(0, room)));
      dropped += Math.max(0, spans.length - room);
    },
    async close() {
      clearInterval(spansTimer);
      clearInterval(metricsTimer);
      if (dropped > 0) complain("traces", `${dropped} spans were dropped`);
      const timer = setTimeout(() => ending.abort(), closeMs);
      await inTurn(async () => void (await Promise.all([sendSpans(), sendMetrics()])));
      clearTimeout(timer);
    },
  };
}

/** Codes of a connection that was kept and that the collector closed, as it does with idle ones. */
const closedCodes = ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"];
/** Connections that may be kept: one for each signal, and one more. */
const mostKept = 3;

/** Does what `fetch` does; a request whose connection was closed before the answer is sent again, over another one. */
async function fetchAgain(url: string, request: RequestInit): Promise<Response> {
  for (let left = mostKept; ; left--) {
    try {
      return await fetch(url, request);
    } catch (error) {
      const { cause } = error as Error & { cause?: { code?: string } };
      if (left === 0 || !closedCodes.includes(cause?.code ?? "")) throw error;
    }
  }
}

type Refusal = { why: string; mayRetry: boolean };

/** Posts a request. Returns why it was not taken; undefined when it was. Never throws. */
async function post(
  signal: Signal,
  request: object,
  { targets, format, compress }: TelemetrySettings,
  ending: AbortSignal,
): Promise<Refusal | undefined> {
  const target = targets[signal];
  if (!target) return undefined;
  try {
    const plain = format === "json" ? Buffer.from(JSON.stringify(request)) : protobuf(signal, { ...request });
    const response = await fetchAgain(target.url, {
      method: "POST",
      headers: {
        ...target.headers,
        "content-type": format === "json" ? "application/json" : "application/x-protobuf",
        ...(compress ? { "content-encoding": "gzip" } : {}),
      },
      body: compress ? gzipSync(plain) : plain,
      // Headers with keys go to the address that the person named, and to no other.
      redirect: "error",
      signal: AbortSignal.any([ending, AbortSignal.timeout(target.timeoutMs)]),
    });
    await response.body?.cancel();
    if (response.ok) return undefined;
    return { why: `status ${response.status}`, mayRetry: [429, 502, 503, 504].includes(response.status) };
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string; message?: string } };
    return { why: cause?.code ?? cause?.message ?? name, mayRetry: true };
  }
}
