/** Queries on the log. Nothing that the log can answer is stored elsewhere. Pure. */

import { isSearch, isToolUse, type ToolUseBlock } from "./blocks.ts";
import type { EventOf, LogEvent } from "./events.ts";
import { memoizedReduce } from "./memoize.ts";
import { addUsage, costOf, type ModelCard, noUsage, type Usage } from "./model-card.ts";
import { spokenText } from "./text/search-text.ts";
import { toolNames } from "./tool-calls.ts";

const newest = memoizedReduce(
  () => new Map<LogEvent["type"], LogEvent>(),
  (byType, event) => byType.set(event.type, event),
);

export function lastOf<T extends LogEvent["type"]>(
  events: readonly LogEvent[],
  type: T,
): EventOf<T> | undefined {
  return newest(events).get(type) as EventOf<T> | undefined;
}

export function allOf<T extends LogEvent["type"]>(events: readonly LogEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** Finds the event with this seq. In a damaged log with gaps its index may be lower than its seq. */
export function eventAt(events: readonly LogEvent[], seq: number): LogEvent | undefined {
  for (let index = Math.min(seq, events.length - 1); index >= 0; index--) {
    const event = events[index];
    if (!event || event.seq < seq) return undefined;
    if (event.seq === seq) return event;
  }
  return undefined;
}

/** Returns the index of the first item at or after `seq`, by bisection over items in log order. */
export function indexFrom(items: readonly { seq: number }[], seq: number): number {
  let [low, high] = [0, items.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.seq ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

const said = memoizedReduce<EventOf<"user_message">[]>(
  () => [],
  (messages, event) => {
    if (event.type === "user_message") messages.push(event);
    return messages;
  },
);

/** Returns the user's messages, oldest first. */
export function userMessages(events: readonly LogEvent[]): readonly EventOf<"user_message">[] {
  return [...said(events)];
}

/** Returns the first event of a log. Throws when the log is empty, which is a bug in the caller. */
export function started(events: readonly LogEvent[]): EventOf<"session_started"> {
  const first = events[0];
  if (first?.type !== "session_started") throw new Error("the log does not begin with session_started");
  return first;
}

/** The model in force at the end of the log. */
export function currentModel(events: readonly LogEvent[]): { model: ModelCard; effort?: string } {
  const changed = lastOf(events, "model_changed");
  const source = changed ?? started(events);
  return { model: source.model, ...(source.effort ? { effort: source.effort } : {}) };
}

/** The policy stack and the engine's settings in force at the end of the log. */
export function currentEngine(events: readonly LogEvent[]): {
  context: string;
  engine: Record<string, number>;
} {
  const { context, engine = {} } = lastOf(events, "settings_changed") ?? started(events);
  return { context, engine };
}

/** A focus that is open: its `start_focus` call, the seq of that call's result, and the objective. */
export type OpenFocus = { toolUseId: string; resultSeq: number; objective: string };

/** Returns the open focus, neither completed nor collapsed, if any. */
export function openFocus(events: readonly LogEvent[]): OpenFocus | undefined {
  return focusing(events).open;
}

/** Returns the focus that the newest `complete_focus` closed, if one was open. */
export function closedFocus(events: readonly LogEvent[]): OpenFocus | undefined {
  return focusing(events).closed;
}

type Focusing = { calls: ToolUseBlock[]; open?: OpenFocus | undefined; closed?: OpenFocus | undefined };

const focusing = memoizedReduce<Focusing>(
  () => ({ calls: [] }),
  (state, event) => {
    if (event.type === "assistant_message") return { ...state, calls: event.content.filter(isToolUse) };
    if (event.type === "context_edited" && folds(event, state.open)) return { ...state, open: undefined };
    if (event.type !== "tool_result" || event.isError) return state;
    const { toolName, toolUseId, seq } = event;
    if (toolName === toolNames.completeFocus) return { ...state, open: undefined, closed: state.open };
    if (toolName !== toolNames.startFocus) return state;
    const input = state.calls.find(({ id }) => id === toolUseId)?.input as { objective?: string } | undefined;
    return { ...state, open: { toolUseId, resultSeq: seq, objective: input?.objective ?? "" } };
  },
);

/** Returns true when the edit folds the focus in place. A summary that covers only its beginning leaves it open. */
function folds({ edits }: EventOf<"context_edited">, open: OpenFocus | undefined): boolean {
  return edits.some((edit) => edit.type === "collapse" && edit.from === open?.resultSeq);
}

/** The newest call with this id before the event at index `before`. */
export function findCall(
  events: readonly LogEvent[],
  toolUseId: string,
  before = events.length,
): ToolUseBlock | undefined {
  return callsById(events)
    .byId.get(toolUseId)
    ?.findLast(({ index }) => index < before)?.call;
}

/** Lists, because recordings of other programs can reuse an id; otherwise each has one call. */
const callsById = memoizedReduce(
  () => ({ read: 0, byId: new Map<string, { index: number; call: ToolUseBlock }[]>() }),
  (state, event) => {
    const index = state.read++;
    if (event.type !== "assistant_message") return state;
    // If two calls in a reply share an id, the first counts.
    for (const call of event.content.filter(isToolUse).reverse()) {
      const known = state.byId.get(call.id);
      if (known) known.push({ index, call });
      else state.byId.set(call.id, [{ index, call }]);
    }
    return state;
  },
);

/** Absolute paths that the session's tools wrote, in order of first write. */
export function changedFiles(events: readonly LogEvent[]): string[] {
  return [...wrote(events)];
}

const wrote = memoizedReduce<Set<string>>(
  () => new Set(),
  (paths, event) => {
    if (event.type === "tool_result") for (const path of event.stats?.wrote ?? []) paths.add(path);
    return paths;
  },
);

/** `turns`: all model calls, summaries and those of sub-agents included; `replies`: model calls of the conversation alone. */
export type Spending = { turns: number; replies: number; usage: Usage; cost: number; apiMs: number };

/** Totals model calls, tokens and dollars of the session so far, each reply at its own model's prices. */
export function spending(events: readonly LogEvent[]): Spending {
  return spendingSoFar(events).total;
}

const spendingSoFar = memoizedReduce<{ total: Spending; model?: ModelCard }>(
  () => ({ total: { turns: 0, replies: 0, usage: noUsage, cost: 0, apiMs: 0 } }),
  (state, event) => {
    if (event.type === "session_started" || event.type === "model_changed")
      return { ...state, model: event.model };
    if (!isModelCall(event)) return state;
    const model = cardOf(event) ?? state.model;
    return { ...state, total: withCall(state.total, event, model) };
  },
);

/** An event that a model call is billed by. */
export type ModelCall = EventOf<"assistant_message" | "summary_call" | "delegate_called">;

export function isModelCall(event: LogEvent): event is ModelCall {
  return (
    event.type === "assistant_message" || event.type === "summary_call" || event.type === "delegate_called"
  );
}

/** Returns the model that was called, where it is not the one of the session. */
export function cardOf(call: ModelCall): ModelCard | undefined {
  return call.type === "assistant_message" ? undefined : call.card;
}

function withCall(
  total: Spending,
  { type, usage, durationMs }: ModelCall,
  model: ModelCard | undefined,
): Spending {
  return {
    turns: total.turns + 1,
    replies: total.replies + (type === "assistant_message" ? 1 : 0),
    usage: addUsage(total.usage, usage),
    cost: total.cost + (model ? costOf(usage, model.prices) : 0),
    apiMs: total.apiMs + durationMs,
  };
}

/**
 * Returns true while the newest reply is one that the API paused in the middle of its searches: it goes on when it is
 * sent back as it is, with nothing behind it.
 */
export function isPaused(events: readonly LogEvent[]): boolean {
  const newest = events.findLast(({ type }) => speaks.has(type));
  if (newest?.type !== "assistant_message" || newest.stopReason !== "pause_turn") return false;
  const last = newest.content.at(-1);
  return last !== undefined && isSearch(last);
}

/** Events after which a paused reply is no longer the last word. */
const speaks: ReadonlySet<LogEvent["type"]> = new Set<LogEvent["type"]>([
  ...(["assistant_message", "user_message", "tool_result", "reminder", "model_changed"] as const),
]);

/** Returns the events from the newest user message on. */
export function sinceMessage(events: readonly LogEvent[]): readonly LogEvent[] {
  const index = events.findLastIndex(({ type }) => type === "user_message");
  return index < 0 ? events : events.slice(index);
}

/** Returns the text of the newest reply to the newest message that has any; empty when there is none. */
export function lastText(events: readonly LogEvent[]): string {
  const reply = sinceMessage(events).findLast(
    (event) => event.type === "assistant_message" && event.content.some((block) => block.type === "text"),
  );
  if (reply?.type !== "assistant_message") return "";
  return spokenText(reply.content).trim();
}
