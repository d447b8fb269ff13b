/** Assembles a reply from the events of a response. What the API wants back is kept with each block. */

import type {
  Response,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from "openai/resources/responses/responses";
import { type AssistantBlock, isSearch } from "../../core/blocks.ts";
import type { ModelCard, Usage } from "../../core/model-card.ts";
import { ModelError, type ModelPart, type ModelReply } from "../../core/ports.ts";
import { searchesIn } from "../../core/text/search-text.ts";
import type { Assembly } from "../http/attempt.ts";
import { streamError } from "../openai/errors.ts";
import { openaiUsage } from "../openai/stream.ts";
import { citedTitles, searchBlocks, searchCount } from "./searches.ts";

export type ResponseOptions = {
  card: ModelCard;
  onPart(part: ModelPart): void;
  /** Estimates the bill when the server does not state it: budgets must keep counting. */
  estimate(content: readonly AssistantBlock[]): Usage;
  /** Blotted out of what the server says. */
  secret: string;
  /** Tokens that the reply may have. */
  limit: number;
};

type State = {
  /** Finished items by their place in the output, or in the order of their ends where the server (llama.cpp) tells none. */
  items: Map<number, ResponseOutputItem>;
  /** Ids of the calls that are being streamed, by the ids of their items. */
  calls: Map<string, string>;
  text: string;
  /** The response as it ended. */
  ended: Response | undefined;
};

/** Events that only say that the server is at work. */
const idle = ["response.created", "response.in_progress", "response.queued"];

/** Gathers the events of one response, telling `onPart` of each as it comes. */
export function assembleResponse(options: ResponseOptions): Assembly<ResponseStreamEvent> {
  const state: State = { items: new Map(), calls: new Map(), text: "", ended: undefined };
  return {
    take(event) {
      take(state, event, options);
      return event.type.startsWith("response.") && !idle.includes(event.type);
    },
    whole: () => state.ended !== undefined,
    partial: () => [
      ...blocksIn([...state.items.values()].filter(isSearchStep), options.card).filter(isSearch),
      ...(state.text ? [{ type: "text" as const, text: state.text }] : []),
    ],
    reply: () => replyOf(state, options),
  };
}

function take(state: State, event: ResponseStreamEvent, options: ResponseOptions): void {
  const { onPart, secret } = options;
  switch (event.type) {
    case "response.output_item.added":
      if (event.item.type !== "function_call") return;
      state.calls.set(event.item.id ?? "", event.item.call_id);
      onPart({ type: "tool_use_started", id: event.item.call_id, name: event.item.name });
      return;
    case "response.output_text.delta":
    case "response.refusal.delta":
      state.text += event.delta;
      onPart({ type: "text_delta", text: event.delta });
      return;
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      onPart({ type: "thinking_delta", text: event.delta });
      return;
    case "response.reasoning_summary_part.added":
      if (event.summary_index > 0) onPart({ type: "thinking_delta", text: "\n\n" });
      return;
    case "response.function_call_arguments.delta": {
      const id = state.calls.get(event.item_id);
      if (id !== undefined) onPart({ type: "input_delta", id, text: event.delta });
      return;
    }
    case "response.output_item.done":
      state.items.set(event.output_index ?? state.items.size, event.item);
      for (const search of searchesIn(blocksIn([event.item], options.card)))
        onPart({ type: "searched", search });
      return;
    case "response.completed":
    case "response.incomplete":
      state.ended = event.response;
      return;
    case "response.failed":
      throw streamError(event.response.error ?? "the server ended the response without a reason", secret);
  }
}

function replyOf({ items, ended }: State, options: ResponseOptions): ModelReply {
  if (!ended) throw new ModelError("incomplete", "the stream ended before the reply was complete");
  const { card } = options;
  const done = [...items].sort(([a], [b]) => a - b).map(([, item]) => item);
  const output = done.length > 0 ? done : (ended.output ?? []);
  const stopReason = stopReasonOf(ended, output, options.limit);
  const isWhole = stopReason === "end_turn" || stopReason === "tool_use";
  const content = isWhole ? blocksIn(output, card) : keptOfCut(output, card);
  const webSearches = searchCount(ended, output);
  const usage = ended.usage ? responsesUsage(ended.usage, card) : options.estimate(content);
  const diagnostics = ended.prompt_cache_diagnostics;
  return {
    content,
    stopReason,
    usage: webSearches > 0 ? { ...usage, webSearches } : usage,
    model: ended.model || card.id.slice(card.id.indexOf("/") + 1),
    ...(ended.id ? { messageId: ended.id } : {}),
    ...(diagnostics?.type === "cache_miss" ? { cacheMissReason: diagnostics.reason } : {}),
  };
}

/**
 * Keeps of a cut response its text and its searches that ended: the last item may be cut, and reasoning without an item
 * after it cannot come back.
 */
function keptOfCut(output: readonly ResponseOutputItem[], card: ModelCard): AssistantBlock[] {
  const ended = output.filter(
    (item) => item.type !== "web_search_call" || item.status === "completed" || item.status === "failed",
  );
  return blocksIn(ended, card).filter((block) => block.type === "text" || isSearch(block));
}

function isSearchStep({ type }: ResponseOutputItem): boolean {
  return type === "web_search_call" || type === "reasoning";
}

/** In the words of the Messages API. */
function stopReasonOf(ended: Response, output: readonly ResponseOutputItem[], limit: number): string {
  if (ended.status === "incomplete")
    return ended.incomplete_details?.reason === "content_filter" ? "refusal" : "max_tokens";
  if (isCutUntold(ended, limit)) return "max_tokens";
  if (output.some((item) => item.type === "function_call")) return "tool_use";
  const refused = output.some(
    (item) => item.type === "message" && item.content.some(({ type }) => type === "refusal"),
  );
  return refused ? "refusal" : "end_turn";
}

/**
 * llama-server calls a reply completed that its limit cut; the usage shows it. OpenAI always has `incomplete_details`,
 * null when nothing was cut.
 */
function isCutUntold({ incomplete_details, usage }: Response, limit: number): boolean {
  return incomplete_details === undefined && (usage?.output_tokens ?? 0) >= limit;
}

/** Throws `ModelError`. */
function blocksIn(output: readonly ResponseOutputItem[], card: ModelCard): AssistantBlock[] {
  const titles = citedTitles(output);
  let reasoned = false;
  return output.flatMap((item) => {
    if (item.type === "web_search_call") return searchBlocks(item, { reasoned, titles });
    const blocks = blocksOf(item, card);
    reasoned ||= item.type === "reasoning";
    return blocks;
  });
}

/** Items of kinds that nobody asked for are left out. Throws `ModelError`. */
function blocksOf(item: ResponseOutputItem, card: ModelCard): AssistantBlock[] {
  switch (item.type) {
    case "message":
      return textBlocks(item);
    case "reasoning":
      return card.contract.thinking === "carried" ? reasoningBlocks(item) : [];
    case "function_call": {
      const { id, call_id, name } = item;
      const wire = id ? { wire: { api: "responses" as const, id } } : {};
      return [{ type: "tool_use", id: call_id, name, input: inputOf(item), ...wire }];
    }
    default:
      return [];
  }
}

function inputOf({ name, arguments: json }: { name: string; arguments: string }): unknown {
  try {
    return JSON.parse(json.trim() || "{}");
  } catch {
    throw new ModelError("incomplete", `the arguments of the call ${name} are not JSON`);
  }
}

function textBlocks({ id, phase, content }: ResponseOutputMessage): AssistantBlock[] {
  const wire = { api: "responses" as const, id, ...(phase ? { phase } : {}) };
  return content.flatMap((part): AssistantBlock[] => {
    const text = part.type === "refusal" ? part.refusal : part.text;
    if (!text) return [];
    if (part.type === "refusal") return [{ type: "text", text, wire: { ...wire, refusal: true } }];
    const citations = part.annotations?.length ? { citations: part.annotations } : {};
    return [{ type: "text", text, ...citations, wire }];
  });
}

/** Without its encrypted content an item is of no use to a server that stored nothing. */
function reasoningBlocks({
  id,
  summary,
  content,
  encrypted_content: data,
}: ResponseReasoningItem): AssistantBlock[] {
  if (!data) return [];
  const item = { id, summary, ...(content && content.length > 0 ? { content } : {}) };
  return [{ type: "redacted_thinking", data, wire: { api: "responses", item } }];
}

/** Disjoint buckets, as for chat completions; what is kept for 12 hours counts as the longer-lived writing. */
export function responsesUsage(usage: ResponseUsage, card: ModelCard): Usage {
  const details = usage.input_tokens_details;
  const all = openaiUsage(
    {
      prompt_tokens: usage.input_tokens,
      completion_tokens: usage.output_tokens,
      prompt_tokens_details: details,
    },
    card,
  );
  const long = Math.min(details?.cache_write_tokens_details?.ttl_12h_tokens ?? 0, all.cacheWrite5mTokens);
  return { ...all, cacheWrite5mTokens: all.cacheWrite5mTokens - long, cacheWrite1hTokens: long };
}
