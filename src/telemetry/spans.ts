/**
 * Spans and measurements of a log, by the GenAI conventions of OpenTelemetry: a turn is `invoke_agent`, a model call
 * `chat`, a tool call `execute_tool`. Each event is looked at once, as it is appended.
 */

import { resultText } from "../core/blocks.ts";
import type { EventOf, LogEvent } from "../core/events.ts";
import { costOf, inputTotal, type ModelCard } from "../core/model-card.ts";
import { modelAttributes, usageAttributes, withError } from "./model-attributes.ts";
import type { Attributes, Measurement, Span, SpanEvent } from "./span.ts";

export type SpanContext = {
  /** Returns a part of the hash of `key`, as so many hexadecimal digits: the same for the same key. */
  id(key: string, digits: 16 | 32): string;
  /** The span that the whole session belongs to, from the environment. */
  parent?: { traceId: string; spanId: string } | undefined;
  /** Takes secrets out; absent where no contents are wanted. */
  contents?: ((text: string) => string) | undefined;
};

export type Observed = { spans: Span[]; measurements: Measurement[] };

/** Longest content in an attribute, in characters. */
const mostContent = 16_000;

type Turn = {
  traceId: string;
  spanId: string;
  start: number;
  events: SpanEvent[];
  cost: number;
  usage: [number, number];
};
type Call = { name: string; input: unknown; at: number; spanId: string };
type Delegate = { spanId: string; start: number; parentId: string; role?: string | undefined };
type Request = { at: number; events: SpanEvent[]; estimated: number; error?: string };

/** State between two events. It holds what is open, not what is over. */
type State = {
  session: string;
  model: ModelCard | undefined;
  effort: string | undefined;
  message: EventOf<"user_message"> | undefined;
  turn: Turn | undefined;
  request: Request | undefined;
  calls: Map<string, Call>;
  delegates: Map<string, Delegate>;
  isEdited: boolean;
};

/** Creates an observer of one log. `next` is given each event in order and returns what it completes. */
export function observer(context: SpanContext): { next(event: LogEvent): Observed } {
  const state: State = {
    ...{ session: "", model: undefined, effort: undefined, message: undefined, turn: undefined },
    ...{ request: undefined, calls: new Map(), delegates: new Map(), isEdited: false },
  };
  return { next: (event) => observe(state, event, context) };
}

const nothing: Observed = { spans: [], measurements: [] };

function observe(state: State, event: LogEvent, context: SpanContext): Observed {
  switch (event.type) {
    case "session_started":
      state.session = event.sessionId;
      state.model = event.model;
      state.effort = event.effort;
      return nothing;
    case "model_changed":
      state.model = event.model;
      state.effort = event.effort;
      return nothing;
    case "user_message":
      // Words that came during a turn belong to it.
      if (!state.turn) state.message = event;
      return nothing;
    case "model_request":
      state.turn ??= turnAt(state, event, context);
      state.request = { at: event.at, events: [], estimated: event.tokensEstimated };
      return nothing;
    case "model_failed":
      state.request?.events.push(failure(event));
      if (state.request) state.request.error = event.kind;
      return nothing;
    case "assistant_message":
      return replied(state, event, context);
    case "summary_call":
      return summarized(state, event, context);
    case "permission_decided": {
      const call = state.calls.get(event.toolUseId);
      // A question may have waited for its answer until now.
      if (call) call.at = event.at;
      return nothing;
    }
    case "tool_result":
      return called(state, event, context);
    case "context_edited":
      state.isEdited = true;
      state.turn?.events.push(edited(event, context));
      return nothing;
    case "warning":
      if (event.code) note(state, event, "sawtooth.warning", { "sawtooth.warning.code": event.code });
      return nothing;
    case "delegate_started":
      return begun(state, event, context);
    case "delegate_called":
      return delegateCalled(state, event, context);
    case "delegate_ended":
      return delegateEnded(state, event);
    case "turn_ended":
      return turnEnded(state, event, context);
    default:
      return nothing;
  }
}

function turnAt(state: State, { at, seq }: LogEvent, { id, parent }: SpanContext): Turn {
  const key = `${state.session} turn ${seq}`;
  return {
    traceId: parent?.traceId ?? id(key, 32),
    spanId: id(`${key} span`, 16),
    start: state.message?.at ?? at,
    ...{ events: [], cost: 0, usage: [0, 0] },
  };
}

function note(state: State, { at }: LogEvent, name: string, attributes: Attributes): void {
  state.turn?.events.push({ name, at, attributes });
}

function failure({ at, kind, attempt, waitMs }: EventOf<"model_failed">): SpanEvent {
  const waited = waitMs === undefined ? {} : { "sawtooth.retry.wait_ms": waitMs };
  return {
    name: "sawtooth.model_failed",
    at,
    attributes: { "error.type": kind, "sawtooth.retry.attempt": attempt, ...waited },
  };
}

