/** JSON Schema of the lines of a batch: those of its tasks, and those of its results. Pure. */

import type { NamedOption } from "../arguments/options.ts";
import { taskKey, taskOptions } from "../arguments/task-options.ts";
import { amount, count, list, object, oneOf, orNull, type Schema, text, texts } from "./parts.ts";

const some: Schema = { anyOf: [text, { type: "array", items: text, minItems: 1 }] };

const fields: Record<string, Schema> = {
  id: { type: "string", pattern: "^[A-Za-z0-9][\\w.-]{0,119}$" },
  prompt: text,
  repo: { type: "string", description: "a folder, counted from that of the file, or a URL of git" },
  ref: { type: "string", description: "a commit, branch or tag of repo" },
  setup: { type: "string", description: "a shell command, run before the agent" },
  ...Object.fromEntries(taskOptions.map((option) => [taskKey(option), schemaOf(option)])),
};

function schemaOf({ kind, choices = [] }: NamedOption): Schema {
  switch (kind) {
    case "flag":
      return { type: "boolean" };
    case "text":
    case "words":
      return text;
    case "texts":
      return some;
    case "number":
      return { type: "integer", minimum: 1 };
    case "amount":
      return { type: "number", exclusiveMinimum: 0 };
    case "duration":
      return { anyOf: [text, { type: "number", exclusiveMinimum: 0, description: "seconds" }] };
    case "choice":
      return oneOf(...choices);
    case "schema":
      return { anyOf: [text, { type: "object" }] };
  }
}

/** Unlike our output, a task has no fields of later versions. */
const task: Schema = {
  type: "object",
  properties: fields,
  required: ["id"],
  anyOf: [{ required: ["prompt"] }, { required: ["check"] }],
  additionalProperties: false,
};

const origin = object({ kind: oneOf("clone", "copy", "empty"), commit: text, files: count, bytes: count }, [
  "commit",
  "files",
  "bytes",
]);
const state = oneOf("done", "failed", "limit", "blocked", "credentials", "model", "error", "interrupted");

export const tasks: Record<string, Schema> = { task };
export const results: Record<string, Schema> = {
  result: object({
    id: text,
    hash: text,
    state,
    exit_code: orNull({ type: "integer" }),
    terminal_reason: orNull(text),
    errors: texts,
    result: text,
    structured_output: {},
    run: text,
    patch: orNull(text),
    changed_files: list(text),
    origin: orNull(origin),
    model: orNull(text),
    session_id: orNull(text),
    num_turns: count,
    total_cost_usd: amount,
    usage: orNull({ type: "object" }),
    started_at: count,
    duration_ms: count,
  }),
};
