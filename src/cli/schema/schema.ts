/** `sawtooth schema`: JSON Schema of every line that `stream-json` writes or reads. Pure. */

import { permissionModes } from "../../core/decision.ts";
import { UsageError } from "../../core/errors.ts";
import { results, tasks } from "./batch.ts";
import { amount, count, flag, line, list, object, oneOf, orNull, type Schema, text, texts } from "./parts.ts";

const session = { session_id: text };
const usage = object({
  input_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  output_tokens: count,
});
const tests = orNull(object({ total: count, failed: count, skipped: count }));
const checkRun = {
  command: text,
  passed: flag,
  exit_code: orNull({ type: "integer" }),
  how: text,
  duration_ms: count,
  tests,
};
const violation = object({ rule: text, path: text, message: text }, ["path"]);
const attempt = {
  number: { type: "integer", minimum: 1 },
  passed: flag,
  changed: texts,
  refused: list(violation),
  failing: texts,
  summary: text,
};
const fix = object({
  state: oneOf("green", "repaired", "failed", "stopped"),
  checks: list(
    object({ command: text, flaky: flag, before: list(object(checkRun)), after: list(object(checkRun)) }),
  ),
  attempts: list(object(attempt)),
  changed: texts,
  patch: orNull(text),
  commit: orNull(text),
  branch: orNull(text),
  best_attempt: orNull(object({ file: text, attempt: orNull(count) })),
});

const egress = {
  host: text,
  port: count,
  decision: oneOf("allow", "deny", "cut"),
  reason: text,
  rule: text,
  command: text,
  process: text,
  bytes_up: count,
  bytes_down: count,
  connections: count,
  duration_ms: count,
};
const egressOptional = ["reason", "rule", "command", "process"];

const result = line(
  "result",
  {
    subtype: oneOf(
      "success",
      "error_max_turns",
      "error_max_budget",
      "error_max_time",
      "error_permission",
      "error_model",
      "error_interrupted",
      "error_during_execution",
    ),
    is_error: flag,
    result: text,
    session_id: orNull(text),
    num_turns: count,
    duration_ms: count,
    duration_api_ms: count,
    total_cost_usd: amount,
    usage,
    modelUsage: { type: "object", additionalProperties: usage },
    permission_denials: list(
      object({ tool_name: text, tool_use_id: text, tool_input: {}, rule: text }, ["tool_input"]),
    ),
    egress: list(object(egress, egressOptional)),
    runs_elsewhere: texts,
    quarantined: list(object({ path: text, kept: text })),
    structured_output: {},
    errors: texts,
    terminal_reason: text,
    limit: oneOf("max_turns", "max_budget", "max_time"),
    changed_files: texts,
    resume: orNull(text),
    context: orNull({ type: "object" }),
    fix,
  },
  ["limit", "fix"],
);