/** The numbers of an edit and what asked for it; its reason may quote the model. */
function edited(
  { at, policy, reason, edits, economics, fold }: EventOf<"context_edited">,
  context: SpanContext,
): SpanEvent {
  const numbers = Object.entries(economics).filter(([, value]) => typeof value === "number");
  const { reason: cause } = economics;
  return {
    name: "sawtooth.context_edited",
    at,
    attributes: {
      "sawtooth.edit.policy": policy,
      "sawtooth.edit.count": edits.length,
      "sawtooth.edit.fold": fold !== undefined,
      ...(cause === undefined ? {} : { "sawtooth.edit.cause": cause }),
      ...Object.fromEntries(numbers.map(([name, value]) => [`sawtooth.edit.${name}`, value])),
      ...contentAs("sawtooth.edit.reason", () => reason, context),
    },
  };
}

type ModelCall = {
  event: EventOf<"assistant_message" | "summary_call" | "delegate_called">;
  card: ModelCard | undefined;
  parentId: string | undefined;
  start?: number | undefined;
  attributes: Attributes;
  events?: readonly SpanEvent[];
  error?: string | undefined;
};

/** The span of a model call and its measurements; its cost goes to the turn. */
function modelCall(
  state: State,
  { event, card, parentId, attributes, ...more }: ModelCall,
  context: SpanContext,
): Observed {
  const { usage, durationMs, model, at, seq } = event;
  const named = modelAttributes(card, model);
  const cost = card ? costOf(usage, card.prices) : 0;
  const { turn } = state;
  if (turn) {
    turn.cost += cost;
    turn.usage = [turn.usage[0] + inputTotal(usage), turn.usage[1] + usage.outputTokens];
  }
  const key = `${state.session} model ${seq}`;
  const span: Span = {
    traceId: turn?.traceId ?? context.parent?.traceId ?? context.id(key, 32),
    spanId: context.id(`${key} span`, 16),
    parentId: parentId ?? turn?.spanId ?? context.parent?.spanId,
    ...{ name: `chat ${named["gen_ai.request.model"]}`, kind: "client" },
    ...{ start: more.start ?? at - durationMs, end: at },
    attributes: {
      ...named,
      "gen_ai.conversation.id": state.session,
      ...usageAttributes(usage),
      "sawtooth.cost.usd": cost,
      ...attributes,
    },
    ...{ events: more.events ?? [], error: more.error },
  };
  const tokens = (type: string, value: number): Measurement => ({
    metric: "gen_ai.client.token.usage",
    value,
    attributes: { ...named, "gen_ai.token.type": type },
  });
  return {
    spans: [span],
    measurements: [
      {
        metric: "gen_ai.client.operation.duration",
        value: durationMs / 1000,
        attributes: withError(named, more.error),
      },
      tokens("input", inputTotal(usage)),
      tokens("output", usage.outputTokens),
      { metric: "sawtooth.cost", value: cost, attributes: named },
    ],
  };
}

function replied(state: State, event: EventOf<"assistant_message">, context: SpanContext): Observed {
  const { request } = state;
  state.request = undefined;
  for (const block of event.content) {
    if (block.type !== "tool_use") continue;
    const spanId = context.id(`${state.session} call ${block.id} ${event.seq}`, 16);
    state.calls.set(block.id, { name: block.name, input: block.input, at: event.at, spanId });
  }
  const text = () =>
    JSON.stringify([
      { role: "assistant", parts: event.content.flatMap(partOf), finish_reason: event.stopReason },
    ]);
  return modelCall(
    state,
    {
      ...{ event, card: state.model, parentId: undefined, events: request?.events ?? [] },
      start: request && Math.min(request.at, event.at - event.durationMs),
      attributes: {
        "gen_ai.response.finish_reasons": [event.stopReason],
        ...(event.messageId === undefined ? {} : { "gen_ai.response.id": event.messageId }),
        ...(state.effort === undefined ? {} : { "gen_ai.request.reasoning.level": state.effort }),
        "gen_ai.request.stream": true,
        "gen_ai.conversation.compacted": state.isEdited,
        ...(request ? { "sawtooth.request.tokens_estimated": request.estimated } : {}),
        ...contentAs("gen_ai.output.messages", text, context),
      },
    },
    context,
  );
}

/** A part of a message in the shape of the conventions. Thinking is left out. */
function partOf(block: EventOf<"assistant_message">["content"][number]): object[] {
  if (block.type === "text") return [{ type: "text", content: block.text }];
  if (block.type !== "tool_use") return [];
  return [{ type: "tool_call", id: block.id, name: block.name, arguments: block.input }];
}

function summarized(state: State, event: EventOf<"summary_call">, context: SpanContext): Observed {
  const error = event.outcome === "failed" ? "summary_failed" : undefined;
  const attributes = { "sawtooth.purpose": event.purpose, "sawtooth.summary.outcome": event.outcome };
  return modelCall(
    state,
    { event, card: event.card ?? state.model, parentId: undefined, attributes, error },
    context,
  );
}

