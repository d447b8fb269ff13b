/** The body of a chat-completions request, as OpenAI and the servers that speak its language read it. Pure. */

import { createHash } from "node:crypto";
import { type ImageBlock, isToolUse, type Message, resultText, type UserBlock } from "../../core/blocks.ts";
import type { ModelRequest } from "../../core/request.ts";

/** True when fields may be sent that only OpenAI's own host understands. */
export type Dialect = { official: boolean };

/** The exact JSON body. What grows comes last. Thinking has no place here, and no marker says what to cache. */
export function encodeOpenai(request: ModelRequest, { official }: Dialect): string {
  const { system, tools, messages, effort, maxTokens, temperature } = request;
  return JSON.stringify({
    model: request.model.slice(request.model.indexOf("/") + 1),
    // Other servers know the older name; OpenAI's reasoning models refuse it.
    ...(official ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    stream: true,
    stream_options: { include_usage: true },
    ...(official ? { prompt_cache_key: cacheKey(request) } : {}),
    ...(official && effort ? { reasoning_effort: effort } : {}),
    // OpenAI's reasoning models refuse it.
    ...(!official && temperature !== undefined ? { temperature } : {}),
    ...(tools.length > 0 ? { tools: tools.map(encodeTool) } : {}),
    ...(official && request.withdrawn ? { tool_choice: allowed(request, request.withdrawn) } : {}),
    messages: [...(system ? [{ role: "system", content: system }] : []), ...messages.flatMap(encodeMessage)],
  });
}

/** Sends requests with the same beginning to the same machine: without that beginning there is nothing to hit. */
function cacheKey({ system, tools, messages }: ModelRequest): string {
  const beginning = JSON.stringify([system, tools, messages[0]]);
  return createHash("sha256").update(beginning).digest("base64url").slice(0, 24);
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

function encodeMessage({ role, content }: Message): object[] {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  if (role === "system") return [{ role, content: text }];
  if (role === "user") return encodeUser(content);
  const calls = content.filter(isToolUse).map(({ id, name, input }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  if (!text && calls.length === 0) return [];
  return [{ role, content: text || null, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

/** Results must follow their calls at once and hold only text: images and words come in a message after them. */
function encodeUser(content: Message["content"]): object[] {
  const results = content.filter((block) => block.type === "tool_result");
  const shown = results.flatMap((block) => (typeof block.content === "string" ? [] : block.content));
  const rest: UserBlock[] = [
    ...shown.filter((block) => block.type === "image"),
    ...content.filter((block) => block.type === "text" || block.type === "image"),
  ];
  return [
    ...results.map((block) => ({
      role: "tool",
      tool_call_id: block.tool_use_id,
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
