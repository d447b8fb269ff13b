/** The body of a Messages API request, and the beta names it needs (provider-facts §2, §3). Pure. */

import type { Block, Message } from "../../core/blocks.ts";
import type { CacheLife } from "../../core/model-card.ts";
import type { CachePoint, ModelRequest } from "../../core/request.ts";

/** The version of the API, in a header or, at Google, in the body. */
export const apiVersion = "2026-10-21";

/** The cloud that serves the model in Anthropic's place, where one does. */
export type Cloud = "aws" | "google";

/**
 * The exact JSON body. What grows comes last, so that each body of a session begins like the one before. Google takes
 * the model in the path and the version in the body.
 */
export function encodeAnthropic(request: ModelRequest, { cloud }: { cloud?: Cloud } = {}): string {
  const { system, tools, cacheAfter } = request;
  const atSystem = cacheAfter.find((point) => point.after === "system");
  return JSON.stringify({
    ...(cloud === "google" ? { anthropic_version: apiVersion } : { model: modelId(request.model) }),
    max_tokens: request.maxTokens,
    stream: true,
    ...(request.thinking === "adaptive" ? { thinking: thinkingOf(request) } : {}),
    ...(request.previousMessageId && !cloud
      ? { diagnostics: { previous_message_id: request.previousMessageId } }
      : {}),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.effort ? { output_config: { effort: request.effort } } : {}),
    ...(tools.length > 0 ? { tools: [...tools, ...searchTools(request)] } : {}),
    ...(system ? { system: [marked({ type: "text", text: system }, atSystem?.ttl)] } : {}),
    messages: request.messages.map((message, index) => encodeMessage(message, marksOf(cacheAfter, index))),
  });
}

/**
 * The search of the API's own server, behind the other tools. This version of it answers with what it found and
 * nothing else; later ones run code on it.
 */
function searchTools({ webSearch }: ModelRequest): object[] {
  if (!webSearch) return [];
  const { maxUses, blockedDomains } = webSearch;
  return [
    {
      ...{ type: "web_search_20250305", name: "web_search", max_uses: maxUses },
      ...(blockedDomains.length > 0 ? { blocked_domains: blockedDomains } : {}),
    },
  ];
}

/** Returns a model's id on its server. */
function modelId(name: string): string {
  return name.slice(name.indexOf("/") + 1);
}

/** Names for the `anthropic-beta` header, each only when the request uses it. */
export function betasOf(request: ModelRequest): string[] {
  return [
    ...(request.blockBinding ? ["thinking-binding-controls-2026-08-01"] : []),
    ...(request.messages.some((message) => message.clear_at)
      ? ["mid-conversation-system-clear-at-2026-08-21"]
      : []),
    ...(request.tools.some((tool) => tool.defer_loading) ||
    request.messages.some(({ role, clear_at }) => role === "system" && !clear_at)
      ? ["mid-conversation-tool-changes-2026-07-01"]
      : []),
  ];
}

function thinkingOf(request: ModelRequest): object {
  // Without a summary nothing streams while the model thinks, and a long thought would count as silence.
  const thinking = { type: "adaptive", display: "summarized" };
  if (!request.blockBinding) return thinking;
  return { ...thinking, block_binding: { prefix_mismatch_behavior: request.blockBinding } };
}

function marksOf(points: readonly CachePoint[], message: number): Map<number, CacheLife> {
  const here = points.flatMap((point) =>
    point.after === "block" && point.message === message ? [[point.block, point.ttl] as const] : [],
  );
  return new Map(here);
}

function encodeMessage(message: Message, marks: ReadonlyMap<number, CacheLife>): Message {
  const content = message.content.some(isForeign) ? message.content.map(ownId) : message.content;
  if (marks.size === 0) return content === message.content ? message : { ...message, content };
  return { ...message, content: content.map((block, index) => marked(block, marks.get(index))) };
}

const notInIds = /[^a-zA-Z0-9_-]/g;

/** Other servers put into the ids of calls what is refused here. */
function isForeign(block: Block): boolean {
  if (block.type === "tool_use") return block.id.search(notInIds) >= 0;
  return block.type === "tool_result" && block.tool_use_id.search(notInIds) >= 0;
}

/** Each such character is spelled as its code, so that different ids stay different. */
function ownId<T extends Block>(block: T): T {
  const own = (id: string) => id.replace(notInIds, (sign) => `_x${sign.charCodeAt(0).toString(16)}`);
  if (block.type === "tool_use") return { ...block, id: own(block.id) };
  return block.type === "tool_result" ? { ...block, tool_use_id: own(block.tool_use_id) } : block;
}

/** 5 minutes is what the API takes a marker without a TTL for. */
function marked<T extends Block>(block: T, ttl: CacheLife | undefined): T {
  if (!ttl) return block;
  return { ...block, cache_control: { type: "ephemeral", ...(ttl === "1h" ? { ttl } : {}) } };
}
