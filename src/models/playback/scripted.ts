/** A model that plays a script in place of thinking. Costs and cache hits are simulated as the API would bill them. */

import { createHash } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { type AssistantBlock, type Block, isToolUse, type Message, resultText } from "../../core/blocks.ts";
import { type ModelCard, noUsage, type Usage, usualLife } from "../../core/model-card.ts";
import { type Clock, type Model, ModelError, type ModelPart, type ModelReply } from "../../core/ports.ts";
import {
  type Breakpoint,
  billRequest,
  emptyCache,
  layoutOf,
  type PromptLayout,
  promptTokens,
} from "../../core/prompt-cache.ts";
import type { CachePoint, ModelRequest } from "../../core/request.ts";
import { playReply, replyAt, type Script, type ScriptedReply, type Turns } from "./script.ts";

/**
 * The card of `scripted/<file>`: a mid-priced model with thinking and a window of 200,000, as the script changes it.
 */
export function scriptedCard({ file, model = {} }: Pick<Script, "file" | "model">): ModelCard {
  const prices = { input: 2, output: 10, cacheRead: 0.1, cacheWrite5m: 2.5, cacheWrite1h: 4 };
  return {
    id: `scripted/${file}`,
    window: model.window ?? 200_000,
    maxOutput: model.maxOutput ?? 32_000,
    prices: { ...prices, ...model.prices },
    thinking: model.thinking ?? "adaptive",
    contract: {
      history: model.history ?? "free",
      reminders: "logged",
      toolGating: "none",
      cache: {
        kind: "breakpoints",
        maxBreakpoints: 4,
        lookback: 20,
        minTokens: model.minTokens ?? 512,
        ttls: ["5m", "1h"],
      },
    },
  };
}

export type ScriptedOptions = {
  card: ModelCard;
  turns: Turns<ModelRequest>;
  /** For `{{cwd}}`; the first absolute path in the first user message unless told. */
  cwd?: string;
  /** Replies played before: the assistant messages in the log of a resumed session. */
  startAt?: number;
  now?: Clock;
};

/** Turns are played in the order of sending. `send` throws `ModelError` "script", "context_full" or "aborted". */
export function scriptedModel(options: ScriptedOptions): Model {
  const { card, turns, now = Date.now } = options;
  let sent = options.startAt ?? 0;
  let cache = emptyCache;
  return {
    card,
    encode: (request) => JSON.stringify(request),
    async send(request, body, onPart, signal) {
      const started = now();
      const index = sent++;
      const { turn, number } = replyAt(turns, request, index);
      const layout = layoutOf(promptOf(request));
      refuseTooLong(layout, card);
      const reply = playReply(turn, {
        number,
        idBase: `toolu_script_${index + 1}`,
        newest: newestInput(request.messages),
        cwd: options.cwd ?? firstPath(request.messages),
        sign: card.thinking === "adaptive" ? (thinking) => signature(body, thinking) : undefined,
      });
      const { minTokens, lookback } = card.contract.cache;
      const breakpoints = breakpointsOf(request.cacheAfter, layout, card);
      const billed = billRequest(
        { blocks: layout.blocks, minTokens, lookback, now: started, breakpoints },
        cache,
      );
      cache = billed.cache;
      await stream(reply.content, onPart, signal);
      const usage = replyUsage(turn, billed.usage, reply.content);
      return { ...reply, usage, model: card.id, messageId: `msg_script_${index + 1}` } satisfies ModelReply;
    },
  };
}

function promptOf({ model, system, tools, messages, thinking, effort }: ModelRequest) {
  return { model, tools, system: [{ type: "text", text: system }], messages, settings: { thinking, effort } };
}

function refuseTooLong({ blocks }: PromptLayout, { window }: ModelCard): void {
  const tokens = promptTokens(blocks);
  if (tokens <= window) return;
  const message = `prompt is too long: ${tokens} tokens > ${window} maximum`;
  throw new ModelError("context_full", message, { status: 400 });
}

