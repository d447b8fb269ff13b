/** Refuses what the Messages API refuses about the form of a request (provider-facts §1–§3). */

import { checkFields, checkOneOf } from "./mock-fields.ts";
import { offeredTools } from "./mock-gating.ts";
import { checkImages } from "./mock-images.ts";
import { checkContent, checkMarker, checkMessages, checkName } from "./mock-messages.ts";
import { findModel, type MockModel, type ModelChanges } from "./mock-models.ts";
import { checkSearches, checkSearchTool, searchTool } from "./mock-search.ts";
import { RefusedError, type WireBlock, type WireBody } from "./mock-wire.ts";

export const bindingBeta = "thinking-binding-controls-2026-08-01";
const maxBodyBytes = 32 * 1024 * 1024;

const topLevel = {
  model: "string!",
  messages: "array!",
  system: "string|array",
  tools: "array",
  tool_choice: "object",
  thinking: "object",
  output_config: "object",
  temperature: "number",
  top_p: "number",
  top_k: "integer",
  stop_sequences: "array",
  cache_control: "object",
};
const onlyForReplies = {
  max_tokens: "integer!",
  stream: "boolean",
  metadata: "object",
  diagnostics: "object",
  service_tier: "string",
  inference_geo: "string",
  container: "string|object",
  speed: "string",
};
/** Fields that exist only under a beta header. */
const betaFields: Record<string, string> = {
  "compact-2026-09-04": "compaction",
  "context-management-2025-06-27": "context_management",
};

export type Validated = { body: WireBody; model: MockModel };

/** The request, checked but for its thinking, its caching and its length. Throws `RefusedError`. */
export function validate(
  raw: Buffer,
  betas: ReadonlySet<string>,
  changes: ModelChanges,
  purpose: "reply" | "count" = "reply",
): Validated {
  const value = parseBody(raw);
  const extra = Object.entries(betaFields).flatMap(([beta, name]) =>
    betas.has(beta) ? [[name, "object"]] : [],
  );
  const reply = purpose === "reply" ? onlyForReplies : {};
  const fields = checkFields(value, "", { ...topLevel, ...reply, ...Object.fromEntries(extra) });
  const model = findModel(String(fields.model), changes);
  if (!model) throw new RefusedError(`model: ${fields.model}`, 404, "not_found_error");
  if (purpose === "reply") checkMaxTokens(Number(fields.max_tokens), model);
  const body = {
    ...fields,
    stream: fields.stream === true,
    system: fields.system ? checkContent(fields.system, "system", ["text"]) : [],
    tools: checkTools((fields.tools ?? []) as unknown[]),
    messages: checkMessages(fields.messages, model, betas),
  } as unknown as WireBody;
  checkMarker(body, "");
  checkThinkingParameter(body, model, betas);
  checkToolChoice(body, model);
  checkSampling(fields, model);
  if (body.output_config) {
    checkFields(body.output_config, "output_config", {
      effort: "string",
      format: "object",
      task_budget: "object",
    });
    checkOneOf(body.output_config.effort, "output_config.effort", ["low", "medium", "high", "xhigh", "max"]);
  }
  if (body.diagnostics) checkFields(body.diagnostics, "diagnostics", { previous_message_id: "string" });
  checkImages(body.messages);
  checkSearches(body);
  offeredTools(body);
  return { body, model };
}

function parseBody(raw: Buffer): unknown {
  if (raw.length > maxBodyBytes) {
    throw new RefusedError("Request exceeds the maximum size", 413, "request_too_large");
  }
  let text: string;
  let value: unknown;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(raw);
    value = JSON.parse(text);
  } catch (error) {
    throw new RefusedError(`The request body is not valid JSON: ${(error as Error).message}`);
  }
  // Raw surrogates cannot be in UTF-8; those written as \ud83d come to light only in the parsed strings.
  if (/\\u[dD][89a-fA-F]/.test(text)) checkSurrogates(value, "");
  return value;
}