const outgoing: Record<string, Schema> = {
  init: line("system", {
    subtype: { const: "init" },
    ...session,
    cwd: text,
    model: text,
    tools: texts,
    permission_mode: oneOf(...permissionModes),
  }),
  assistant: line("assistant", {
    message: object(
      {
        id: text,
        role: { const: "assistant" },
        model: text,
        content: list(
          object({
            type: oneOf(
              ...["text", "thinking", "redacted_thinking", "tool_use"],
              ...["server_tool_use", "web_search_tool_result"],
            ),
          }),
        ),
        stop_reason: text,
        usage,
      },
      ["id"],
    ),
    ...session,
  }),
  user: line("user", {
    message: object({
      role: { const: "user" },
      content: list(
        object({
          type: { const: "tool_result" },
          tool_use_id: text,
          content: { anyOf: [text, { type: "array" }] },
          is_error: flag,
        }),
      ),
    }),
    ...session,
  }),
  context: line("context", {
    policy: text,
    reason: text,
    text,
    edits: list(object({ type: oneOf("replace", "collapse", "drop_thinking") })),
    economics: { type: "object" },
    ...session,
  }),
  permission: line(
    "permission",
    {
      tool_use_id: text,
      decision: oneOf("allow", "deny"),
      rule: text,
      by: oneOf("mode", "rule", "always", "user", "driver", "headless", "fix", "changed", "hook", "delegate"),
      mode: oneOf(...permissionModes),
      scope: oneOf("session", "project", "user", "flags"),
      asked: object(
        {
          reason: text,
          waited_ms: amount,
          remembered: object({ rule: text, scope: oneOf("session", "project", "user") }),
          say: text,
        },
        ["remembered", "say"],
      ),
      ...session,
    },
    ["mode", "scope", "asked"],
  ),
  retry: line("retry", { kind: text, message: text, attempt: count, wait_ms: amount, ...session }),
  quarantined: line("quarantined", { path: text, kept: text, accepted: flag, ...session }),
  egress: line("egress", { ...egress, ...session }, egressOptional),
  delegate_started: line(
    "delegate",
    {
      ...{ subtype: { const: "started" }, delegate: text, tool_use_id: text, folder: text, writes: flag },
      ...{ role: text, ...session },
    },
    ["role"],
  ),
  delegate_called: line("delegate", {
    ...{ subtype: { const: "called" }, delegate: text, model: text, usage, duration_ms: count, ...session },
  }),
  delegate_ended: line("delegate", {
    ...{ subtype: { const: "ended" }, delegate: text, reason: text, calls: count },
    ...{ cost_usd: amount, in_place_usd: amount, ...session },
  }),
  warning: line("warning", { message: text, ...session }, ["session_id"]),
  heartbeat: line("heartbeat", session),
  turn: line("turn", { reason: text, result: text, structured_output: {}, num_turns: count, ...session }, [
    "structured_output",
  ]),
  permission_question: line("control_request", {
    request_id: text,
    request: object({
      subtype: { const: "can_use_tool" },
      tool_name: text,
      input: { type: "object" },
      suggested_rule: text,
    }),
  }),
  receipt: line("control_response", {
    response: object({ subtype: oneOf("success", "error"), request_id: {}, error: text }, [
      "error",
      "request_id",
    ]),
  }),
  check: line("check", { attempt: count, ...checkRun, ...session }, ["session_id"]),
  attempt: line("attempt", { ...attempt, ...session }),
  result,
};

const incoming: Record<string, Schema> = {
  user: line(
    "user",
    {
      message: object({
        role: { const: "user" },
        content: { anyOf: [text, list(line("text", { text }))] },
      }),
      priority: { const: "now", description: "steering: it reaches the model at its next step" },
    },
    ["priority"],
  ),
  interrupt: line("control_request", {
    request_id: text,
    request: object({ subtype: { const: "interrupt" } }),
  }),
  permission_answer: line("control_response", {
    response: object(
      {
        subtype: oneOf("success", "error"),
        request_id: text,
        response: object({ behavior: oneOf("allow", "deny"), message: text }, ["message"]),
      },
      ["response"],
    ),
  }),
};

const known: Record<string, { title: string; lines: Record<string, Schema> }> = {
  events: { title: "A line that --output-format stream-json writes", lines: outgoing },
  input: { title: "A line that --input-format stream-json reads", lines: incoming },
  tasks: { title: "A line of the file that sawtooth batch reads", lines: tasks },
  results: { title: "A line of results.jsonl that sawtooth batch writes", lines: results },
};

/** Returns the schema named on the command line, as text. Throws `UsageError`. */
export function schemaText([name = "events", ...more]: readonly string[]): string {
  const found = known[name];
  if (!found || more.length > 0) {
    const names = Object.keys(known).map((one) => `schema ${one}`);
    throw new UsageError(`unknown: schema ${[name, ...more].join(" ")} (there is: ${names.join(", ")})`);
  }
  const { title, lines } = found;
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title,
    anyOf: Object.keys(lines).map((key) => ({ $ref: `#/$defs/${key}` })),
    $defs: lines,
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}
