/** Every context edit with its numbers, and what it was worth in hindsight. Pure. */

import type { ContextEdit, Economics, EventOf, LogEvent } from "../core/events.ts";
import { cacheLifeMs, costOf, type ModelCard, usualLife } from "../core/model-card.ts";
import { started } from "../core/questions.ts";
import { type Elongation, elongationAt, isLossy, repeatsByStep } from "./elongation.ts";
import type { StepRow } from "./report-steps.ts";
import { momentsOf } from "./report-walk.ts";
import { calibration } from "./tokens.ts";
import type { View } from "./view.ts";

export type EditRow = {
  seq: number;
  /** The request it was made for. */
  step: number;
  /** Milliseconds since 1970. */
  at: number;
  policy: string;
  reason: string;
  /** Number of single edits. */
  count: number;
  /** Calibrated tokens that left the view. */
  removed: number;
  /** Calibrated tokens from the earliest edited position on: what the next request had to write again. */
  rewritten: number;
  /** As the policy logged them. */
  economics: Economics;
  hindsight: Hindsight;
  /** Only of lossy edits. */
  elongation?: Elongation;
};

/** Dollars: `saved` by the steps that did not carry the tokens, `spent` on re-writing and on summary calls. */
export type Hindsight = { steps: number; saved: number; spent: number; worth: number };

/** One row for each edit in the log. `steps`: the rows of the same log. */
export function editRows(events: readonly LogEvent[], steps: readonly StepRow[]): EditRow[] {
  const repeats = repeatsByStep(events);
  const circumstances = circumstancesOf(events);
  const rows: EditRow[] = [];
  let charged = 0;
  for (const { event, before, view, tokensBefore } of momentsOf(events)) {
    if (event.type === "model_request") charged = 0;
    if (event.type !== "context_edited") continue;
    const factor = calibration(before);
    const removed = Math.round((tokensBefore - view.tokens) * factor);
    // Several edits before one request re-write the prefix once: each pays for what those before it did not.
    const tail = Math.round(tokensFrom(view, earliest(event.edits)) * factor);
    const rewritten = Math.max(0, tail - charged);
    charged = Math.max(charged, tail);
    const { seq, at, policy, reason, economics } = event;
    const around = circumstances.get(seq);
    rows.push({
      ...{ seq, at, policy, reason, economics, removed, rewritten },
      step: 1 + steps.filter((step) => step.seq < seq).length,
      count: event.edits.length,
      hindsight: hindsightOf({ removed, rewritten, seq, until: coveredAt(events, event) }, steps, around),
      ...(isLossy(event) ? { elongation: elongationAt(repeats, seq) } : {}),
    });
  }
  return rows;
}

/** The first position that reads otherwise than before. */
function earliest(edits: readonly ContextEdit[]): number {
  return Math.min(...edits.map(startOf));
}

function startOf(edit: ContextEdit): number {
  switch (edit.type) {
    case "replace":
      return edit.seq;
    case "collapse":
      return edit.from;
    case "drop_thinking":
      return 0;
  }
}

function tokensFrom({ entries }: View, seq: number): number {
  return entries.reduce((sum, entry) => sum + (entry.seq >= seq ? entry.tokens : 0), 0);
}

/** Seq of the later edit that collapses all this one touched: from there on it is not this one that saves. */
function coveredAt(events: readonly LogEvent[], edit: EventOf<"context_edited">): number {
  const from = earliest(edit.edits);
  const to = Math.max(...edit.edits.map((one) => (one.type === "replace" ? one.seq : one.to)));
  const covering = events.find(
    (event) =>
      event.type === "context_edited" &&
      event.seq > edit.seq &&
      event.edits.some((one) => one.type === "collapse" && one.from <= from && one.to >= to),
  );
  return covering?.seq ?? Number.POSITIVE_INFINITY;
}

/** What an edit met: the model, whether the cache was warm, and dollars for the summary call that led to it. */
type Circumstances = { model: ModelCard; warm: boolean; side: number };

function circumstancesOf(events: readonly LogEvent[]): Map<number, Circumstances> {
  const found = new Map<number, Circumstances>();
  let { model } = started(events);
  let [usedAt, side] = [Number.NEGATIVE_INFINITY, 0];
  for (const event of events) {
    if (event.type === "model_changed") {
      model = event.model;
      usedAt = Number.NEGATIVE_INFINITY;
    } else if (event.type === "side_call") side += costOf(event.usage, (event.card ?? model).prices);
    else if (event.type === "context_edited") {
      const warm =
        event.at - usedAt <= cacheLifeMs[usualLife(model.contract)] && event.economics.reason !== "cold";
      found.set(event.seq, { model, warm, side });
      side = 0;
    } else if (event.type === "model_request") usedAt = event.at;
  }
  return found;
}

function hindsightOf(
  edit: { removed: number; rewritten: number; seq: number; until: number },
  steps: readonly StepRow[],
  around: Circumstances | undefined,
): Hindsight {
  if (!around) return { steps: 0, saved: 0, spent: 0, worth: 0 };
  const { prices, contract } = around.model;
  const later = steps.filter((step) => step.usage && step.seq > edit.seq && step.seq < edit.until);
  // Asked of the whole bill, because the tokens might have lifted a request over a price tier.
  const saved = later.reduce((sum, { usage }) => {
    const carried = usage && { ...usage, cacheReadTokens: usage.cacheReadTokens + edit.removed };
    return carried ? sum + costOf(carried, prices) - costOf(usage, prices) : sum;
  }, 0);
  const warm = around.warm && contract.cache.kind !== "none";
  const rewrite = (edit.rewritten * ((prices.cacheWrite5m || prices.input) - prices.cacheRead)) / 1e6;
  const spent = (warm ? rewrite : 0) + around.side;
  return { steps: later.length, saved, spent, worth: saved - spent };
}
