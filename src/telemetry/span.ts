/** Spans and measurements as plain data, before they are put into a wire format. Pure types. */

export type Value = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, Value>>;

/** Something that happened during a span. `at`: milliseconds since 1970. */
export type SpanEvent = { name: string; at: number; attributes: Attributes };

/** `traceId`, `spanId`, `parentId`: in hexadecimal, 32 and 16 digits. Times in milliseconds since 1970. */
export type Span = {
  traceId: string;
  spanId: string;
  parentId?: string | undefined;
  name: string;
  kind: "internal" | "client";
  start: number;
  end: number;
  attributes: Attributes;
  events: readonly SpanEvent[];
  /** The class of the error that it ended with. */
  error?: string | undefined;
};

/** One value of a metric. */
export type Measurement = { metric: MetricName; value: number; attributes: Attributes };

/** The metrics by name: unit, description, and the bounds of a histogram's buckets; without bounds it is a sum. */
export const metrics = {
  "gen_ai.client.operation.duration": {
    unit: "s",
    about: "Duration of model calls",
    bounds: doubling(0.01, 14),
  },
  "gen_ai.client.token.usage": {
    unit: "{token}",
    about: "Tokens of model calls",
    bounds: [
      1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
    ],
  },
  "gen_ai.execute_tool.duration": { unit: "s", about: "Duration of tool calls", bounds: doubling(0.01, 16) },
  "sawtooth.cost": { unit: "{USD}", about: "Dollars by the model's card", bounds: undefined },
} as const satisfies Record<string, { unit: string; about: string; bounds: readonly number[] | undefined }>;
export type MetricName = keyof typeof metrics;

function doubling(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.round(first * 2 ** index * 100) / 100);
}
