/** Computes everything that `sawtooth report` shows from a session's log. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { allOf, started } from "../../core/questions.ts";
import { policyInputOf } from "../policies/policy-input.ts";
import type { SoftWindow } from "../policies/window.ts";
import { type Forgotten, type ForgottenReader, forgottenReader } from "../reuse/forgotten.ts";
import { viewReader } from "../view/view.ts";
import { type CostReader, type Costs, costReader } from "./cost.ts";
import { type Decisions, decisionsOf } from "./decisions.ts";
import { type DelegateRow, delegateRows } from "./delegates.ts";
import { type EditRow, editReader } from "./edits.ts";
import { factReader, type SessionFacts } from "./facts.ts";
import { type InstructionCost, instructionCosts } from "./instructions.ts";
import { type CommandCalls, commandCalls, type ServerShare, serverShares } from "./servers.ts";
import { type StepRow, stepReader } from "./steps.ts";
import { type StepTotals, totalsReader } from "./totals.ts";
import { walker } from "./walk.ts";
import { type WindowNow, windowNow } from "./window.ts";

/** Figures of a context, as printed at the end of a headless run. */
export type ContextFigures = StepTotals & {
  /** The soft window and the model's whole window, in tokens. */
  soft: SoftWindow & { window: number };
  /** Calibrated input tokens of the next request as the view stands. */
  next: number;
  /** Tokens that could be forgotten, but were sent with the newest request because forgetting did not pay yet. */
  deferredTokens: number;
  edits: readonly EditRow[];
  elongation: ElongationTotals;
};

export type SessionReport = Omit<ContextFigures, "next"> & {
  session: SessionFacts;
  steps: readonly StepRow[];
  now: WindowNow;
  /** The servers of tools; empty where there is none. */
  servers: ServerShare[];
  /** Tools of servers that commands called; empty where none did. */
  commandCalls: CommandCalls[];
  /** Texts of instructions that stand; empty where none was read. */
  instructions: InstructionCost[];
  cost: Costs;
  /** Things that were forgotten, and those of them that were asked for again. */
  forgotten: Forgotten;
  /** Empty where nothing was delegated. */
  delegates: DelegateRow[];
  failures: EventOf<"model_failed">[];
  sideCalls: EventOf<"summary_call">[];
  warnings: EventOf<"warning">[];
  /** How each call was decided, as recorded. */
  decisions: Decisions;
};

/** Lossy edits: `longer` of them were followed by more repeats than preceded them; `worst`: the largest excess. */
export type ElongationTotals = { lossy: number; longer: number; worst: number };

/** Returns the report of a log, running or finished. Throws when the log does not begin with `session_started`. */
export function sessionReport(events: readonly LogEvent[]): SessionReport {
  const costs = costReader(events);
  const facts = factReader(started(events));
  for (const event of events) facts.take(event);
  const forgotten = forgottenReader();
  const { figures, steps, snapshot } = walked(events, { costs, forgotten });
  const { next: _, ...context } = figures;
  return {
    ...context,
    session: facts.facts(),
    steps,
    now: windowNow(snapshot),
    servers: serverShares(snapshot),
    commandCalls: commandCalls(events),
    instructions: instructionCosts(snapshot),
    cost: costs.costs(),
    forgotten: forgotten.forgotten(),
    delegates: delegateRows(events),
    failures: allOf(events, "model_failed"),
    sideCalls: allOf(events, "summary_call"),
    warnings: allOf(events, "warning"),
    decisions: decisionsOf(events),
  };
}

/** Returns the figures alone, in about half the time of the report. Throws as `sessionReport`. */
export function contextFigures(events: readonly LogEvent[]): ContextFigures {
  return walked(events).figures;
}

/** Reads the log once for its steps, its edits, its final view, and what else is wanted. */
function walked(events: readonly LogEvent[], wanted?: { costs: CostReader; forgotten: ForgottenReader }) {
  const reader = viewReader();
  const walk = walker(reader);
  const { rows: steps, answered, take } = stepReader();
  const edits = editReader(answered);
  for (const event of events) {
    const moment = walk(event);
    take(event);
    edits.see(event);
    if (moment) edits.take(moment);
    wanted?.costs.take(event, moment);
    wanted?.forgotten.take(event, moment);
  }
  const rows = edits.rows();
  const totals = totalsReader();
  for (const row of answered) totals.add(row);
  const snapshot = policyInputOf(events, reader.read(events), events.at(-1)?.at ?? 0);
  const figures: ContextFigures = {
    soft: { ...snapshot.soft, window: snapshot.model.window },
    ...totals.totals(),
    next: snapshot.expected,
    deferredTokens: steps.at(-1)?.deferredTokens ?? 0,
    edits: rows,
    elongation: elongationTotals(rows),
  };
  return { figures, steps, snapshot };
}

function elongationTotals(edits: readonly Pick<EditRow, "elongation">[]): ElongationTotals {
  const excesses = edits.flatMap(({ elongation }) => elongation?.excess ?? []);
  return {
    lossy: excesses.length,
    longer: excesses.filter((excess) => excess >= 1).length,
    worst: Math.max(0, ...excesses),
  };
}

/** Totals edits, removed tokens and dollars gained in hindsight by policy, in order of first use. */
export function editsByPolicy(
  edits: readonly EditRow[],
): { policy: string; edits: number; removed: number; worth: number }[] {
  const policies = [...new Set(edits.map(({ policy }) => policy))];
  return policies.map((policy) => {
    const own = edits.filter((edit) => edit.policy === policy);
    const sum = (of: (edit: EditRow) => number) => own.reduce((total, edit) => total + of(edit), 0);
    const removed = sum((edit) => edit.removed);
    return { policy, edits: own.length, removed, worth: sum((edit) => edit.hindsight.worth) };
  });
}

/** Describes the state of the session. */
export function stateOf({ end }: SessionFacts): string {
  if (!end) return "in the middle of a turn";
  const words = end.reason.replaceAll("_", " ");
  return end.detail ? `${words} (${end.detail})` : words;
}
