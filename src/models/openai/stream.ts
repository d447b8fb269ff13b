/** Assembles a reply from the chunks of a chat completion, tolerating what servers omit or repeat. */

import type { AssistantBlock, ToolUseBlock } from "../../core/blocks.ts";
import { type ModelCard, noUsage, type Usage } from "../../core/model-card.ts";
import { ModelError, type ModelPart } from "../../core/ports.ts";
import type { Assembly } from "../http/attempt.ts";
import { gatherThinking, type ThinkingDelta } from "./thinking.ts";

type CallDelta = {
  index?: number;
  id?: string | null;
  function?: { name?: string | null; arguments?: string | null };
  /** Gemini's signature; its maker wants it back. */
  extra_content?: unknown;
};
type Delta = ThinkingDelta & {
  /** Text, or the parts of a reply of Mistral's. */
  content?: unknown;
  refusal?: string | null;
  tool_calls?: CallDelta[] | null;
};
type WireUsage = {
  prompt_tokens?: number;
  completion_tokens?: number;
  prompt_tokens_details?: { cached_tokens?: number; cache_write_tokens?: number } | null;
};
export type Chunk = {
  id?: string;
  model?: string;
  choices?: { delta?: Delta; finish_reason?: string | null }[];
  usage?: WireUsage | null;
};

/** A call that is being streamed. `sentId` is the server's own id for it, if it has one. */
type Growing = { id: string; sentId: string | undefined; name: string; json: string; extra: unknown };

export type AssemblyOptions = {
  card: ModelCard;
  onPart(part: ModelPart): void;
  /** An id for the call at this index, where the server gave none or one that is taken. */
  makeId(index: number): string;
  /** Ids of the calls in the request. */
  taken: ReadonlySet<string>;
  /** Estimates the bill when the server does not state it: budgets must keep counting. */
  estimate(content: readonly AssistantBlock[]): Usage;
};

/** Gathers the chunks of one reply, telling `onPart` of each as it comes. */
export function assembleReply(options: AssemblyOptions): Assembly<Chunk> {
  const thoughts = gatherThinking(options);
  const state = { text: "", finish: "", usage: undefined as WireUsage | undefined, id: "", model: "" };
  const calls = gatherCalls(options);
  const { card, onPart, estimate } = options;
  const textBlocks = (): AssistantBlock[] => (state.text ? [{ type: "text", text: state.text }] : []);
  return {
    // Role-only and empty chunks are no progress.
    take(chunk) {
      state.id ||= chunk.id ?? "";
      state.model ||= chunk.model ?? "";
      state.usage = chunk.usage ?? state.usage;
      const [choice] = chunk.choices ?? [];
      const { content, refusal, tool_calls } = choice?.delta ?? {};
      const thought = thoughts.take(choice?.delta ?? {});
      const text = textOf(content) || refusal;
      if (text) {
        state.text += text;
        onPart({ type: "text_delta", text });
      }
      for (const delta of tool_calls ?? []) calls.take(delta);
      state.finish ||= choice?.finish_reason ?? "";
      return Boolean(thought || text || tool_calls?.length || choice?.finish_reason || chunk.usage);
    },
    whole: () => state.finish !== "" && state.usage !== undefined,
    partial: textBlocks,
    reply() {
      const stopReason = stopReasonOf(state.finish, calls.count());
      const runnable = stopReason === "tool_use" ? calls.blocks() : [];
      const content = [...thoughts.blocks(), ...textBlocks(), ...runnable];
      return {
        content,
        stopReason,
        usage: state.usage ? openaiUsage(state.usage, card) : estimate(content),
        model: state.model || card.id.slice(card.id.indexOf("/") + 1),
        ...(state.id ? { messageId: state.id } : {}),
      };
    },
  };
}

/** The text of a delta: Mistral's reasoning models send parts, with their thoughts among them. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => (part?.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("");
}

function gatherCalls({ onPart, makeId, taken }: AssemblyOptions) {
  const calls: Growing[] = [];
  /** The newest call at each index of the wire: some servers give all their calls the index 0. */
  const byIndex = new Map<number, Growing>();
  function begin(index: number, { id, function: called }: CallDelta): Growing {
    const free = id && !taken.has(id) && !calls.some((call) => call.id === id);
    const begun = {
      id: free ? id : makeId(calls.length),
      sentId: id || undefined,
      name: called?.name ?? "",
      json: "",
      extra: undefined,
    };
    calls.push(begun);
    byIndex.set(index, begun);
    onPart({ type: "tool_use_started", id: begun.id, name: begun.name });
    return begun;
  }
  return {
    count: () => calls.length,
    blocks: () => calls.map(callBlock),
    take(delta: CallDelta) {
      const index = delta.index ?? (delta.id ? calls.length : Math.max(0, calls.length - 1));
      const known = byIndex.get(index);
      const another = delta.id && known?.sentId && delta.id !== known.sentId;
      const growing = known && !another ? known : begin(index, delta);
      growing.name ||= delta.function?.name ?? "";
      growing.extra ??= delta.extra_content;
      const text = delta.function?.arguments;
      if (!text) return;
      growing.json += text;
      onPart({ type: "input_delta", id: growing.id, text });
    },
  };
}

/** No arguments at all mean an empty object. */
function callBlock({ id, name, json, extra }: Growing): ToolUseBlock {
  if (!name) throw new ModelError("incomplete", "a tool call in the reply has no name");
  try {
    const input = JSON.parse(json.trim() || "{}");
    const wire = extra ? { wire: { api: "chat" as const, extra_content: extra } } : {};
    return { type: "tool_use", id, name, input, ...wire };
  } catch {
    throw new ModelError("incomplete", `the arguments of the call ${name} are not JSON`);
  }
}

/** In the words of the Messages API. Many servers say "stop" after calls too. Throws `ModelError`. */
function stopReasonOf(finish: string, calls: number): string {
  switch (finish) {
    case "":
      throw new ModelError("incomplete", "the stream ended before the reply was complete");
    case "error":
      throw new ModelError("server", "the server ended the reply with an error");
    case "length":
    case "model_length":
      return "max_tokens";
    case "content_filter":
      return "refusal";
    case "tool_calls":
    case "function_call":
      if (calls === 0) throw new ModelError("incomplete", "the reply stopped for tool calls but holds none");
      return "tool_use";
    default:
      return calls > 0 ? "tool_use" : "end_turn";
  }
}

/**
 * Disjoint buckets: `prompt_tokens` includes what was read from the cache. Where writing has a price of its own
 * (gpt-6 family) and the server does not tell what it wrote, all it did not read counts as written, which is the
 * most it can cost; a prompt below the cache's minimum is not written.
 */
export function openaiUsage(usage: WireUsage, { prices, contract }: ModelCard): Usage {
  const prompt = usage.prompt_tokens ?? 0;
  const details = usage.prompt_tokens_details;
  const read = Math.min(details?.cached_tokens ?? 0, prompt);
  const pricedWrite = prices.cacheWrite5m > prices.input && prompt >= contract.cache.minTokens;
  const writeTokens = details?.cache_write_tokens ?? prompt - read;
  const written = pricedWrite ? Math.min(writeTokens, prompt - read) : 0;
  return {
    ...noUsage,
    inputTokens: prompt - read - written,
    cacheReadTokens: read,
    cacheWrite5mTokens: written,
    outputTokens: usage.completion_tokens ?? 0,
  };
}
