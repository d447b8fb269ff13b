/**
 * Forgets by value (context-engine §4): what is not worth its place waits until a flush is worth its cost, and the flush
 * begins where that saves most. Pure.
 */

import type { ContextEdit } from "../../core/events.ts";
import { lastOf, spending } from "../../core/questions.ts";
import { type Piece, piecesOf } from "../value/pieces.ts";
import { sessionFactor } from "../value/session.ts";
import type { Prices } from "../value/worth.ts";
import { offloadCandidates } from "./offload.ts";
import { inputCandidates } from "./offload-inputs.ts";
import { type Candidate, type Decision, mergeCandidates, type Policy } from "./policy.ts";
import type { PolicyInput } from "./policy-input.ts";
import { lineBlocks } from "./step-lines.ts";
import { coldFrom, expectedSaving, forcedReason, isQuiet, patienceOf, relativePrices } from "./timing.ts";

export const economistPolicy: Policy = { name: "economist", plan: decide };

function decide(snapshot: PolicyInput): Decision {
  const prices = pricesOf(snapshot);
  const pieces = withLargest(piecesOf(snapshot, prices), snapshot);
  if (pieces.length === 0) return {};
  const scanned = scan(pieces, snapshot, prices);
  const start = startOf(pieces, scanned, snapshot);
  if (!start) return held(scanned, snapshot);
  const edits = editsOf(pieces.slice(start.from), snapshot);
  if (edits.length === 0) return held(scanned, snapshot);
  const { reason, from } = start;
  const { removed, rest, meter, threshold } = scanned.suffixes[from] as Suffix;
  const tokens = (count: number) => Math.round(count * snapshot.calibration);
  const [removedTokens, afterTokens] = [tokens(removed), tokens(removed + rest)];
  const expectedSavingUsd = expectedSaving(snapshot, removedTokens, afterTokens, reason);
  const sums = { r: prices.r, w: prices.w, meter: tokens(meter), threshold: tokens(threshold), reason };
  const economics = { ...sums, removedTokens, afterTokens, expectedSavingUsd };
  return { plan: { policy: "economist", reason, edits, economics } };
}

/** Returns true when the result with this seq, or the step it is in, waits for a flush that is worth its cost. */
export function isWaiting(seq: number, snapshot: PolicyInput): boolean {
  return piecesOf(snapshot, pricesOf(snapshot)).some(
    ({ masks, step }) =>
      masks.some(({ edit }) => edit.seq === seq) || step?.logged.results.some((result) => result.seq === seq),
  );
}

/** Tokens that a model writes to read something again: a call, and the thought before it. */
const callTokens = 250;

/** On a bound history an edit takes along the thinking that quotes a thing, so more of what it takes must be read again. */
const boundCaution = 1.3;

function pricesOf({ events, model, expected, calibration, settings }: PolicyInput): Prices {
  const output = model.prices.input === 0 ? 5 : model.prices.output / model.prices.input;
  // The setting for ten turns; a stack that keeps more of them is more careful.
  const careful = model.contract.history === "prefix_bound" ? boundCaution : 1;
  const caution = ((careful * settings.caution * settings.maskKeep) / 10) * sessionFactor(events);
  return { ...relativePrices(model), context: expected / calibration, call: callTokens * output, caution };
}

/** Near the end of the window also large results and old inputs of the editor go. */
function withLargest(pieces: readonly Piece[], snapshot: PolicyInput): readonly Piece[] {
  const { expected, settings, soft } = snapshot;
  if (expected < settings.inputsAt * soft.tokens) return pieces;
  const inLines = (index: number) =>
    pieces.some(({ step }) => step && index >= step.index && index <= step.end);
  const masks = pieces.flatMap((piece) => piece.masks);
  const all = mergeCandidates(masks, offloadCandidates(snapshot), inputCandidates(snapshot));
  const more = all.filter((one) => !masks.includes(one) && !inLines(one.index));
  return [...pieces, ...more.map(pieceOfMask)].sort((a, b) => a.index - b.index);
}

function pieceOfMask(mask: Candidate): Piece {
  const { index, removes } = mask;
  return { index, removes, masks: [mask], overdue: removes, waited: removes, risk: 0 };
}

