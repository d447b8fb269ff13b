/** Assembles a reply from the events of a stream. Blocks stay as sent, unknown fields included. */

import type {
  BetaMessage,
  BetaMessageDeltaUsage,
  BetaRawContentBlockDelta,
  BetaRawMessageStreamEvent,
  BetaUsage,
} from "@anthropic-ai/sdk/resources/beta/messages/messages";
import {
  type AssistantBlock,
  isSearch,
  isThinking,
  isToolUse,
  type ServerToolUseBlock,
  type ToolUseBlock,
} from "../../core/blocks.ts";
import type { Usage } from "../../core/model-card.ts";
import { ModelError, type ModelPart, type ModelReply } from "../../core/ports.ts";
import { searchesIn } from "../../core/text/search-text.ts";
import type { Assembly } from "../http/attempt.ts";

/** A block that is being streamed; `json` gathers the input of a call. */
type Growing = { block: AssistantBlock; json: string; complete: boolean };

type StreamState = {
  message: BetaMessage | undefined;
  blocks: Growing[];
  stopReason: string | undefined;
  usage: BetaMessageDeltaUsage | undefined;
  transformations: BetaMessage["input_transformations"];
  stopped: boolean;
};

/** After these the last call may be cut, or was withdrawn: no call of the reply may run. */
const cutReasons = ["max_tokens", "model_context_window_exceeded", "refusal"];

/** Gathers the events of one reply, telling `onPart` of each as it comes. */
export function assembleReply(onPart: (part: ModelPart) => void): Assembly<BetaRawMessageStreamEvent> {
  const state: StreamState = {
    message: undefined,
    blocks: [],
    stopReason: undefined,
    usage: undefined,
    transformations: undefined,
    stopped: false,
  };
  return {
    take(event) {
      take(state, event, onPart);
      // Pings are left out: every event is progress.
      return true;
    },
    whole: () => state.stopped,
    reply: () => replyOf(state),
    // Whole signed blocks and begun text.
    partial: () =>
      state.blocks.filter((growing) => isKept(growing) && !isToolUse(growing.block)).map(blockOf),
  };
}

function take(state: StreamState, event: BetaRawMessageStreamEvent, onPart: (part: ModelPart) => void): void {
  switch (event.type) {
    case "message_start":
      state.message = event.message;
      state.transformations = event.message.input_transformations;
      return;
    case "content_block_start": {
      const block = whole(event.content_block as AssistantBlock);
      state.blocks[event.index] = { block, json: "", complete: false };
      if (isToolUse(block)) onPart({ type: "tool_use_started", id: block.id, name: block.name });
      if (block.type === "text" && block.text) onPart({ type: "text_delta", text: block.text });
      return;
    }
    case "content_block_delta":
      grow(growingAt(state, event.index), event.delta, onPart);
      return;
    case "content_block_stop":
      growingAt(state, event.index).complete = true;
      tellSearch(state, event.index, onPart);
      return;
    case "message_delta":
      state.stopReason = event.delta.stop_reason ?? state.stopReason;
      state.usage = event.usage;
      state.transformations = event.input_transformations ?? state.transformations;
      return;
    case "message_stop":
      state.stopped = true;
  }
}

/** Tells of a search whose result has come. */
function tellSearch({ blocks }: StreamState, index: number, onPart: (part: ModelPart) => void): void {
  const result = blocks[index]?.block;
  if (result?.type !== "web_search_tool_result") return;
  const search = searchesIn(blocks.filter(({ complete }) => complete).map(blockOf)).find(
    ({ id }) => id === result.tool_use_id,
  );
  if (search) onPart({ type: "searched", search });
}

/** llama.cpp leaves the input of a call out, which no server takes back. */
function whole(block: AssistantBlock): AssistantBlock {
  return isToolUse(block) && block.input === undefined ? { ...block, input: {} } : block;
}

