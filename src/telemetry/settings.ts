/** Settings of OpenTelemetry from the variables that its specification names. Pure. */

import type { Attributes } from "./span.ts";

type Environment = Readonly<Record<string, string | undefined>>;
export type Signal = "traces" | "metrics";

/** Where one signal goes. `headers` hold secrets. */
export type Target = { url: string; headers: Readonly<Record<string, string>>; timeoutMs: number };

export type TelemetrySettings = {
  format: "protobuf" | "json";
  compress: boolean;
  /** Absent where its exporter is `none`. */
  targets: Partial<Record<Signal, Target>>;
  resource: Attributes;
  /** Milliseconds between two exports of metrics. */
  metricsEveryMs: number;
  /** Milliseconds that the end of a session waits for the collector at most. */
  closeMs: number;
  /** True when prompts, answers and results may go out. */
  contents: boolean;
  /** The span that the session belongs to; `sampled`: whether its trace is recorded. */
  parent?: { traceId: string; spanId: string; sampled: boolean } | undefined;
};

/** Returns the settings; undefined where telemetry is off; a sentence where they cannot be followed. */
export function telemetrySettings(env: Environment, version: string): TelemetrySettings | undefined | string {
  if (!isTelemetryOn(env)) return undefined;
  const protocol = env.OTEL_EXPORTER_OTLP_PROTOCOL?.trim() || "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json")
    return `OTEL_EXPORTER_OTLP_PROTOCOL is ${protocol}, and only http/protobuf and http/json are spoken: set one of them, and the port for HTTP, which is usually 4318`;
  const targets: TelemetrySettings["targets"] = {};
  for (const signal of ["traces", "metrics"] as const) {
    const target = targetOf(signal, env);
    if (typeof target === "string") return target;
    if (target) targets[signal] = target;
  }
  return {
    format: protocol === "http/json" ? "json" : "protobuf",
    compress: env.OTEL_EXPORTER_OTLP_COMPRESSION?.trim() === "gzip",
    ...{ targets, resource: resourceOf(env, version), parent: parentOf(env.TRACEPARENT) },
    metricsEveryMs: milliseconds(env.OTEL_METRIC_EXPORT_INTERVAL, 60_000),
    closeMs: milliseconds(env.OTEL_EXPORTER_OTLP_TIMEOUT, 2000),
    contents: /^(true|span_only|span_and_event)$/i.test(
      env.OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT?.trim() ?? "",
    ),
  };
}

/** Returns true when the variables name a collector and do not switch telemetry off. */
function isTelemetryOn(env: Environment): boolean {
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true") return false;
  return Boolean(env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim());
}

function targetOf(signal: Signal, env: Environment): Target | undefined | string {
  const upper = signal.toUpperCase();
  if (env[`OTEL_${upper}_EXPORTER`]?.trim() === "none") return undefined;
  const own = env[`OTEL_EXPORTER_OTLP_${upper}_ENDPOINT`]?.trim();
  const base = env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim() ?? "";
  const url = own || `${base.replace(/\/+$/, "")}/v1/${signal}`;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    return "OTEL_EXPORTER_OTLP_ENDPOINT is no address of HTTP, such as http://localhost:4318";
  const headers = {
    ...pairs(env.OTEL_EXPORTER_OTLP_HEADERS),
    ...pairs(env[`OTEL_EXPORTER_OTLP_${upper}_HEADERS`]),
  };
  const timeout = env[`OTEL_EXPORTER_OTLP_${upper}_TIMEOUT`] ?? env.OTEL_EXPORTER_OTLP_TIMEOUT;
  return { url, headers, timeoutMs: milliseconds(timeout, 10_000) };
}

function milliseconds(text: string | undefined, otherwise: number): number {
  const number = Number(text?.trim() || Number.NaN);
  return Number.isFinite(number) && number > 0 ? number : otherwise;
}

/** Reads `a=b,c=d`, with percent signs for what would not fit. */
function pairs(text = ""): Record<string, string> {
  const found = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    const name = pair.slice(0, Math.max(0, at)).trim();
    return name === "" ? [] : [[name, decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(found);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function resourceOf(env: Environment, version: string): Attributes {
  const given = pairs(env.OTEL_RESOURCE_ATTRIBUTES);
  return {
    "service.version": version,
    "telemetry.sdk.language": "nodejs",
    "telemetry.sdk.name": "sawtooth",
    "telemetry.sdk.version": version,
    ...given,
    "service.name": env.OTEL_SERVICE_NAME?.trim() || given["service.name"] || "sawtooth",
  };
}

/** Reads a W3C trace context: version, trace, span, flags. */
function parentOf(text = ""): TelemetrySettings["parent"] {
  const [, traceId, spanId, flags] =
    /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-|$)/.exec(text.trim()) ??
    [];
  if (!traceId || !spanId || !flags) return undefined;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
