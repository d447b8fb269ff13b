/** Lists what a flush could take from each step: observations that are not worth their place, or the whole step. Pure. */

import type { EventOf } from "../../core/events.ts";
import { eventAt } from "../../core/questions.ts";
import { maskOf } from "../policies/masking.ts";
import type { Candidate } from "../policies/policy.ts";
import { newestStep, type PolicyInput } from "../policies/policy-input.ts";
import { type LineStep, lineStepOf } from "../policies/step-lines.ts";
import { type Observed, recordedKind } from "../reuse/kind.ts";
import { blocksTokens } from "../view/tokens.ts";
import { turnsIn, type ViewStep } from "../view/turns.ts";
import type { Entry } from "../view/view.ts";
import { freshReplies, leastWritten } from "./chance.ts";
import { type FileTimes, fileTimes, hasFailed, newestOf, presentAim } from "./files.ts";
import { newestUses } from "./session.ts";
import type { Lift } from "./table.ts";
import { type Prices, worthOf } from "./worth.ts";

/** The part of a step that a flush takes: masks of observations, or lines for the whole step. Tokens are uncalibrated. */
export type Piece = {
  /** Index of the first entry that changes. */
  index: number;
  removes: number;
  masks: readonly Candidate[];
  step?: LineStep;
  /** Tokens of it that are not worth a cached read any more, and that times the replies for which they were carried so. */
  overdue: number;
  waited: number;
  /** Tokens at the input price that a reply soon spends on average to read it again. */
  risk: number;
};

/** Facts for judging every step. */
type Around = {
  snapshot: PolicyInput;
  prices: Prices;
  times: FileTimes;
  uses: ReadonlyMap<number, number>;
  aim: string;
  /** The first observation, which stays as it does under masking. */
  first: Entry | undefined;
};

/**
 * Lists what could go, oldest first: what is not worth being written to the cache once more, were all behind it
 * rewritten. That includes what is not worth its reads.
 */
export function piecesOf(snapshot: PolicyInput, prices: Prices): Piece[] {
  const { events, view } = snapshot;
  const newest = newestStep(view);
  const turns = turnsIn(snapshot);
  const first = turns[0]?.results[0];
  const around = {
    snapshot,
    prices,
    times: fileTimes(events),
    uses: newestUses(events),
    aim: presentAim(events),
    first,
  };
  return turns.flatMap((turn, at) =>
    // The next reply sees what the newest turn brought at age 1.
    turn.index < newest ? (pieceOf(turn, turns.length - at, around) ?? []) : [],
  );
}

/** A thing in its step. `waits`: replies for which it was not worth its reads; negative while it is. */
type Judged = Pick<Piece, "removes" | "risk"> & { goes: boolean; waits: number; mask?: Candidate };

function pieceOf(turn: ViewStep, age: number, around: Around): Piece | undefined {
  const results = turn.results.flatMap((entry) => (entry.edited ? [] : [judged(entry, turn, age, around)]));
  const masked = results.filter(({ goes, mask }) => goes && mask);
  const masks = masked.flatMap(({ mask }) => mask ?? []);
  const removes = sumOf(masked, (each) => each.removes);
  const step = results.every(({ goes }) => goes) ? lineStepOf(turn, around.snapshot) : undefined;
  const more = step ? step.tokens - step.left - removes : 0;
  const rest = more > 0 ? judgedWords(turn, age, more, around) : undefined;
  if (step && rest?.goes) {
    const waits = Math.min(rest.waits, ...results.map((each) => each.waits));
    const parts = [...masked, { ...rest, waits }];
    return { index: turn.index, removes: removes + more, masks: [], step, ...lateOf(parts) };
  }
  const [first] = masks;
  return first && { index: first.index, removes, masks, ...lateOf(masked) };
}

function lateOf(parts: readonly Judged[]): Pick<Piece, "overdue" | "waited" | "risk"> {
  const late = parts.filter(({ waits }) => waits >= 0);
  return {
    risk: sumOf(parts, ({ risk }) => risk),
    overdue: sumOf(late, ({ removes }) => removes),
    waited: sumOf(late, ({ removes, waits }) => removes * (1 + waits)),
  };
}

