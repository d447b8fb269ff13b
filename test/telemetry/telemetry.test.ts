/** OpenTelemetry of real sessions, sent to a collector that decodes the protocol. */

import { createHash } from "node:crypto";
import { globSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { observer } from "../../src/telemetry/spans.ts";
import { type Collector, startCollector } from "../support/collector.ts";
import { sessionLog } from "../support/report-log.ts";
import { sawtooth, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { held, letGo } from "../support/terminal-fixture.ts";
import { patienceMs, until } from "../support/until.ts";

const words = ["-p", "--permission-mode", "auto", "do the secret task"];
const turns = [{ calls: [bash("echo private-output; exit 3")] }, { text: "private-answer" }];
/** The end of a session waits for this collector, however busy the machine. */
const to = ({ url }: Collector, more: Record<string, string> = {}) => ({
  ...{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_EXPORTER_OTLP_TIMEOUT: String(patienceMs) },
  ...more,
});

/** An address where nobody listens. */
async function closedPort(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

/** The text of the stored logs. */
function storedLog({ env }: Workspace): string {
  const files = globSync("**/events.jsonl", { cwd: env.SAWTOOTH_HOME ?? "" });
  expect(files.length).toBeGreaterThan(0);
  return files.map((file) => readFileSync(join(env.SAWTOOTH_HOME ?? "", file), "utf8")).join("");
}

describe.each(["http/protobuf", "http/json"])("over %s", (protocol) => {
  test("a turn is a span with its model calls and tool calls below it, with tokens, cost and no contents", async () => {
    const collector = await startCollector();
    const { workspace } = await serve(turns);
    const env = to(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
    const ended = await sawtooth(workspace, [...words, "--output-format", "json"], { env });
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    const result = JSON.parse(ended.stdout) as { session_id: string; total_cost_usd: number };
    const [turn] = collector.spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    expect(collector.spans.map(({ name, kind, error }) => ({ name, kind, error }))).toEqual([
      { name: "chat claude-sonnet-5-5", kind: 3, error: undefined },
      { name: "execute_tool bash", kind: 1, error: "tool_error" },
      { name: "chat claude-sonnet-5-5", kind: 3, error: undefined },
      { name: "invoke_agent sawtooth", kind: 1, error: undefined },
    ]);
    for (const span of collector.spans) {
      expect(span.traceId).toBe(turn?.traceId);
      expect(span.traceId).toMatch(/^[\da-f]{32}$/);
      expect(span.spanId).toMatch(/^[\da-f]{16}$/);
      expect(span.attributes["gen_ai.conversation.id"]).toBe(result.session_id);
      if (span !== turn) expect(span.parentSpanId).toBe(turn?.spanId);
    }
    const [chat, tool] = collector.spans;
    expect(chat?.attributes).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "anthropic",
      "gen_ai.request.model": "claude-sonnet-5-5",
      "gen_ai.response.finish_reasons": ["tool_use"],
      "gen_ai.usage.output_tokens": expect.any(Number),
      "gen_ai.usage.cache_write.input_tokens": expect.any(Number),
    });
    expect(tool?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "bash",
      "process.exit.code": 3,
    });
    expect(turn?.attributes["gen_ai.operation.name"]).toBe("invoke_agent");
    expect(turn?.attributes["sawtooth.cost.usd"]).toBeCloseTo(result.total_cost_usd, 8);
    expect(JSON.stringify(collector)).not.toMatch(/private-|secret task/);
    expect(collector.resource).toMatchObject({
      "service.name": "sawtooth",
      "telemetry.sdk.language": "nodejs",
    });
    const sum = (metric: string, type?: string) =>
      collector.points
        .filter(
          (point) => point.metric === metric && (!type || point.attributes["gen_ai.token.type"] === type),
        )
        .reduce((total, point) => total + point.sum, 0);
    expect(sum("gen_ai.client.token.usage", "input")).toBe(turn?.attributes["gen_ai.usage.input_tokens"]);
    expect(sum("gen_ai.client.token.usage", "output")).toBe(turn?.attributes["gen_ai.usage.output_tokens"]);
    expect(sum("sawtooth.cost")).toBeCloseTo(result.total_cost_usd, 8);
    expect(collector.points.find(({ metric }) => metric === "gen_ai.client.operation.duration")?.count).toBe(
      2,
    );
  });
});

test("contents go out only when asked for, and secrets in them never", async () => {
  const collector = await startCollector();
  const { workspace } = await serve([
    { calls: [bash("echo value-of-$MY_NAME")] },
    { text: "private-answer" },
  ]);
  const env = to(collector, {
    ...{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true", DEPLOY_TOKEN: "tok-canary-0123456789" },
    OTEL_EXPORTER_OTLP_COMPRESSION: "gzip",
  });
  await sawtooth(workspace, ["-p", "--permission-mode", "auto", "say tok-canary-0123456789 please"], { env });
  const text = JSON.stringify(collector.spans);
  expect(text).toContain("private-answer");
  expect(text).toContain("echo value-of-");
  expect(text).toMatch(/say .* please/);
  expect(text).not.toContain("tok-canary");
});

test("an outer trace, names and headers come from the environment, and no child sees the headers", async () => {
  const collector = await startCollector();
  const { workspace } = await serve([{ calls: [bash("env | grep -c OTLP_HEADERS; env")] }, { text: "ok" }]);
  const [traceId, parent] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const env = to(collector, {
    TRACEPARENT: `00-${traceId}-${parent}-01`,
    OTEL_SERVICE_NAME: "nightly",
    OTEL_RESOURCE_ATTRIBUTES: "team=core,place=a%20b",
    OTEL_EXPORTER_OTLP_HEADERS: "x-team=collector-canary-77,authorization=Basic%20Y2FuYXJ5LWtleQ",
  });
  await sawtooth(workspace, ["-p", "--permission-mode", "auto", "go"], { env });
  expect(new Set(collector.spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  expect(collector.spans.at(-1)?.parentSpanId).toBe(parent);
  expect(collector.resource).toMatchObject({ "service.name": "nightly", team: "core", place: "a b" });
  expect(collector.requests[0]?.headers).toMatchObject({
    "x-team": "collector-canary-77",
    authorization: "Basic Y2FuYXJ5LWtleQ",
  });
  const log = storedLog(workspace);
  expect(log).toContain("OTEL_SERVICE_NAME");
  expect(log).not.toMatch(/OTLP_HEADERS=|collector-canary|Y2FuYXJ5/);
});

test("a trace that is not recorded, and a switch, keep spans back", async () => {
  const collector = await startCollector();
  const { workspace } = await serve([{ text: "ok" }, { text: "ok" }, { text: "ok" }]);
  const run = (more: Record<string, string>) =>
    sawtooth(workspace, ["-p", "go"], { env: to(collector, more) });
  await run({ TRACEPARENT: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00" });
  expect([collector.spans.length, collector.points.length > 0]).toEqual([0, true]);
  await run({ OTEL_METRICS_EXPORTER: "none" });
  expect(collector.spans.length).toBe(2);
  const before = collector.requests.length;
  await run({ OTEL_SDK_DISABLED: "true" });
  expect(collector.requests.length).toBe(before);
});

test("grpc is refused in one line, and the session goes on", async () => {
  const collector = await startCollector();
  const { workspace } = await serve([{ text: "Done." }]);
  const env = to(collector, { OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "go"], { env });
  expect([code, stdout]).toEqual([0, "Done.\n"]);
  expect(stderr).toMatch(/^sawtooth: telemetry is off: OTEL_EXPORTER_OTLP_PROTOCOL is grpc, and only .+\n$/);
  expect(collector.requests).toEqual([]);
});

test.each([
  ["refuses", async () => (await startCollector({ answer: 401 })).url, "status 401"],
  ["is overloaded", async () => (await startCollector({ answer: 503 })).url, "status 503"],
  ["never answers", async () => (await startCollector({ answer: "never" })).url, "AbortError"],
  ["is not there", closedPort, "ECONNREFUSED"],
])("a collector that %s neither fails nor holds the session", async (_what, address, why) => {
  const { workspace } = await serve(turns);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: await address() };
  const { code, stdout } = await sawtooth(workspace, words, { env });
  expect([code, stdout]).toEqual([0, "private-answer\n"]);
  expect(storedLog(workspace)).toContain(why);
});

test("the end of a session waits for a slow collector as long as OTEL_EXPORTER_OTLP_TIMEOUT says", async () => {
  const collector = await startCollector({ afterMs: 2500 });
  const { workspace } = await serve([{ text: "Done." }]);
  const { code, stderr } = await sawtooth(workspace, ["-p", "go"], { env: to(collector) });
  expect([code, stderr]).toEqual([0, ""]);
  expect(storedLog(workspace)).not.toContain("takes no");
  expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(["/v1/traces", "/v1/metrics"]));
});

test("a collector that closes kept connections gets all", async () => {
  const collector = await startCollector({ keeps: false });
  const { workspace } = await serve([{ calls: [bash(held)] }, { text: "Done." }]);
  const env = to(collector, { OTEL_METRIC_EXPORT_INTERVAL: "20" });
  const running = sawtooth(workspace, ["-p", "--permission-mode", "auto", "go"], { env });
  await until(() => collector.requests.length > 3, "requests over connections that were used before");
  letGo(workspace);
  expect((await running).code).toBe(0);
  expect(storedLog(workspace)).not.toContain("takes no");
  expect(collector.spans.map(({ name }) => name.split(" ")[0])).toEqual([
    ...["chat", "execute_tool", "chat", "invoke_agent"],
  ]);
});

test("a model call that fails is a span with the kind of its error, and its tries are events", async () => {
  const collector = await startCollector();
  const { workspace } = await serve([{ fault: { status: 400, message: "no" } }] as never);
  const { code } = await sawtooth(workspace, ["-p", "go"], { env: to(collector) });
  expect(code).toBe(6);
  const chat = collector.spans.find(({ name }) => name.startsWith("chat"));
  expect([chat?.error, chat?.attributes["error.type"]]).toEqual(["bad_request", "bad_request"]);
  expect(collector.spans.at(-1)).toMatchObject({ name: "invoke_agent sawtooth", error: "model_error" });
});

test("spans are the same for the same log, each id once, and time is never negative", async () => {
  const log: LogEvent[] = JSON.parse(JSON.stringify((await sessionLog()).map((event) => event)));
  const run = () => {
    const { next } = observer({
      id: (key, digits) => createHash("sha256").update(key).digest("hex").slice(0, digits),
    });
    return log.flatMap((event) => next(event).spans);
  };
  const spans = run();
  expect(run()).toEqual(spans);
  expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
  expect(spans.length).toBeGreaterThan(3);
  for (const { start, end } of spans) expect(end).toBeGreaterThanOrEqual(start);
  const names = spans.flatMap(({ events }) => events.map(({ name }) => name));
  expect(names).toContain("sawtooth.context_edited");
});
