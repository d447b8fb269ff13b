/** The requests of the OpenTelemetry protocol in Protocol Buffers, from their JSON form. Pure. */

type Json = { [key: string]: unknown };
/** How a field is written: as in the .proto files; an object is a message. `hex`: bytes that JSON has as hexadecimal. */
type Kind =
  | "string"
  | "hex"
  | "bool"
  | "enum"
  | "int64"
  | "fixed64"
  | "double"
  | "packed_fixed64"
  | "packed_double";
type Message = { readonly [field: string]: readonly [number: number, kind: Kind | (() => Message)] };

const value: Message = {
  stringValue: [1, "string"],
  boolValue: [2, "bool"],
  intValue: [3, "int64"],
  doubleValue: [4, "double"],
  arrayValue: [5, () => ({ values: [1, () => value] })],
};
const attribute: Message = { key: [1, "string"], value: [2, () => value] };
const attributes = () => attribute;
const scope: Message = { name: [1, "string"], version: [2, "string"] };
const resource: Message = { attributes: [1, attributes] };
const event: Message = { timeUnixNano: [1, "fixed64"], name: [2, "string"], attributes: [3, attributes] };
const span: Message = {
  traceId: [1, "hex"],
  spanId: [2, "hex"],
  parentSpanId: [4, "hex"],
  name: [5, "string"],
  kind: [6, "enum"],
  startTimeUnixNano: [7, "fixed64"],
  endTimeUnixNano: [8, "fixed64"],
  attributes: [9, attributes],
  events: [11, () => event],
  status: [15, () => ({ message: [2, "string"], code: [3, "enum"] })],
};
const sumPoint: Message = {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  asDouble: [4, "double"],
  attributes: [7, attributes],
};
const histogramPoint: Message = {
  startTimeUnixNano: [2, "fixed64"],
  timeUnixNano: [3, "fixed64"],
  count: [4, "fixed64"],
  sum: [5, "double"],
  bucketCounts: [6, "packed_fixed64"],
  explicitBounds: [7, "packed_double"],
  attributes: [9, attributes],
  min: [11, "double"],
  max: [12, "double"],
};
const metric: Message = {
  name: [1, "string"],
  description: [2, "string"],
  unit: [3, "string"],
  sum: [
    7,
    () => ({
      dataPoints: [1, () => sumPoint],
      aggregationTemporality: [2, "enum"],
      isMonotonic: [3, "bool"],
    }),
  ],
  histogram: [9, () => ({ dataPoints: [1, () => histogramPoint], aggregationTemporality: [2, "enum"] })],
};

/** A request holds resources, which hold scopes, which hold spans or metrics. */
const traces: Message = {
  resourceSpans: [
    1,
    () => ({
      resource: [1, () => resource],
      scopeSpans: [2, () => ({ scope: [1, () => scope], spans: [2, () => span] })],
    }),
  ],
};
const measured: Message = {
  resourceMetrics: [
    1,
    () => ({
      resource: [1, () => resource],
      scopeMetrics: [2, () => ({ scope: [1, () => scope], metrics: [2, () => metric] })],
    }),
  ],
};

/** Returns the bytes of an export request. */
export function protobuf(signal: "traces" | "metrics", request: Json): Buffer {
  return encoded(request, signal === "traces" ? traces : measured);
}

function encoded(json: Json, message: Message): Buffer {
  const parts: Buffer[] = [];
  for (const [name, given] of Object.entries(json)) {
    const [number, kind] = message[name] ?? [];
    if (number === undefined || kind === undefined) throw new Error(`no field ${name} in the protocol`);
    const isPacked = typeof kind === "string" && kind.startsWith("packed");
    for (const one of isPacked || !Array.isArray(given) ? [given] : given)
      parts.push(field(number, kind, one));
  }
  return Buffer.concat(parts);
}

/** Wire types: 0 variable length, 1 eight bytes, 2 length and bytes. */
function field(number: number, kind: Kind | (() => Message), given: unknown): Buffer {
  if (typeof kind === "function") return framed(number, encoded(given as Json, kind()));
  switch (kind) {
    case "string":
      return framed(number, Buffer.from(String(given)));
    case "hex":
      return framed(number, Buffer.from(String(given), "hex"));
    case "bool":
      return Buffer.concat([varint(number * 8), varint(given ? 1 : 0)]);
    case "enum":
    case "int64":
      return Buffer.concat([
        varint(number * 8),
        varint(BigInt.asUintN(64, BigInt(given as string | number))),
      ]);
    case "fixed64":
    case "double":
      return Buffer.concat([varint(number * 8 + 1), eight(kind, given)]);
    case "packed_fixed64":
    case "packed_double": {
      const one = kind === "packed_double" ? "double" : "fixed64";
      return framed(number, Buffer.concat((given as unknown[]).map((item) => eight(one, item))));
    }
  }
}

function framed(number: number, bytes: Buffer): Buffer {
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

function eight(kind: "fixed64" | "double", given: unknown): Buffer {
  const bytes = Buffer.alloc(8);
  if (kind === "double") bytes.writeDoubleLE(Number(given));
  else bytes.writeBigUInt64LE(BigInt(String(given)));
  return bytes;
}

function varint(given: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt(given);
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}
