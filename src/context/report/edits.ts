/** Lists every context edit with its numbers and its value in hindsight. Pure. */

import type { Economics, LogEvent } from "../../core/events.ts";
import { cacheLifeMs, costOf, type ModelCard, usualLife } from "../../core/model-card.ts";
import { indexFrom } from "../../core/questions.ts";
import { type EditWords, editWords } from "../view/edit-words.ts";
import { calibration } from "../view/tokens.ts";
import { firstChanged, type View } from "../view/view.ts";
import { type Elongation, elongationAt, isLossy, repeatReader, type StepRepeats } from "./elongation.ts";
import { type Answered, type Carried, carriedCost, coverings, type Standing } from "./hindsight.ts";
import type { Moment } from "./walk.ts";

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
  /** Calibrated tokens from the earliest edited position on, which the next request had to rewrite. */
  rewritten: number;
  /** As the policy logged them. */
  economics: Economics;
  /** The same for people. */
  words: EditWords;
  hindsight: Hindsight;
  /** Only of lossy edits. */
  elongation?: Elongation;
};

/** Dollars: `saved` by the steps that did not carry the tokens, `spent` on rewriting and summary calls. */
export type Hindsight = { steps: number; saved: number; spent: number; worth: number };

export type EditReader = {
  /** Reads an event; each before its moment. */
  see(event: LogEvent): void;
  take(moment: Moment): void;
  count(): number;
  /** Row of an edit by its index, with its worth as of now. */
  row(index: number): EditRow;
  rows(): EditRow[];
};

/** Gathers a row for each edit of a log that grows. `answered`: its answered steps until now. */
export function editReader(answered: readonly Answered[]): EditReader {
  const repeats = repeatReader();
  const circumstances = circumstancesReader();
  const standingOf = coverings();
  const carried = carriedCost(answered);
  const edits: Made[] = [];
  let [charged, requests] = [0, 0];
  const take = ({ event, events: read, view, tokensBefore }: Moment): void => {
    if (event.type === "model_request") {
      charged = 0;
      requests += 1;
      return;
    }
    const factor = calibration(read);
    const removed = Math.round((tokensBefore - view.tokens) * factor);
    // Several edits before one request rewrite the prefix once: each pays only for what the earlier ones did not.
    const tail = Math.round(tokensFrom(view, firstChanged(event.edits)) * factor);
    const rewritten = Math.max(0, tail - charged);
    charged = Math.max(charged, tail);
    const { type: _, edits: __, fold: ___, ...facts } = event;
    edits.push({
      row: {
        ...{ ...facts, removed, rewritten, step: 1 + requests, count: event.edits.length },
        words: editWords(event, read),
      },
      ...{ circumstance: circumstances.newest(), standing: standingOf(event), lossy: isLossy(event) },
    });
  };
  const see = (event: LogEvent): void => {
    repeats.take(event);
    circumstances.take(event);
  };
  const row = (index: number): EditRow => rowOf(edits[index] as Made, carried, repeats.steps);
  return { see, take, count: () => edits.length, row, rows: () => edits.map((_, index) => row(index)) };
}

/** An edit as it was made; its worth changes with the steps after it. */
type Made = {
  row: Omit<EditRow, "hindsight" | "elongation">;
  circumstance: Circumstances | undefined;
  standing: Standing;
  lossy: boolean;
};

function rowOf(
  { row, circumstance, standing, lossy }: Made,
  carried: Carried,
  repeats: readonly StepRepeats[],
) {
  const { seq, removed, rewritten } = row;
  return {
    ...row,
    hindsight: hindsightOf({ removed, rewritten, seq, until: standing.until }, carried, circumstance),
    ...(lossy ? { elongation: elongationAt(repeats, seq) } : {}),
  };
}

function tokensFrom(view: View, seq: number): number {
  let tokens = 0;
  for (let index = indexFrom(view.entries, seq); index < view.entries.length; index++)
    tokens += view.entries[index]?.tokens ?? 0;
  return tokens;
}

/** Conditions of an edit: model, cache state, and dollars for the summary call that led to it. */
type Circumstances = { model: ModelCard; warm: boolean; side: number };

/** Follows the conditions; `newest`: those of the newest edit. */
function circumstancesReader(): { take(event: LogEvent): void; newest(): Circumstances | undefined } {
  let found: Circumstances | undefined;
  let model: ModelCard | undefined;
  let [usedAt, side] = [Number.NEGATIVE_INFINITY, 0];
  const take = (event: LogEvent): void => {
    if (event.type === "session_started" || event.type === "model_changed") {
      model = event.model;
      usedAt = Number.NEGATIVE_INFINITY;
    } else if (!model) return;
    else if (event.type === "summary_call") side += costOf(event.usage, (event.card ?? model).prices);
    else if (event.type === "context_edited") {
      const warm =
        event.at - usedAt <= cacheLifeMs[usualLife(model.contract)] && event.economics.reason !== "cold";
      found = { model, warm, side };
      side = 0;
    } else if (event.type === "model_request") usedAt = event.at;
  };
  return { take, newest: () => found };
}

function hindsightOf(
  edit: { removed: number; rewritten: number; seq: number; until: number },
  carried: Carried,
  circumstance: Circumstances | undefined,
): Hindsight {
  if (!circumstance) return { steps: 0, saved: 0, spent: 0, worth: 0 };
  const { prices, contract } = circumstance.model;
  const { steps, dollars: saved } = carried(edit, prices);
  const warm = circumstance.warm && contract.cache.kind !== "none";
  const rewrite = (edit.rewritten * ((prices.cacheWrite5m || prices.input) - prices.cacheRead)) / 1e6;
  const spent = (warm ? rewrite : 0) + circumstance.side;
  return { steps, saved, spent, worth: saved - spent };
}
