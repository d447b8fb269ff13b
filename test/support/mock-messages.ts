/** Checks the messages of a request: blocks, roles, and the pairing of calls and results. */

import { checkFields, checkOneOf, type FieldTypes } from "./mock-fields.ts";
import type { MockModel } from "./mock-models.ts";
import { RefusedError, type WireBlock, type WireMessage } from "./mock-wire.ts";

const marker = { cache_control: "object" };
const blockFields: Record<string, FieldTypes> = {
  text: { type: "string!", text: "string!", citations: "array", ...marker },
  image: { type: "string!", source: "object!", transformations: "object", ...marker },
  thinking: { type: "string!", thinking: "string!", signature: "string!" },
  redacted_thinking: { type: "string!", data: "string!" },
  tool_use: {
    type: "string!",
    id: "string!",
    name: "string!",
    input: "object!",
    caller: "object",
    ...marker,
  },
  tool_result: {
    type: "string!",
    tool_use_id: "string!",
    content: "string|array",
    is_error: "boolean",
    ...marker,
  },
  server_tool_use: {
    ...{ type: "string!", id: "string!", name: "string!", input: "object!", caller: "object" },
    ...marker,
  },
  web_search_tool_result: {
    ...{ type: "string!", tool_use_id: "string!", content: "array|object!", caller: "object" },
    ...marker,
  },
  tool_addition: { type: "string!", tool: "object!", ...marker },
  tool_removal: { type: "string!", tool: "object!", ...marker },
};
const blocksOfRole: Record<string, string[]> = {
  user: ["text", "image", "tool_result"],
  assistant: [
    "text",
    "thinking",
    "redacted_thinking",
    "tool_use",
    "server_tool_use",
    "web_search_tool_result",
  ],
  system: ["text", "tool_addition", "tool_removal"],
};

const clearAtBeta = "mid-conversation-system-clear-at-2026-08-21";
const toolChangesBeta = "mid-conversation-tool-changes-2026-07-01";

/** The messages with text content made into blocks. Throws `RefusedError`. */
export function checkMessages(value: unknown, model: MockModel, betas: ReadonlySet<string>): WireMessage[] {
  if (!Array.isArray(value)) throw new RefusedError("messages: Input should be a valid list");
  if (value.length === 0) throw new RefusedError("messages: at least one message is required");
  const messages = value.map((message, index) => checkMessage(message, `messages.${index}`, betas));
  checkRoles(messages, model);
  checkPairs(messages);
  return messages;
}

function checkMessage(value: unknown, path: string, betas: ReadonlySet<string>): WireMessage {
  const isSystem = (value as { role?: unknown } | null)?.role === "system";
  const own = isSystem ? { clear_at: "string", output_config: "object" } : {};
  const message = checkFields(value, path, { role: "string!", content: "string|array!", ...own });
  const role = message.role as WireMessage["role"];
  checkOneOf(role, `${path}.role`, ["user", "assistant", "system"]);
  const cleared = message.clear_at === "next_user_message";
  checkOneOf(message.clear_at, `${path}.clear_at`, ["next_user_message", "never"]);
  if (cleared && !betas.has(clearAtBeta)) {
    throw new RefusedError(`${path}.clear_at: Extra inputs are not permitted`);
  }
  const content = checkContent(message.content, `${path}.content`, blocksOfRole[role] ?? []);
  if (cleared) checkTurnScoped(content, path);
  if (content.length === 0) throw new RefusedError(`${path}: all messages must have non-empty content`);
  const changes = content.findIndex((block) => /^tool_(addition|removal)$/.test(block.type));
  if (changes >= 0 && !betas.has(toolChangesBeta)) {
    throw new RefusedError(
      `${path}.content.${changes}: tool changes need the beta header ${toolChangesBeta}`,
    );
  }
  return { role, content, ...(cleared ? { clear_at: "next_user_message" as const } : {}) };
}

/** Messages that hold for one turn are never part of a cache key, and cannot change the tools. */
function checkTurnScoped(content: readonly WireBlock[], path: string): void {
  const why = "turn-scoped system message (clear_at: 'next_user_message')";
  if (content.some((block) => block.type !== "text"))
    throw new RefusedError(`${path}: a turn-scoped system message supports text blocks only`);
  const at = content.findIndex((block) => block.cache_control);
  if (at >= 0) throw new RefusedError(`${path}.content.${at}: cache_control is not permitted on a ${why}`);
}

/** The blocks of a content; a string is one text block. Throws `RefusedError`. */
export function checkContent(value: unknown, path: string, allowed: readonly string[]): WireBlock[] {
  const blocks: unknown[] =
    typeof value === "string" ? [{ type: "text", text: value }] : (value as unknown[]);
  return blocks.map((block, index) => checkBlock(block, `${path}.${index}`, allowed));
}

