/** From a request to a reply: what is refused, which turn is played, what it costs, what goes wrong. */

import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Message } from "../../src/core/blocks.ts";
import { ModelError } from "../../src/core/ports.ts";
import { type Fault, playReply, replyAt, type ScriptedReply } from "../../src/models/playback/script.ts";
import { firstPath, newestInput, replyUsage } from "../../src/models/playback/scripted.ts";
import { type Billing, measured } from "./mock-billing.ts";
import { offeredTools } from "./mock-gating.ts";
import { refuseSearch, type Searches, sealPage } from "./mock-search.ts";
import type { Exchange, MockOptions } from "./mock-server.ts";
import {
  bareEvents,
  cut,
  errorTypes,
  eventsOf,
  messageOf,
  sendEvents,
  sendJson,
  type WireReply,
} from "./mock-stream.ts";
import { checkRunningLoop, checkThinking, type ThinkingCheck, tokenIn } from "./mock-thinking.ts";
import { bindingBeta, thinks, validate } from "./mock-validate.ts";
import { hashOf, isThinkingBlock, RefusedError, type WireBlock, type WireBody } from "./mock-wire.ts";

export type ReplyState = {
  options: MockOptions;
  /** Bodies of the requests that were not refused. */
  requests: WireBody[];
  billing: Billing;
  /** Thinking signatures of the reply that made a call, by the call's id. */
  thoughtFor: Map<string, string[]>;
  searches: Searches;
};

type Incoming = { raw: Buffer; betas: ReadonlySet<string>; exchange: Exchange; response: ServerResponse };
type Accepted = ReturnType<typeof accepted>;

/** Answers a request. Throws `RefusedError` for what the API refuses, and when the script does not fit. */
export async function reply(state: ReplyState, incoming: Incoming): Promise<void> {
  const { exchange, response } = incoming;
  const request = accepted(state, incoming.raw, incoming.betas);
  const index = state.requests.push(request.body) - 1;
  const { turn, number } = scripted(() => replyAt(state.options.turns, request.body, index));
  const fault = turn.fault ?? {};
  if (fault.delayMs) await sleep(fault.delayMs);
  if (fault.dropConnection || fault.closeAfterEvents !== undefined) exchange.cutByServer = true;
  if (fault.dropConnection) return cut(response);
  if (fault.status !== undefined) return answerStatus(fault, exchange, response);
  const made = scripted(() => play(state, incoming, request, { turn, number, index }));
  Object.assign(exchange, { status: 200, usage: made.usage, messageId: made.id });
  if (!request.body.stream) return sendJson(response, 200, messageOf(made));
  const events = eventsOf(made, fault);
  const sent = state.options.bare ? bareEvents(events) : events;
  await sendEvents(response, sent, fault, state.options.pingMs ?? 5000);
}

/** Input tokens of a request. Throws `RefusedError`. */
export function countTokens(state: ReplyState, raw: Buffer, betas: ReadonlySet<string>): number {
  const { body, model } = validate(raw, betas, state.options.models ?? {}, "count");
  return measured(body, model).tokens;
}

function accepted(state: ReplyState, raw: Buffer, betas: ReadonlySet<string>) {
  const { body, model } = validate(raw, betas, state.options.models ?? {});
  const found = state.searches.resultsFor(body);
  const thinking = checkThinking(body, model, { betas, found: found as WireBlock[] });
  checkRunningLoop(body, model, state.thoughtFor);
  return { body, model, found, thinking, measured: measured(thinking.body, model) };
}

/** A script that does not fit is a refusal, so that no client tries again. */
function scripted<T>(run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (error instanceof ModelError) throw new RefusedError(`mock script: ${error.message}`);
    throw error;
  }
}

function answerStatus(
  { status = 500, headers, body }: Fault,
  exchange: Exchange,
  response: ServerResponse,
): void {
  const type = errorTypes[status] ?? "api_error";
  exchange.status = status;
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  sendJson(response, status, body ?? { type: "error", error: { type, message: `scripted ${status}` } });
}

function play(
  state: ReplyState,
  { raw, betas }: Incoming,
  { body, model, found, thinking, measured }: Accepted,
  { turn, number, index }: { turn: ScriptedReply; number: number; index: number },
): WireReply {
  const seal = hashOf(raw.toString()).replace(/\W/g, "").slice(0, 8);
  const id = `msg_${seal}_${index + 1}`;
  const now = (state.options.now ?? Date.now)();
  const bill = state.billing.bill({ ...measured, body: thinking.body, model, messageId: id, now });
  const messages = body.messages as Message[];
  const omitted =
    (body.thinking?.display ?? (model.adaptive === "always" ? "omitted" : "summarized")) === "omitted";
  const played = playReply(turn, {
    number,
    idBase: `toolu_${seal}_${index + 1}`,
    newest: newestInput(messages),
    cwd: state.options.cwd ?? firstPath(messages),
    seal: sealPage,
    sign: thinks(body, model) ? (text) => thinking.sign(omitted ? "" : text) : undefined,
  });
  const { stopReason } = played;
  const content = [...found, ...played.content];
  refuseSearch(body, turn);
  state.searches.remember(turn, played.content);
  refuseWithdrawn(body, content);
  const shown = content.map((block) =>
    omitted && block.type === "thinking" ? { ...block, thinking: "" } : block,
  );
  remember(state, shown);
  const searched = content.filter(({ type }) => type === "web_search_tool_result").length;
  const usage = {
    ...replyUsage(turn, bill.usage, content),
    ...(searched > 0 ? { webSearches: searched } : {}),
  };
  return {
    id,
    model: body.model,
    content: shown,
    stopReason,
    usage,
    extra: extras(body, betas, thinking, bill.missed),
  };
}

/** The API does not let the model call what is not offered: a script that does so plays no model. */
function refuseWithdrawn(body: WireBody, content: WireReply["content"]): void {
  const offered = offeredTools(body);
  const calls = (content as WireBlock[]).filter((block) => block.type === "tool_use");
  const call = calls.find(({ name = "" }) => declared(body, name) && !offered.has(name));
  if (call) throw new ModelError("script", `it calls ${call.name}, which was withdrawn`);
}

function declared({ tools }: WireBody, name: string): boolean {
  return tools.some((tool) => tool.name === name);
}

function remember(state: ReplyState, content: WireReply["content"]): void {
  const blocks = content as WireBlock[];
  const thoughts = blocks.filter(isThinkingBlock).map(tokenIn);
  for (const block of blocks) if (block.type === "tool_use") state.thoughtFor.set(block.id ?? "", thoughts);
}

function extras(
  body: WireBody,
  betas: ReadonlySet<string>,
  { dropped }: ThinkingCheck,
  missed: unknown,
): Record<string, unknown> {
  const reason = "prefix_binding_mismatch";
  const transformations = dropped.map((path) => ({ type: "thinking_dropped", path, reason }));
  return {
    diagnostics: body.diagnostics ? { cache_miss_reason: missed } : null,
    ...(betas.has(bindingBeta) ? { input_transformations: transformations } : {}),
  };
}
