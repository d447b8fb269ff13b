/** Sends a reply as server-sent events, with whatever is to go wrong (provider-facts §5). */

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { AssistantBlock } from "../../src/core/blocks.ts";
import type { Usage } from "../../src/core/model-card.ts";
import type { Fault } from "../../src/models/playback/script.ts";
import { inPieces } from "../../src/models/playback/scripted.ts";

type WireEvent = { type: string } & Record<string, unknown>;

export type WireReply = {
  id: string;
  model: string;
  content: AssistantBlock[];
  stopReason: string;
  usage: Usage;
  /** Further fields of the message: `diagnostics`, `input_transformations`. */
  extra: Record<string, unknown>;
};

/** The message object, as it is answered without streaming. */
export function messageOf({
  id,
  model,
  content,
  stopReason,
  usage,
  extra,
}: WireReply): Record<string, unknown> {
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    stop_details: null,
    container: null,
    ...extra,
    usage: wireUsage(usage),
  };
}

function wireUsage(usage: Usage): Record<string, unknown> {
  return {
    input_tokens: usage.inputTokens,
    cache_creation_input_tokens: usage.cacheWrite5mTokens + usage.cacheWrite1hTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5mTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    },
    output_tokens: usage.outputTokens,
    ...(usage.webSearches
      ? { server_tool_use: { web_search_requests: usage.webSearches, web_fetch_requests: 0 } }
      : {}),
    service_tier: "standard",
  };
}

/** The events of a reply. With `cutToolJson` the last call's input breaks off in its middle. */
export function eventsOf(reply: WireReply, { cutToolJson = false }: Fault = {}): WireEvent[] {
  const lastCall = reply.content.findLastIndex((block) => block.type === "tool_use");
  const blocks = cutToolJson ? reply.content.slice(0, lastCall + 1) : reply.content;
  const message = { ...messageOf(reply), content: [], stop_reason: null };
  const begun = { ...wireUsage(reply.usage), output_tokens: 1 };
  const stopReason = cutToolJson ? "max_tokens" : reply.stopReason;
  return [
    { type: "message_start", message: { ...message, usage: begun } },
    ...blocks.flatMap((block, index) => blockEvents(block, index, cutToolJson && index === lastCall)),
    {
      type: "message_delta",
      delta: { stop_reason: stopReason, stop_sequence: null },
      usage: wireUsage(reply.usage),
    },
    { type: "message_stop" },
  ];
}

/**
 * The same events as llama.cpp sends them: a call begins without an input, which never comes where it is empty, all
 * blocks end together, and the bill tells
 * neither what was written to the cache nor, at the end, what was read.
 */
export function bareEvents(events: readonly WireEvent[]): WireEvent[] {
  const [ends, others] = [true, false].map((isEnd) =>
    events.filter(({ type }) => (type === "content_block_stop") === isEnd),
  ) as [WireEvent[], WireEvent[]];
  const told = others.filter(({ delta }) => (delta as { partial_json?: string })?.partial_json !== "{}");
  const last = told.findIndex(({ type }) => type === "message_delta");
  return [...told.slice(0, last), ...ends, ...told.slice(last)].map(bare);
}

function bare(event: WireEvent): WireEvent {
  if (event.type === "content_block_start") {
    const { input: _, ...block } = event.content_block as Record<string, unknown>;
    return { ...event, content_block: block };
  }
  if (event.type === "message_delta") {
    const { output_tokens } = event.usage as Record<string, unknown>;
    return { ...event, usage: { output_tokens } };
  }
  if (event.type !== "message_start") return event;
  const { usage, ...message } = event.message as { usage: Record<string, unknown> };
  const { input_tokens, cache_read_input_tokens } = usage;
  return {
    ...event,
    message: { ...message, usage: { input_tokens, cache_read_input_tokens, output_tokens: 0 } },
  };
}

function blockEvents(block: AssistantBlock, index: number, cut: boolean): WireEvent[] {
  const start = (content_block: unknown) => ({ type: "content_block_start", index, content_block });
  const delta = (body: Record<string, unknown>) => ({ type: "content_block_delta", index, delta: body });
  const stop = { type: "content_block_stop", index };
  switch (block.type) {
    case "text":
      return [
        start({ type: "text", text: "", ...(block.citations ? { citations: [] } : {}) }),
        ...(block.citations ?? []).map((citation) => delta({ type: "citations_delta", citation })),
        ...inPieces(block.text).map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...inPieces(block.thinking).map((thinking) => delta({ type: "thinking_delta", thinking })),
        delta({ type: "signature_delta", signature: block.signature }),
        stop,
      ];
    case "redacted_thinking":
    case "web_search_tool_result":
      return [start(block), stop];
    case "server_tool_use":
      return [
        start({ ...block, input: {} }),
        ...["", ...inPieces(JSON.stringify(block.input))].map((part) =>
          delta({ type: "input_json_delta", partial_json: part }),
        ),
        stop,
      ];
    case "tool_use": {
      const json = JSON.stringify(block.input);
      const sent = cut ? json.slice(0, Math.ceil(json.length / 2)) : json;
      const deltas = ["", ...inPieces(sent)].map((part) =>
        delta({ type: "input_json_delta", partial_json: part }),
      );
      return [start({ type: "tool_use", id: block.id, name: block.name, input: {} }), ...deltas, stop];
    }
  }
}

/** Types of the API's errors by status. */
export const errorTypes: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  500: "api_error",
  504: "timeout_error",
  529: "overloaded_error",
};

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

/** Sends the events, up to what goes wrong. Resolves when the response is over, whoever ended it. */
export async function sendEvents(
  response: ServerResponse,
  events: readonly WireEvent[],
  fault: Fault,
  pingMs: number,
): Promise<void> {
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
  });
  response.flushHeaders();
  const sent = fault.noMessageStop ? events.slice(0, -1) : events;
  for (const [index, event] of [...sent, undefined].entries()) {
    if (response.destroyed) return;
    if (fault.closeAfterEvents === index) return cut(response);
    if (fault.silentAfterEvents === index) return silence(response, pingMs);
    if (fault.errorEventAfter === index) {
      const type = fault.type ?? "overloaded_error";
      await write(response, { type: "error", error: { type, message: "Overloaded" } });
      break;
    }
    if (!event) break;
    await write(response, event);
    if (index === 1) await write(response, { type: "ping" });
    if (fault.pauseMs) await sleep(fault.pauseMs);
  }
  response.end();
}

async function write(response: ServerResponse, event: WireEvent): Promise<void> {
  if (response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, () => resolve());
  });
}

/** Breaks the connection in the middle of the response. */
export function cut(response: ServerResponse): void {
  response.socket?.destroy();
}

async function silence(response: ServerResponse, pingMs: number): Promise<void> {
  const pings = setInterval(() => response.write('event: ping\ndata: {"type": "ping"}\n\n'), pingMs);
  await new Promise((resolve) => response.once("close", resolve));
  clearInterval(pings);
}
