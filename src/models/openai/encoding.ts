/** The body of a chat-completions request, as OpenAI and the servers that speak its language read it. Pure. */

import { type ImageBlock, isToolUse, type Message, resultText, type UserBlock } from "../../core/blocks.ts";
import type { ModelRequest } from "../../core/request.ts";
import { cacheKey } from "./client.ts";

/**
 * `official`: fields may be sent that only OpenAI's own host understands. `signedCalls`: the host refuses calls without
 * a signature of its own, as Gemini 3 does, but for one word that stands for it.
 */
export type Dialect = { official: boolean; signedCalls?: boolean };

/** The word that Gemini takes for the signature of a call that it did not make (its guide to thought signatures). */
const unsigned = { google: { thought_signature: "skip_thought_signature_validator" } };

/** The exact JSON body. What grows comes last. No marker says what to cache. */
export function encodeOpenai(request: ModelRequest, dialect: Dialect): string {
  const { official } = dialect;
  const { system, tools, messages, effort, maxTokens, temperature } = request;
  const encode = (message: Message) => encodeMessage(message, request, dialect);
  return JSON.stringify({
    model: request.model.slice(request.model.indexOf("/") + 1),
    // Other servers know the older name; OpenAI's reasoning models refuse it.
    ...(official ? { max_completion_tokens: maxTokens } : { max_tokens: maxTokens }),
    stream: true,
    stream_options: { include_usage: true },
    ...(official ? { prompt_cache_key: cacheKey(system, tools, messages[0]) } : {}),
    ...(official && effort ? { reasoning_effort: effort } : {}),
    // OpenAI's reasoning models refuse it.
    ...(!official && temperature !== undefined ? { temperature } : {}),
    ...(tools.length > 0 ? { tools: tools.map(encodeTool) } : {}),
    ...(official && request.withdrawn ? { tool_choice: allowed(request, request.withdrawn) } : {}),
    messages: [...(system ? [{ role: "system", content: system }] : []), ...messages.flatMap(encode)],
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

function encodeMessage(
  { role, content }: Message,
  { carried }: ModelRequest,
  { signedCalls }: Dialect,
): object[] {
  const text = content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  if (role === "system") return [{ role, content: text }];
  if (role === "user") return encodeUser(content);
  const uses = content.filter(isToolUse);
  const foreign = signedCalls && !uses.some(({ wire }) => wire?.api === "chat");
  const calls = uses.map(({ id, name, input, wire }, index) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
    ...(wire?.api === "chat" ? { extra_content: wire.extra_content } : {}),
    ...(foreign && index === 0 ? { extra_content: unsigned } : {}),
  }));
  if (!text && calls.length === 0) return [];
  const thought = thoughtOf(content) ?? (carried && calls.length > 0 ? { reasoning_content: "" } : {});
  return [{ role, content: text || null, ...thought, ...(calls.length > 0 ? { tool_calls: calls } : {}) }];
}

/** The thinking of a reply under the name that it came with. */
function thoughtOf(content: Message["content"]): object | undefined {
  const block = content.find((each) => each.type === "thinking" && each.wire);
  return block?.type === "thinking" && block.wire ? { [block.wire.field]: block.thinking } : undefined;
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