function growingAt(state: StreamState, index: number): Growing {
  const growing = state.blocks[index];
  if (!growing) throw new ModelError("incomplete", `block ${index} of the stream was never started`);
  return growing;
}

/** The start's own object grows, so its key order is kept. */
function grow(growing: Growing, delta: BetaRawContentBlockDelta, onPart: (part: ModelPart) => void): void {
  const { block } = growing;
  if (delta.type === "text_delta" && block.type === "text") {
    block.text += delta.text;
    onPart({ type: "text_delta", text: delta.text });
  } else if (delta.type === "thinking_delta" && block.type === "thinking") {
    block.thinking += delta.thinking;
    onPart({ type: "thinking_delta", text: delta.thinking });
  } else if (delta.type === "signature_delta" && block.type === "thinking") {
    block.signature = delta.signature;
  } else if (delta.type === "input_json_delta" && takesInput(block)) {
    growing.json += delta.partial_json;
    if (isToolUse(block)) onPart({ type: "input_delta", id: block.id, text: delta.partial_json });
  } else if (delta.type === "citations_delta" && block.type === "text") {
    block.citations = [...(block.citations ?? []), delta.citation];
  }
}

function takesInput(block: AssistantBlock): block is ToolUseBlock | ServerToolUseBlock {
  return isToolUse(block) || block.type === "server_tool_use";
}

function replyOf(state: StreamState): ModelReply {
  const { message, stopReason } = state;
  if (!message || !stopReason || !state.stopped)
    throw new ModelError("incomplete", "the stream ended before the reply was complete");
  const cut = cutReasons.includes(stopReason);
  const blocks = state.blocks.filter((growing) => !(cut && isToolUse(growing.block)));
  if (!cut && blocks.some((growing) => !growing.complete))
    throw new ModelError("incomplete", "the stream ended in the middle of a block");
  const cacheMissReason = message.diagnostics?.cache_miss_reason?.type;
  const dropped = state.transformations?.filter((entry) => entry.type === "thinking_dropped").length;
  return {
    content: blocks.filter(isKept).map(blockOf),
    stopReason,
    usage: usageOf(message, state.usage),
    model: message.model,
    messageId: message.id,
    ...(cacheMissReason ? { cacheMissReason } : {}),
    ...(dropped ? { droppedThinking: dropped } : {}),
  };
}

/** Unsigned thinking, empty text and the beginning of a search cannot be sent back (provider-facts §1). */
function isKept({ block, complete }: Growing): boolean {
  if (block.type === "text") return block.text !== "";
  if (block.type === "thinking" && !block.signature) return false;
  return complete || !(isThinking(block) || isSearch(block));
}

/** The block with a call's input read; no input at all means no arguments. */
function blockOf({ block, json }: Growing): AssistantBlock {
  if (!takesInput(block) || !json) return block;
  try {
    return { ...block, input: JSON.parse(json) };
  } catch {
    throw new ModelError("incomplete", `the input of the call ${block.name} is not JSON`);
  }
}

/** The last event's counts win; what it leaves out was final at the start. */
function usageOf({ usage }: BetaMessage, last: BetaMessageDeltaUsage | undefined): Usage {
  const known = Object.entries(last ?? {}).filter(([, count]) => count !== null);
  const final: Partial<BetaUsage> = { ...usage, ...Object.fromEntries(known) };
  const searches = final.server_tool_use?.web_search_requests ?? 0;
  const written1h = final.cache_creation?.ephemeral_1h_input_tokens ?? 0;
  return {
    inputTokens: final.input_tokens ?? 0,
    cacheReadTokens: final.cache_read_input_tokens ?? 0,
    cacheWrite5mTokens: Math.max(0, (final.cache_creation_input_tokens ?? 0) - written1h),
    cacheWrite1hTokens: written1h,
    outputTokens: final.output_tokens ?? 0,
    ...(searches > 0 ? { webSearches: searches } : {}),
  };
}