/** An automatic cache is one that has a breakpoint after every block. */
function breakpointsOf(
  points: readonly CachePoint[],
  layout: PromptLayout,
  { contract }: ModelCard,
): Breakpoint[] {
  switch (contract.cache.kind) {
    case "none":
      return [];
    case "automatic":
      return layout.blocks.map((_, block) => ({ block, ttl: usualLife(contract) }));
    case "breakpoints":
      return points.map((point) => ({ block: blockIndex(point, layout), ttl: point.ttl }));
  }
}

function blockIndex(point: CachePoint, { systemEnd, messageStarts }: PromptLayout): number {
  return point.after === "system" ? systemEnd : (messageStarts[point.message] ?? 0) + point.block;
}

/** Returns the model's input since its last reply: results and words, without the engine's reminders. */
export function newestInput(messages: readonly Message[]): { text: string; from: string } {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  const blocks = messages
    .slice(last + 1)
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => content);
  const tools = messages[last]?.content.filter(isToolUse).map((call) => call.name) ?? [];
  const results = tools.length === 1 ? "the result of" : "the results of";
  return {
    text: blocks.map(textOf).join("\n"),
    from: tools.length > 0 ? `${results} ${tools.join(", ")}` : "the user's message",
  };
}

/** The first absolute path in the first user message, where the session's folder is told; else ".". */
export function firstPath(messages: readonly Message[]): string {
  const text =
    messages
      .find((message) => message.role === "user")
      ?.content.map(textOf)
      .join("\n") ?? "";
  return /(?<![^\s"'`:=(])\/[^\s"'`<>)]*[^\s"'`<>).,;:]/.exec(text)?.[0] ?? ".";
}

function textOf(block: Block): string {
  if (block.type === "text") return block.text;
  return block.type === "tool_result" ? resultText(block.content) : "";
}

/** Bound, as the real ones are, to the whole request and to the text; the same each time. */
function signature(body: string, thinking: string): string {
  return createHash("sha256").update(body).update("\0").update(thinking).digest("base64url");
}

/** The usage of a reply: what the turn says, else what was billed and the bytes of the reply over four. */
export function replyUsage(
  { usage }: ScriptedReply,
  billed: Usage,
  content: readonly AssistantBlock[],
): Usage {
  const outputTokens = Math.ceil(Buffer.byteLength(JSON.stringify(content)) / 4);
  if (!usage) return { ...billed, outputTokens };
  return {
    ...noUsage,
    inputTokens: usage.input ?? 0,
    cacheReadTokens: usage.cache_read ?? 0,
    cacheWrite5mTokens: usage.cache_write ?? 0,
    outputTokens: usage.output ?? 0,
  };
}

/** The reply in a few pieces, so that screens and interruptions have something to work on. */
async function stream(
  content: readonly AssistantBlock[],
  onPart: (part: ModelPart) => void,
  signal: AbortSignal,
): Promise<void> {
  const complete: AssistantBlock[] = [];
  for (const block of content) {
    let begun = "";
    if (isToolUse(block)) onPart({ type: "tool_use_started", id: block.id, name: block.name });
    for (const piece of inPieces(wireText(block))) {
      await setImmediate();
      if (signal.aborted) {
        const cut: AssistantBlock[] = block.type === "text" && begun ? [{ type: "text", text: begun }] : [];
        throw new ModelError("aborted", "interrupted", { partial: [...complete, ...cut] });
      }
      begun += piece;
      onPart(partOf(block, piece));
    }
    complete.push(block);
  }
}

function wireText(block: AssistantBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking;
    case "redacted_thinking":
    case "server_tool_use":
    case "web_search_tool_result":
      return "";
    case "tool_use":
      return JSON.stringify(block.input);
  }
}

function partOf(block: AssistantBlock, text: string): ModelPart {
  if (isToolUse(block)) return { type: "input_delta", id: block.id, text };
  return { type: block.type === "text" ? "text_delta" : "thinking_delta", text };
}

/** At most 16 pieces of 24 characters or more; no character is split. */
export function inPieces(text: string): string[] {
  const size = Math.max(24, Math.ceil(text.length / 16));
  return text.match(new RegExp(`.{1,${size}}`, "gsu")) ?? [];
}
