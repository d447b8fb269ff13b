/** Questions to the log. What the log can answer is kept nowhere else. Pure. */

import { isToolUse, type ToolUseBlock } from "./blocks.ts";
import type { EventOf, LogEvent } from "./events.ts";
import { addUsage, costOf, type ModelCard, noUsage, type Usage } from "./model-card.ts";

export function lastOf<T extends LogEvent["type"]>(
  events: readonly LogEvent[],
  type: T,
): EventOf<T> | undefined {
  return events.findLast((event): event is EventOf<T> => event.type === type);
}

export function allOf<T extends LogEvent["type"]>(events: readonly LogEvent[], type: T): EventOf<T>[] {
  return events.filter((event): event is EventOf<T> => event.type === type);
}

/** The event with this seq; a damaged log can have gaps, so it may stand before its index. */
export function eventAt(events: readonly LogEvent[], seq: number): LogEvent | undefined {
  for (let index = Math.min(seq, events.length - 1); index >= 0; index--) {
    const event = events[index];
    if (!event || event.seq < seq) return undefined;
    if (event.seq === seq) return event;
  }
  return undefined;
}

/** The first event of every log. Throws when the log is empty: that is a bug of the caller. */
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

/** The policy stack and the engine's numbers in force at the end of the log. */
export function currentEngine(events: readonly LogEvent[]): {
  context: string;
  engine: Record<string, number>;
} {
  const { context, engine = {} } = lastOf(events, "settings_changed") ?? started(events);
  return { context, engine };
}

/** A focus that is open: its `start_focus` call, the seq of that call's result, and the objective. */
export type OpenFocus = { toolUseId: string; resultSeq: number; objective: string };

/** The focus that was started and neither completed nor collapsed, if any. */
export function openFocus(events: readonly LogEvent[]): OpenFocus | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type !== "tool_result" || event.isError) continue;
    if (event.toolName === "complete_focus") return undefined;
    if (event.toolName !== "start_focus") continue;
    const call = findCall(events, event.toolUseId, index);
    const objective = (call?.input as { objective?: string } | undefined)?.objective ?? "";
    return { toolUseId: event.toolUseId, resultSeq: event.seq, objective };
  }
  return undefined;
}

/** The call with this id, looked for backwards from `before`. */
export function findCall(
  events: readonly LogEvent[],
  toolUseId: string,
  before = events.length,
): ToolUseBlock | undefined {
  for (let index = before - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type !== "assistant_message") continue;
    const call = event.content.filter(isToolUse).find((block) => block.id === toolUseId);
    if (call) return call;
  }
  return undefined;
}

/** Absolute paths that the session's tools wrote, in order of first write. */
export function changedFiles(events: readonly LogEvent[]): string[] {
  const paths = allOf(events, "tool_result").flatMap((event) => event.stats?.wrote ?? []);
  return [...new Set(paths)];
}

export type Spending = { turns: number; usage: Usage; cost: number; apiMs: number };

/** Model calls, tokens and dollars of the session so far, each reply at the prices of its own model. */
export function spending(events: readonly LogEvent[]): Spending {
  let model = started(events).model;
  const total: Spending = { turns: 0, usage: noUsage, cost: 0, apiMs: 0 };
  for (const event of events) {
    if (event.type === "model_changed") model = event.model;
    if (event.type !== "assistant_message" && event.type !== "side_call") continue;
    total.turns += 1;
    total.usage = addUsage(total.usage, event.usage);
    total.cost += costOf(event.usage, model.prices);
    total.apiMs += event.durationMs;
  }
  return total;
}
