/** Bills the misses of a replay: each is one more step that reads the thing again, and its tokens carried after. Pure. */

import { walker } from "../../context/report/walk.ts";
import type { ObservationKind } from "../../context/reuse/kind.ts";
import type { LineTable } from "../../context/reuse/lines.ts";
import { missReader, rereadUsage } from "../../context/reuse/misses.ts";
import type { View } from "../../context/view/view.ts";
import type { AssistantBlock } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { costOf, inputTotal, type ModelCard, type Usage } from "../../core/model-card.ts";

export type Misses = {
  /** Things that replies quote and no longer had. */
  misses: number;
  missesByKind: Partial<Record<ObservationKind, number>>;
  /** Dollars of reading them again; not in `cost`. */
  rereadCost: number;
};

export type MissMeter = {
  result: Misses;
  /** `whole`: the recorded text of a result that was shortened before it was first sent. */
  take(event: LogEvent, whole?: string): void;
  /** Bills a reply to a request with this view and usage. */
  reply(content: readonly AssistantBlock[], view: View, usage: Usage): void;
};

/** The misses of one replay. `table`: the lines of the recording, where several replays share them. */
export function missMeter({ contract, prices }: ModelCard, table?: LineTable): MissMeter {
  const reader = missReader(table);
  const result: Misses = { misses: 0, missesByKind: {}, rereadCost: 0 };
  const reply = (content: readonly AssistantBlock[], view: View, usage: Usage): void => {
    const carried = reader.carried();
    result.rereadCost += costOf(withMore(usage, carried), prices) - costOf(usage, prices);
    let context = inputTotal(usage) + carried;
    for (const missed of reader.missed(content, view)) {
      result.misses += 1;
      result.missesByKind[missed.kind] = (result.missesByKind[missed.kind] ?? 0) + 1;
      result.rereadCost += costOf(rereadUsage({ ...missed, context }, contract), prices);
      context += missed.call + missed.result;
    }
  };
  return { result, take: reader.take, reply };
}

/** Tokens that stand in the middle of a request are read from the cache where it read anything, else written. */
function withMore(usage: Usage, more: number): Usage {
  if (usage.cacheReadTokens > 0) return { ...usage, cacheReadTokens: usage.cacheReadTokens + more };
  if (usage.cacheWrite5mTokens > 0) return { ...usage, cacheWrite5mTokens: usage.cacheWrite5mTokens + more };
  return { ...usage, inputTokens: usage.inputTokens + more };
}

/** The misses of a session as it ran, from its log: each reply against the view at its request. */
export function missesIn(events: readonly LogEvent[], card: ModelCard): Misses {
  const meter = missMeter(card);
  const walk = walker();
  let view: View | undefined;
  for (const event of events) {
    view = walk(event)?.view ?? view;
    if (event.type === "assistant_message" && view) meter.reply(event.content, view, event.usage);
    meter.take(event);
  }
  return meter.result;
}