function called(state: State, event: EventOf<"tool_result">, context: SpanContext): Observed {
  const call = state.calls.get(event.toolUseId);
  state.calls.delete(event.toolUseId);
  const { turn } = state;
  if (!turn || !call) return nothing;
  const error = event.rejected ?? (event.isError ? "tool_error" : undefined);
  const start =
    event.stats?.durationMs === undefined ? call.at : Math.max(call.at, event.at - event.stats.durationMs);
  const exit = event.stats?.exitCode === undefined ? {} : { "process.exit.code": event.stats.exitCode };
  const named = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": event.toolName };
  const span: Span = {
    ...{ traceId: turn.traceId, spanId: call.spanId, parentId: turn.spanId },
    ...{ name: `execute_tool ${event.toolName}`, kind: "internal", start, end: event.at, events: [], error },
    attributes: {
      ...named,
      "gen_ai.tool.call.id": event.toolUseId,
      "gen_ai.tool.type": "function",
      "gen_ai.conversation.id": state.session,
      ...exit,
      ...contentAs("gen_ai.tool.call.arguments", () => JSON.stringify(call.input), context),
      ...contentAs("gen_ai.tool.call.result", () => resultText(event.content), context),
    },
  };
  const seconds = (event.at - start) / 1000;
  const measured: Measurement = {
    metric: "gen_ai.execute_tool.duration",
    value: seconds,
    attributes: withError(named, error),
  };
  return { spans: [span], measurements: event.rejected ? [] : [measured] };
}

function begun(state: State, event: EventOf<"delegate_started">, { id }: SpanContext): Observed {
  const { turn } = state;
  if (!turn) return nothing;
  state.delegates.set(event.delegate, {
    spanId: id(`${state.session} delegate ${event.delegate}`, 16),
    start: event.at,
    parentId: state.calls.get(event.toolUseId)?.spanId ?? turn.spanId,
    role: event.role,
  });
  return nothing;
}

function delegateCalled(state: State, event: EventOf<"delegate_called">, context: SpanContext): Observed {
  const parentId = state.delegates.get(event.delegate)?.spanId;
  return modelCall(state, { event, card: event.card ?? state.model, parentId, attributes: {} }, context);
}

function delegateEnded(state: State, event: EventOf<"delegate_ended">): Observed {
  const delegate = state.delegates.get(event.delegate);
  state.delegates.delete(event.delegate);
  if (!state.turn || !delegate) return nothing;
  const { spanId, parentId, start, role } = delegate;
  const name = role ?? "sub-agent";
  const span: Span = {
    ...{ traceId: state.turn.traceId, spanId, parentId, name: `invoke_agent ${name}`, kind: "internal" },
    ...{ start, end: event.at, events: [], error: errorOf(event.reason) },
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": name,
      "gen_ai.agent.id": event.delegate,
      "gen_ai.conversation.id": state.session,
      "sawtooth.turn.end": event.reason,
      "sawtooth.cost.usd": event.economics.apartUsd,
    },
  };
  return { spans: [span], measurements: [] };
}

/** An end that is no error: the model was done, or the person stopped it. */
function errorOf(reason: EventOf<"turn_ended">["reason"]): string | undefined {
  return reason === "completed" || reason === "interrupted" ? undefined : reason;
}

function turnEnded(state: State, event: EventOf<"turn_ended">, context: SpanContext): Observed {
  const { turn, request, message, model } = state;
  Object.assign(state, { turn: undefined, request: undefined, message: undefined });
  state.calls.clear();
  state.delegates.clear();
  if (!turn) return nothing;
  const named = modelAttributes(model);
  const input = () =>
    JSON.stringify([
      {
        role: "user",
        parts: message?.content.flatMap((block) =>
          block.type === "text" ? [{ type: "text", content: block.text }] : [],
        ),
      },
    ]);
  const span: Span = {
    ...{ traceId: turn.traceId, spanId: turn.spanId, parentId: context.parent?.spanId },
    ...{ name: "invoke_agent sawtooth", kind: "internal", start: turn.start, end: event.at },
    ...{ events: turn.events, error: errorOf(event.reason) },
    attributes: {
      ...named,
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": "sawtooth",
      "gen_ai.conversation.id": state.session,
      "gen_ai.usage.input_tokens": turn.usage[0],
      "gen_ai.usage.output_tokens": turn.usage[1],
      "sawtooth.cost.usd": turn.cost,
      "sawtooth.turn.end": event.reason,
      ...(message ? contentAs("gen_ai.input.messages", input, context) : {}),
    },
  };
  if (!request) return { spans: [span], measurements: [] };
  const error = request.error ?? event.reason;
  const failed: Span = {
    ...{ traceId: turn.traceId, parentId: turn.spanId },
    spanId: context.id(`${state.session} failed ${event.seq}`, 16),
    ...{ name: `chat ${named["gen_ai.request.model"]}`, kind: "client", start: request.at, end: event.at },
    attributes: { ...named, "gen_ai.conversation.id": state.session },
    ...{ events: request.events, error },
  };
  const value = (event.at - request.at) / 1000;
  const measured: Measurement = {
    metric: "gen_ai.client.operation.duration",
    value,
    attributes: withError(named, error),
  };
  return { spans: [failed, span], measurements: [measured] };
}

/** Returns a content as an attribute; none unless contents are wanted. */
function contentAs(name: string, text: () => string, { contents }: SpanContext): Attributes {
  return contents ? { [name]: contents(text()).slice(0, mostContent) } : {};
}
