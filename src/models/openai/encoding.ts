/** The body of a chat-completions request, as OpenAI and the servers that speak its language read it. Pure. */

import {
  type ImageBlock,
  isToolUse,
  type Message,
  resultText,
  type ToolUseBlock,
  type UserBlock,
} from "../../core/blocks.ts";
import type { ModelRequest } from "../../core/request.ts";
import { cacheKey } from "./client.ts";
import { callId, type Dialect, dialectFor } from "./dialects.ts";

/** The word that Gemini takes for the signature of a call that it did not make (its guide to thought signatures). */
const unsigned = "skip_thought_signature_validator";
/** The reply that is put before what was said, where a server wants one. */
const bridge = { role: "assistant", content: "I go on." };

/** The exact JSON body. What grows comes last. No marker says what to cache. */
export function encodeOpenai(request: ModelRequest, server: Dialect): string {
  const dialect = dialectFor(request.model, server);
  const { official } = dialect;
  const { system, tools, messages, effort, maxTokens, temperature } = request;
  const encoded = messages.flatMap((message) => encodeMessage(message, request, dialect));
  return JSON.stringify({
    model: request.model.slice(request.model.indexOf("/") + 1),
    // Other servers know the older name; OpenAI's reasoning models refuse it.
    ...(official ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    stream: true,
    ...(dialect.statesUsage ? {} : { stream_options: { include_usage: true } }),
    ...(official ? { prompt_cache_key: cacheKey(system, tools, messages[0]) } : {}),
    ...(official && effort ? { reasoning_effort: effort } : {}),
    // OpenAI's reasoning models refuse it.
    ...(!official && temperature !== undefined ? { temperature } : {}),
    ...(tools.length > 0 ? { tools: tools.map(encodeTool) } : {}),
    ...(official && request.withdrawn ? { tool_choice: allowed(request, request.withdrawn) } : {}),
    messages: [
      ...(system ? [{ role: "system", content: system }] : []),
      ...(dialect.repliesBetween ? bridged(encoded) : encoded),
    ],
  });
}

function encodeTool({ name, description, input_schema }: ModelRequest["tools"][number]): object {
  return { type: "function", function: { name, description, parameters: input_schema } };
}

/** The tools themselves stay as they are, so that their cache entry does. */
function allowed({ tools }: ModelRequest, withdrawn: readonly string[]): object {
  const offered = tools.filter(({ name }) => !withdrawn.includes(name));
  const named = offered.map(({ name }) => ({ type: "function", function: { name } }));
  return { type: "allowed_tools", allowed_tools: { mode: "auto", tools: named } };
}

/** A message as it goes out. */
type Encoded = { role: string; content: unknown };

/** Puts a reply before what was said where there is none. */
function bridged(messages: readonly Encoded[]): Encoded[] {
  return messages.flatMap((message, at) => {
    const before = messages[at - 1]?.role;
    return message.role === "user" && (before === "tool" || before === "user")
      ? [bridge, message]
      : [message];
  });
}

function encodeMessage({ role, content }: Message, request: ModelRequest, dialect: Dialect): Encoded[] {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  if (role === "system") return [{ role, content: text }];
  if (role === "user") return encodeUser(content, dialect);
  const calls = encodeCalls(content.filter(isToolUse), dialect);
  if (!text && calls.length === 0) return [];
  const message = {
    role,
    content: text || null,
    ...thinkingOf(content, calls, request, dialect),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return [message];
}

function encodeCalls(uses: readonly ToolUseBlock[], dialect: Dialect) {
  const foreign = dialect.signedCalls === "call" && !uses.some(({ wire }) => wire?.api === "chat");
  return uses.map(({ id, name, input, wire }, index) => ({
    id: callId(id, dialect),
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
    ...(wire?.api === "chat" ? { extra_content: wire.extra_content } : {}),
    ...(foreign && index === 0 ? { extra_content: { google: { thought_signature: unsigned } } } : {}),
  }));
}

/** The thinking of a reply in each form that the server wants, an empty one too. */
function thinkingOf(
  content: Message["content"],
  calls: readonly { id: string }[],
  { carried, model }: ModelRequest,
  dialect: Dialect,
): object {
  const kept = thoughtOf(content) ?? unsignedDetails(calls, model, dialect);
  const due = carried && (kept !== undefined || calls.length > 0);
  const { thinkingContent } = dialect;
  if (!due || (thinkingContent && !thinkingContent.test(model))) return kept ?? {};
  if (kept && !thinkingContent) return kept;
  const thought = content.find(({ type }) => type === "thinking");
  return { ...kept, reasoning_content: thought?.type === "thinking" ? thought.thinking : "" };
}

/** The thinking of a reply under the name that it came with. */
function thoughtOf(content: Message["content"]): object | undefined {
  const block = content.find((each) => each.type === "thinking" && each.wire);
  if (block?.type !== "thinking" || !block.wire) return undefined;
  const { wire } = block;
  return { [wire.field]: wire.field === "reasoning_details" ? wire.details : block.thinking };
}

/** Stands for the signature of calls that another model made: one detail, at the first call. */
function unsignedDetails(
  calls: readonly { id: string }[],
  model: string,
  { signedCalls }: Dialect,
): object | undefined {
  const [first] = calls;
  if (signedCalls !== "details" || !first || !model.includes("/google/gemini-")) return undefined;
  const detail = {
    type: "reasoning.encrypted",
    data: unsigned,
    id: first.id,
    format: "google-gemini-v1",
    index: 0,
  };
  return { reasoning_details: [detail] };
}

/** Results must follow their calls at once and hold only text: images and words come in a message after them. */
function encodeUser(content: Message["content"], dialect: Dialect): Encoded[] {
  const results = content.filter((block) => block.type === "tool_result");
  const shown = results.flatMap((block) => (typeof block.content === "string" ? [] : block.content));
  const rest: UserBlock[] = [
    ...shown.filter((block) => block.type === "image"),
    ...content.filter((block) => block.type === "text" || block.type === "image"),
  ];
  return [
    ...results.map((block) => ({
      role: "tool",
      tool_call_id: callId(block.tool_use_id, dialect),
      content: resultText(block.content),
    })),
    ...(rest.length > 0 ? [{ role: "user", content: encodeUserBlocks(rest) }] : []),
  ];
}

/** A lone text goes as a string, which every server takes. */
function encodeUserBlocks(blocks: readonly UserBlock[]): string | object[] {
  const [first] = blocks;
  if (blocks.length === 1 && first?.type === "text") return first.text;
  return blocks.map((block) => (block.type === "text" ? { type: "text", text: block.text } : image(block)));
}

function image({ source }: ImageBlock): object {
  return { type: "image_url", image_url: { url: `data:${source.media_type};base64,${source.data}` } };
}