function sumOf<T>(items: readonly T[], of: (item: T) => number): number {
  let sum = 0;
  for (const item of items) sum += of(item);
  return sum;
}

/** Returns true for what stays whatever it costs: besides the first, the newest task list, and a test that still fails. */
function isKept(entry: Entry, { first, times }: Around): boolean {
  return entry === first || entry.seq === times.failing || entry.seq === times.listed;
}

/** Share of the turns whose steps stay whole in which no observation goes: 5 of 10. */
const untouched = 0.5;

function judged(entry: Entry, turn: ViewStep, age: number, around: Around): Judged {
  const { snapshot, prices } = around;
  const stays = isKept(entry, around);
  const [mask] = stays ? [] : maskOf(entry, snapshot, turn.index);
  const { kind, lift, since } = thingIn(entry, turn, age, around);
  const thing = { kind, tokens: entry.tokens, lift };
  const idle = idleFor(entry.seq, around);
  const removes = mask?.removes ?? entry.tokens;
  const { carried, rewritten, risk } = worthOf(thing, idle, removes, prices);
  const least = Math.max(1, Math.round(untouched * snapshot.settings.maskKeep));
  const goes = !stays && !entry.standing && age >= least && idle >= rewritten;
  const waits = Math.min(age - least, idle - carried, since);
  return { goes, waits, removes, risk, ...(mask ? { mask } : {}) };
}

/** Judges what a step holds besides its results: its calls, and the thoughts before them. */
function judgedWords(turn: ViewStep, age: number, removes: number, around: Around): Judged {
  const { snapshot, prices } = around;
  const least = 1 + snapshot.settings.maskKeep;
  const tokens = blocksTokens(turn.calls);
  if (tokens < leastWritten) return { goes: age >= least, waits: age - least, removes, risk: 0 };
  const idle = idleFor(snapshot.view.entries[turn.index]?.seq ?? -1, around);
  const thing = { kind: "written", tokens, lift: "none" } as const;
  const { carried, rewritten, risk } = worthOf(thing, idle, removes, prices);
  const waits = Math.min(age - least, idle - carried);
  return { goes: age >= least && idle >= rewritten, waits, removes, risk };
}

/** Counts the replies since something was shown or last used; the next reply sees what is newest at 1. */
function idleFor(seq: number, { times, uses }: Around): number {
  return 1 + times.replies - (uses.get(seq) ?? 0);
}

/** Tells what an entry shows. `since`: replies since what speaks for it has changed. */
function thingIn(
  { seq }: Entry,
  { calls }: ViewStep,
  age: number,
  { snapshot, times, aim }: Around,
): { kind: Observed["kind"]; lift: Lift; since: number } {
  const event = eventAt(snapshot.events, seq) as EventOf<"tool_result">;
  const call = calls.find(({ id }) => id === event.toolUseId);
  if (!call) return { kind: "other", lift: "none", since: Number.POSITIVE_INFINITY };
  const { kind, read } = recordedKind(call, event);
  if (kind === "read" && read.length > 0) return { kind, ...freshness(read, age, times, aim) };
  return { kind, lift: hasFailed(event) ? "failed" : "none", since: Number.POSITIVE_INFINITY };
}

function freshness(
  paths: readonly string[],
  age: number,
  { replies, read, wrote }: FileTimes,
  aim: string,
): { lift: Lift; since: number } {
  const next = replies + 1;
  const [seen, changed] = [newestOf(read, paths), newestOf(wrote, paths)];
  const since = next - Math.max(seen, changed) - freshReplies - 1;
  const isNamed = aim !== "" && paths.some((path) => aim.includes(path.slice(path.lastIndexOf("/") + 1)));
  if (since < 0 || isNamed) return { lift: "fresh", since };
  const made = next - age;
  return { lift: changed >= made && seen > made ? "renewed" : "none", since };
}
