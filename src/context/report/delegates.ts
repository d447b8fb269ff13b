/** The sub-agents of a session, from its own log: calls, dollars, ends, and what they would have cost in place. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import {
  addUsage,
  costOf,
  inputTotal,
  type ModelCard,
  noUsage,
  pricesOf,
  type Usage,
} from "../../core/model-card.ts";
import { findCall } from "../../core/questions.ts";

/** `brief`: its first line, after the name of its role. `end`: undefined while it runs, or when the session was cut off meanwhile. */
export type DelegateRow = {
  id: string;
  folder: string;
  brief: string;
  writes: boolean;
  calls: number;
  usage: Usage;
  /** Dollars. */
  cost: number;
  end?: EventOf<"delegate_ended">;
};

/** Returns a row for each sub-agent, in the order of their beginning. */
export function delegateRows(events: readonly LogEvent[]): DelegateRow[] {
  const reader = delegateReader(events);
  for (const event of events) reader.take(event);
  return [...reader.rows.values()];
}

/** Gathers the rows event by event, by the ids of the sub-agents. `events`: the log, which may grow. */
export function delegateReader(events: readonly LogEvent[]): {
  rows: ReadonlyMap<string, DelegateRow>;
  /** Returns the row that the event changed, if any. */
  take(event: LogEvent): DelegateRow | undefined;
} {
  const rows = new Map<string, DelegateRow>();
  let model: ModelCard | undefined;
  const take = (event: LogEvent): DelegateRow | undefined => {
    if (event.type === "session_started" || event.type === "model_changed") model = event.model;
    if (event.type === "delegate_started") rows.set(event.delegate, rowOf(event, events));
    const row =
      "delegate" in event && typeof event.delegate === "string" ? rows.get(event.delegate) : undefined;
    if (row && event.type === "delegate_ended") row.end = event;
    const card = event.type === "delegate_called" ? (event.card ?? model) : undefined;
    if (row && event.type === "delegate_called" && card) {
      row.calls += 1;
      row.usage = addUsage(row.usage, event.usage);
      row.cost += costOf(event.usage, card.prices);
    }
    return row;
  };
  return { rows, take };
}

function rowOf(
  { delegate, folder, toolUseId, writes, role, brief: said }: EventOf<"delegate_started">,
  events: readonly LogEvent[],
): DelegateRow {
  const input = findCall(events, toolUseId)?.input as { brief?: unknown } | undefined;
  const task =
    String(said ?? input?.brief ?? "")
      .trim()
      .split("\n")[0] ?? "";
  const brief = role === undefined ? task : `${role}: ${task}`;
  return { id: delegate, folder, brief, writes, calls: 0, usage: noUsage, cost: 0 };
}

/**
 * Compares the calls of a sub-agent (`calls`, in order) with the same calls in the session that delegated. There each
 * would have read the context of that session from the cache, T tokens, in place of its own first one, S, of which W would
 * not have been written anew: in place = apart + calls × (T − S) × read − W × (write − read). What the calls add
 * themselves counts alike in both.
 */
export function delegateEconomics(
  calls: readonly { usage: Usage; card: ModelCard }[],
  { tokens, card }: { tokens: number; card: ModelCard },
): EventOf<"delegate_ended">["economics"] {
  const apartUsd = calls.reduce((sum, call) => sum + costOf(call.usage, call.card.prices), 0);
  const first = calls[0];
  if (!first) return { calls: 0, apartUsd, inPlaceUsd: 0 };
  const own = inputTotal(first.usage);
  const { cacheRead, cacheWrite5m, input } = pricesOf(first.usage, card.prices);
  const written = own - first.usage.cacheReadTokens;
  const more = calls.length * (tokens - own) * cacheRead - written * ((cacheWrite5m || input) - cacheRead);
  return { calls: calls.length, apartUsd, inPlaceUsd: Math.max(0, apartUsd + more / 1e6) };
}