function checkBlock(value: unknown, path: string, allowed: readonly string[]): WireBlock {
  const type = String((value as { type?: unknown } | null)?.type);
  if (!allowed.includes(type)) {
    const list = allowed.map((one) => `'${one}'`).join(", ");
    throw new RefusedError(`${path}: Input tag '${type}' does not match any of the expected tags: ${list}`);
  }
  const block = checkFields(value, path, blockFields[type] ?? {}) as WireBlock;
  checkMarker(block, path);
  switch (type) {
    case "text":
      if (block.text === "") throw new RefusedError(`${path}: text content blocks must be non-empty`);
      if (block.text?.trim() === "") {
        throw new RefusedError(`${path}: text content blocks must contain non-whitespace text`);
      }
      return block;
    case "tool_use":
      checkName(block.name, `${path}.name`, /^[a-zA-Z0-9_-]{1,64}$/);
      checkName(block.id, `${path}.id`, /^[a-zA-Z0-9_-]+$/);
      return block;
    case "tool_result":
      if (Array.isArray(block.content)) checkContent(block.content, `${path}.content`, ["text", "image"]);
      return block;
    default:
      return block;
  }
}

/** Throws `RefusedError` when a cache marker is not of the known kind. */
export function checkMarker(block: { cache_control?: unknown }, path: string): void {
  if (block.cache_control === undefined || block.cache_control === null) return;
  const marker = checkFields(block.cache_control, `${path}.cache_control`, {
    type: "string!",
    ttl: "string",
  });
  checkOneOf(marker.type, `${path}.cache_control.type`, ["ephemeral"]);
  checkOneOf(marker.ttl, `${path}.cache_control.ttl`, ["5m", "1h"]);
}

/** Throws `RefusedError` when the name does not match. */
export function checkName(name: unknown, path: string, pattern: RegExp): void {
  if (pattern.test(String(name))) return;
  throw new RefusedError(`${path}: String should match pattern '${pattern.source}'`);
}

function checkRoles(messages: readonly WireMessage[], model: MockModel): void {
  if (messages[0]?.role !== "user") {
    throw new RefusedError('messages: first message must use the "user" role');
  }
  for (const [index, message] of messages.entries()) {
    if (message.role !== "system") continue;
    if (!model.systemMessages) {
      throw new RefusedError(`messages.${index}: role 'system' is not supported on this model`);
    }
    if (messages[index - 1]?.role === "assistant") {
      throw new RefusedError(`messages.${index}: a 'system' message must follow a 'user' message`);
    }
    if (messages[index + 1]?.role === "user") {
      throw new RefusedError(
        `messages.${index}: a 'system' message must be followed by an 'assistant' message or end the conversation`,
      );
    }
  }
  if (messages.at(-1)?.role === "assistant" && !isPaused(messages.at(-1))) {
    throw new RefusedError(
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
  }
}

/** A reply that was paused in its searches may stand last: it goes on. */
function isPaused(message: WireMessage | undefined): boolean {
  return /^(server_tool_use|web_search_tool_result)$/.test(message?.content.at(-1)?.type ?? "");
}

function checkPairs(messages: readonly WireMessage[]): void {
  const ids = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const calls = callsOf(message);
    for (const id of calls) {
      if (ids.has(id))
        throw new RefusedError(`messages.${index}: \`tool_use\` ids must be unique, found ${id} again`);
      ids.add(id);
    }
    checkResults(message, index, new Set(index > 0 ? callsOf(messages[index - 1]) : []));
    const answered = resultsOf(messages[index + 1]);
    const open = calls.filter((id) => !answered.includes(id));
    if (open.length > 0) {
      throw new RefusedError(
        `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
          `${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
  }
}

function checkResults(message: WireMessage, index: number, asked: ReadonlySet<string>): void {
  const seen = new Set<string>();
  for (const [at, block] of message.content.entries()) {
    if (block.type !== "tool_result") continue;
    const path = `messages.${index}.content.${at}`;
    const id = block.tool_use_id ?? "";
    if (seen.size !== at) {
      throw new RefusedError(`${path}: \`tool_result\` blocks must come first in their message`);
    }
    if (seen.has(id)) {
      throw new RefusedError(
        `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      );
    }
    if (!asked.has(id)) {
      throw new RefusedError(
        `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          "Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
      );
    }
    seen.add(id);
  }
}

function callsOf(message: WireMessage | undefined): string[] {
  return message?.content.flatMap((block) => (block.type === "tool_use" ? [block.id ?? ""] : [])) ?? [];
}

function resultsOf(message: WireMessage | undefined): string[] {
  return (
    message?.content.flatMap((block) => (block.type === "tool_result" ? [block.tool_use_id ?? ""] : [])) ?? []
  );
}