/**
 * A flush of all pieces from one on, in uncalibrated tokens: what it frees, what it rewrites, and at the input price what
 * the overdue part of it has cost until now, what carrying it costs a reply beyond what it risks, what the rewriting would
 * cost, and what is gained over as many replies as the session has had.
 */
type Suffix = {
  removed: number;
  rest: number;
  meter: number;
  burden: number;
  threshold: number;
  gain: number;
};
type Scanned = { suffixes: Suffix[]; overdue: number };

function scan(pieces: readonly Piece[], { view, events }: PolicyInput, { r, w }: Prices): Scanned {
  const { replies } = spending(events);
  const suffixes: Suffix[] = [];
  let [removed, waited, overdue, risk, behind, entry] = [0, 0, 0, 0, 0, view.entries.length];
  for (let at = pieces.length - 1; at >= 0; at--) {
    const piece = pieces[at] as Piece;
    while (entry > piece.index) behind += view.entries[--entry]?.tokens ?? 0;
    removed += piece.removes;
    waited += piece.waited;
    overdue += piece.overdue;
    risk += piece.risk;
    const rest = Math.max(0, behind - removed);
    const threshold = (w - r) * rest;
    const gain = r * removed * replies - threshold;
    suffixes.push({ removed, rest, meter: r * waited, burden: r * removed - risk, threshold, gain });
  }
  return { suffixes: suffixes.reverse(), overdue };
}

/** Returns where a flush begins, and why; undefined while none is due. */
function startOf(
  pieces: readonly Piece[],
  { suffixes }: Scanned,
  snapshot: PolicyInput,
): { from: number; reason: string } | undefined {
  const cold = coldFrom(snapshot);
  const free = cold === Number.POSITIVE_INFINITY ? -1 : pieces.findIndex(({ index }) => index >= cold);
  if (free >= 0) return { from: free, reason: "cold" };
  const tokens = (from: number) => (suffixes[from]?.removed ?? 0) * snapshot.calibration;
  const forced = forcedReason(snapshot, tokens(0));
  if (forced) return { from: 0, reason: forced };
  let from = 0;
  for (let at = 1; at < suffixes.length; at++)
    if ((suffixes[at] as Suffix).gain > (suffixes[from] as Suffix).gain) from = at;
  const pays =
    isDue(suffixes, snapshot) && (suffixes[from] as Suffix).gain > 0 && !isQuiet(snapshot, tokens(from));
  return pays ? { from, reason: "break-even" } : undefined;
}

/** Replies within which a flush must pay: a session of any length often ends after not many more. */
const paidWithin = 30;

/** Returns true when not to make one of the flushes has cost as much as to make it, as in ski rental. */
function isDue(suffixes: readonly Suffix[], snapshot: PolicyInput): boolean {
  const { r } = relativePrices(snapshot.model);
  const patience = patienceOf(snapshot);
  const queued = steadyReplies(snapshot);
  return suffixes.some(({ removed, meter, burden, threshold }) => {
    if (meter <= 0 && queued === 0) return false;
    const costs = meter >= patience * threshold || queued * burden >= threshold;
    return costs && paidWithin * r * removed >= threshold;
  });
}

/**
 * Returns for how many replies all that is queued has been carried, before the first edit of a session: it grew from nothing,
 * so on average for half of them. After that what is queued is partly what an edit left, and only what is overdue counts.
 */
function steadyReplies({ events }: PolicyInput): number {
  return lastOf(events, "context_edited") ? 0 : spending(events).replies / 2;
}

function held({ suffixes, overdue }: Scanned, { calibration }: PolicyInput): Decision {
  const rest = suffixes.find(({ meter }) => meter > 0)?.rest ?? 0;
  if (overdue === 0) return {};
  return { deferredTokens: Math.round(overdue * calibration), flushTokens: Math.round(rest * calibration) };
}

function editsOf(pieces: readonly Piece[], snapshot: PolicyInput): ContextEdit[] {
  const blocks = lineBlocks(
    pieces.flatMap(({ step }) => step ?? []),
    snapshot,
  );
  const all = [...pieces.flatMap(({ masks }) => masks), ...blocks];
  return all.sort((a, b) => a.index - b.index).map(({ edit }) => edit);
}