function checkSurrogates(value: unknown, path: string): void {
  if (typeof value === "string" && !value.isWellFormed()) {
    throw new RefusedError(`The request body is not valid JSON: no low surrogate in string: ${path}`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [key, item] of Object.entries(value)) {
    checkSurrogates(key, path);
    checkSurrogates(item, path ? `${path}.${key}` : key);
  }
}

function checkMaxTokens(tokens: number, model: MockModel): void {
  if (tokens < 1) throw new RefusedError("max_tokens: Input should be greater than or equal to 1");
  if (tokens <= model.maxOutput) return;
  throw new RefusedError(
    `max_tokens: ${tokens} > ${model.maxOutput}, which is the maximum allowed number of output tokens for ${model.id}`,
  );
}

function checkTools(tools: unknown[]): WireBody["tools"] {
  const names = new Set<string>();
  if (tools.length > 0 && tools.every((tool) => (tool as { defer_loading?: boolean }).defer_loading))
    throw new RefusedError("tools: At least one tool must have defer_loading=false.");
  return tools.map((value, index) => {
    const path = `tools.${index}`;
    const type = (value as { type?: unknown } | null)?.type;
    if (type === searchTool) return checkSearchTool(value, path, names);
    if (typeof type === "string" && type !== "custom") throw unknownTag(type, path);
    const tool = checkFields(value, path, {
      name: "string!",
      description: "string",
      input_schema: "object!",
      type: "string",
      strict: "boolean",
      defer_loading: "boolean",
      eager_input_streaming: "boolean",
      cache_control: "object",
    }) as WireBlock & { name: string; input_schema: { type?: unknown } };
    checkName(tool.name, `${path}.name`, /^[a-zA-Z0-9_-]{1,64}$/);
    if (names.has(tool.name)) throw new RefusedError("tools: Tool names must be unique.");
    names.add(tool.name);
    if (tool.input_schema.type !== "object") {
      throw new RefusedError(`${path}.input_schema.type: Input should be 'object'`);
    }
    checkMarker(tool, path);
    return tool;
  });
}

function unknownTag(type: string, path: string): RefusedError {
  return new RefusedError(
    `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: 'custom', '${searchTool}'`,
  );
}

function checkThinkingParameter(
  { thinking, max_tokens }: WireBody,
  model: MockModel,
  betas: ReadonlySet<string>,
) {
  if (!thinking) return;
  const fields = { type: "string!", display: "string", budget_tokens: "integer" };
  checkFields(thinking, "thinking", betas.has(bindingBeta) ? { ...fields, block_binding: "object" } : fields);
  checkOneOf(thinking.type, "thinking.type", ["adaptive", "enabled", "disabled"]);
  checkOneOf(thinking.display, "thinking.display", ["summarized", "omitted"]);
  if (thinking.block_binding) {
    const path = "thinking.block_binding";
    checkFields(thinking.block_binding, path, { prefix_mismatch_behavior: "string" });
    const behaviour = thinking.block_binding.prefix_mismatch_behavior;
    checkOneOf(behaviour, `${path}.prefix_mismatch_behavior`, ["error", "drop_block"]);
  }
  const refused =
    (thinking.type === "adaptive" && model.adaptive === "refused") ||
    (thinking.type === "enabled" && !model.budget) ||
    (thinking.type === "disabled" && model.adaptive === "always");
  if (refused) {
    const instead =
      model.adaptive === "refused" ? "" : ' Use "thinking.type.adaptive" and "output_config.effort".';
    throw new RefusedError(`"thinking.type.${thinking.type}" is not supported for this model.${instead}`);
  }
  const budget = thinking.budget_tokens;
  if (thinking.type !== "enabled") {
    if (budget === undefined) return;
    throw new RefusedError(`thinking.${thinking.type}.budget_tokens: Extra inputs are not permitted`);
  }
  if (budget === undefined || budget < 1024 || budget >= max_tokens) {
    throw new RefusedError(
      "thinking.enabled.budget_tokens: must be at least 1024 and less than `max_tokens`",
    );
  }
}

/** Returns true when the model thinks about this request. */
export function thinks({ thinking }: WireBody, model: MockModel): boolean {
  return model.adaptive === "always" || thinking?.type === "adaptive" || thinking?.type === "enabled";
}

function checkToolChoice(body: WireBody, model: MockModel): void {
  const type = body.tool_choice?.type;
  checkOneOf(type, "tool_choice.type", ["auto", "any", "tool", "none"]);
  if ((type === "any" || type === "tool") && thinks(body, model)) {
    throw new RefusedError("Thinking may not be enabled when tool_choice forces tool use.");
  }
}

function checkSampling(fields: Record<string, unknown>, model: MockModel): void {
  // With thinking on, the temperature is not the client's to choose, on any model.
  const thinking = (fields.thinking as { type?: string } | undefined)?.type ?? "disabled";
  const fixed = !model.sampling || thinking !== "disabled";
  if (!fixed) return;
  for (const [name, standard] of [
    ["temperature", 1],
    ["top_p", 1],
    ["top_k", undefined],
  ] as const) {
    const value = fields[name] ?? undefined;
    if (value === undefined || value === standard) continue;
    throw new RefusedError(`\`${name}\` may only be left at its default on this model`);
  }
}
