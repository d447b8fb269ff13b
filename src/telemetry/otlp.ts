/** Requests of the OpenTelemetry protocol (OTLP 1.x) in its JSON form. Pure. */

import type { Point } from "./metrics.ts";
import { type Attributes, type MetricName, metrics, type Span, type Value } from "./span.ts";

/** Attributes of the program itself, and its version. */
export type Resource = { attributes: Attributes; version: string };

type Json = { [key: string]: unknown };

/** Codes of the protocol. */
const kinds = { internal: 1, client: 3 };
const statusError = 2;
const cumulative = 2;

/** Returns an `ExportTraceServiceRequest`. */
export function traceRequest(spans: readonly Span[], resource: Resource): Json {
  const scopeSpans = [{ scope: scopeOf(resource), spans: spans.map(spanJson) }];
  return { resourceSpans: [{ resource: { attributes: list(resource.attributes) }, scopeSpans }] };
}

/** Returns an `ExportMetricsServiceRequest`. `start`, `now`: milliseconds since 1970. */
export function metricsRequest(
  points: ReadonlyMap<MetricName, readonly Point[]>,
  { resource, start, now }: { resource: Resource; start: number; now: number },
): Json {
  const times = { startTimeUnixNano: nano(start), timeUnixNano: nano(now) };
  const all = [...points].map(([name, ofMetric]) => metricJson(name, ofMetric, times));
  const scopeMetrics = [{ scope: scopeOf(resource), metrics: all }];
  return { resourceMetrics: [{ resource: { attributes: list(resource.attributes) }, scopeMetrics }] };
}

function scopeOf({ version }: Resource): Json {
  return { name: "sawtooth", version };
}

function spanJson({
  traceId,
  spanId,
  parentId,
  name,
  kind,
  start,
  end,
  attributes,
  events,
  error,
}: Span): Json {
  return {
    ...{ traceId, spanId, ...(parentId === undefined ? {} : { parentSpanId: parentId }) },
    ...{
      name,
      kind: kinds[kind],
      startTimeUnixNano: nano(start),
      endTimeUnixNano: nano(Math.max(start, end)),
    },
    attributes: list(error === undefined ? attributes : { ...attributes, "error.type": error }),
    events: events.map((event) => ({
      ...{ timeUnixNano: nano(event.at), name: event.name, attributes: list(event.attributes) },
    })),
    ...(error === undefined ? {} : { status: { code: statusError, message: error } }),
  };
}

function metricJson(name: MetricName, points: readonly Point[], times: Json): Json {
  const { unit, about, bounds } = metrics[name];
  const described = { name, unit, description: about };
  if (!bounds) {
    const dataPoints = points.map((point) => ({
      ...times,
      attributes: list(point.attributes),
      asDouble: point.sum,
    }));
    return { ...described, sum: { dataPoints, aggregationTemporality: cumulative, isMonotonic: true } };
  }
  const dataPoints = points.map(({ attributes, sum, count, min, max, buckets = [] }) => ({
    ...{ ...times, attributes: list(attributes), count: String(count), sum, min, max },
    ...{ bucketCounts: buckets.map(String), explicitBounds: [...bounds] },
  }));
  return { ...described, histogram: { dataPoints, aggregationTemporality: cumulative } };
}

function list(attributes: Attributes): Json[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: Value): Json {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number")
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((one) => ({ stringValue: one })) } };
}

/** Milliseconds as nanoseconds, in text: they are beyond what a number holds exactly. */
function nano(ms: number): string {
  return String(BigInt(Math.round(ms * 1000)) * 1000n);
}
