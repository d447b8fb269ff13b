/** Bills requests as the API does: cache markers, reads and writes, and why the cache missed (provider-facts §3). */

import { inputTotal, type Usage } from "../../src/core/model-card.ts";
import {
  type Breakpoint,
  billRequest,
  emptyCache,
  layoutOf,
  type PromptLayout,
  promptTokens,
} from "../../src/core/prompt-cache.ts";
import { wordsOnChanges } from "./mock-gating.ts";
import type { MockModel } from "./mock-models.ts";
import { isThinkingBlock, RefusedError, type WireBlock, type WireBody, withoutMarkers } from "./mock-wire.ts";

export type CacheMissReason = { type: string; cache_missed_input_tokens?: number };
export type Bill = { usage: Usage; missed: CacheMissReason | null };
export type Measured = { layout: PromptLayout; breakpoints: Breakpoint[]; tokens: number };

type Remembered = {
  model: string;
  tools: string;
  system: string;
  settings: string;
  hashes: number[];
  cached: number;
};

export type Billing = {
  /** Bills a request that starts at `now`. `messageId` is what its reply will be called. */
  bill(request: Measured & { body: WireBody; model: MockModel; messageId: string; now: number }): Bill;
};

/** The cache of one organisation, for all models, in memory. */
export function billing(): Billing {
  let cache = emptyCache;
  const remembered = new Map<string, Remembered>();
  return {
    bill({ body, model, layout, breakpoints, messageId, now }) {
      const { minTokens } = model;
      const billed = billRequest({ blocks: layout.blocks, breakpoints, minTokens, now }, cache);
      cache = billed.cache;
      const request = rememberedOf(body, layout, billed.usage);
      const previous = body.diagnostics?.previous_message_id;
      const missed = previous ? missReason(remembered.get(previous), request, billed.usage) : null;
      remembered.set(messageId, request);
      return { usage: billed.usage, missed };
    },
  };
}

/** Blocks and breakpoints. Throws `RefusedError` for too many markers, TTLs out of order, or too long a prompt. */
export function measured(body: WireBody, model: MockModel): Measured {
  const layout = layoutOf({
    model: `${body.model}${wordsOnChanges(body)}`,
    tools: body.tools.map(withoutMarkers),
    system: body.system.map(withoutMarkers),
    messages: body.messages.map((message) => ({ ...message, content: message.content.map(withoutMarkers) })),
    settings: settingsOf(body),
  });
  const breakpoints = breakpointsOf(body, layout);
  if (breakpoints.length > 4) {
    throw new RefusedError(
      `A maximum of 4 blocks with cache_control may be provided. Found ${breakpoints.length}.`,
    );
  }
  const firstShort = breakpoints.findIndex(({ ttl }) => ttl === "5m");
  if (firstShort >= 0 && breakpoints.slice(firstShort).some(({ ttl }) => ttl === "1h")) {
    throw new RefusedError(
      "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
    );
  }
  const tokens = promptTokens(layout.blocks);
  if (tokens > model.window) {
    throw new RefusedError(`prompt is too long: ${tokens} tokens > ${model.window} maximum`);
  }
  return { layout, breakpoints, tokens };
}

function settingsOf({ thinking, output_config, tool_choice }: WireBody): unknown {
  return [thinking?.type, thinking?.budget_tokens, output_config?.effort, tool_choice];
}

function breakpointsOf(body: WireBody, { messageStarts }: PromptLayout): Breakpoint[] {
  const found: Breakpoint[] = [];
  const mark = (block: number, ttl: "5m" | "1h" | undefined) => found.push({ block, ttl: ttl ?? "5m" });
  for (const [index, block] of [...body.tools, ...body.system].entries()) {
    for (const marker of markersIn(block)) mark(index, marker.ttl);
  }
  for (const [index, { content }] of body.messages.entries()) {
    for (const [at, block] of content.entries()) {
      for (const marker of markersIn(block)) mark((messageStarts[index] ?? 0) + at, marker.ttl);
    }
  }
  if (body.cache_control) mark(lastCacheable(body, messageStarts), body.cache_control.ttl);
  return found;
}

function markersIn(block: WireBlock): NonNullable<WireBlock["cache_control"]>[] {
  const inner = Array.isArray(block.content) ? block.content.flatMap(markersIn) : [];
  return block.cache_control ? [...inner, block.cache_control] : inner;
}

function lastCacheable({ messages }: WireBody, messageStarts: readonly number[]): number {
  const message = messages.findLastIndex(({ content }) => content.some((block) => !isThinkingBlock(block)));
  const at = messages[message]?.content.findLastIndex((block) => !isThinkingBlock(block)) ?? 0;
  return (messageStarts[message] ?? 0) + at;
}

function rememberedOf(body: WireBody, layout: PromptLayout, usage: Usage): Remembered {
  return {
    model: body.model,
    tools: JSON.stringify(body.tools.map(withoutMarkers)),
    system: JSON.stringify(body.system.map(withoutMarkers)),
    settings: JSON.stringify(settingsOf(body)),
    hashes: layout.blocks.slice(layout.systemEnd + 1).map((block) => block.hash),
    cached: inputTotal(usage) - usage.inputTokens,
  };
}

/** Compares with the request that the client names; null when it was only added to. */
function missReason(
  previous: Remembered | undefined,
  request: Remembered,
  usage: Usage,
): CacheMissReason | null {
  if (!previous) return { type: "previous_message_not_found" };
  const missed = (type: string) => ({
    type,
    cache_missed_input_tokens: Math.max(0, previous.cached - usage.cacheReadTokens),
  });
  if (previous.model !== request.model) return missed("model_changed");
  if (previous.tools !== request.tools) return missed("tools_changed");
  if (previous.system !== request.system) return missed("system_changed");
  if (previous.settings !== request.settings) return { type: "unavailable" };
  const appended = previous.hashes.every((hash, index) => hash === request.hashes[index]);
  return appended ? null : missed("messages_changed");
}
