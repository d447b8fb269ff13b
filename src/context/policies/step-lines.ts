/** Turns old steps into a line for each call and its result, in blocks of consecutive steps. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { ContextEdit, EventOf, LogEvent } from "../../core/events.ts";
import { eventAt } from "../../core/questions.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { type LoggedStep, shortTokens, stepsText } from "../view/step-line.ts";
import { textTokens } from "../view/tokens.ts";
import { keptFrom, turnsIn, type ViewStep } from "../view/turns.ts";
import type { Entry, View } from "../view/view.ts";
import { type Candidate, editImmediately, type Policy } from "./policy.ts";
import { newestStep, type PolicyInput } from "./policy-input.ts";

/** A step that could become lines: its first and last entry, and the tokens that it has now and would have then. */
export type LineStep = { index: number; end: number; logged: LoggedStep; tokens: number; left: number };

/** Estimated tokens of the first line of a block, and of the block itself. */
const headTokens = 25;

/** Shortens steps older than the newest `maskKeep` turns, `lineBlock` of them at a time. */
export const stepLinesPolicy: Policy = {
  name: "step-lines",
  plan(snapshot) {
    const { maskKeep, lineBlock } = snapshot.settings;
    const turns = turnsIn(snapshot);
    const old = turns.slice(0, keptFrom(turns, Math.max(1, maskKeep)));
    const steps = old.flatMap((turn) => lineStepOf(turn, snapshot) ?? []);
    if (steps.length < lineBlock) return {};
    const reason = `steps older than the newest ${maskKeep} turns`;
    return editImmediately("step-lines", reason, lineBlocks(steps, snapshot), snapshot);
  },
};

/**
 * Returns the step of this turn when lines may stand for it: undefined for the first and the newest one, for one whose
 * calls are not all answered, whose results are instructions, or which is about the session itself, as task lists and
 * focuses are.
 */
export function lineStepOf(turn: ViewStep, { events, view }: PolicyInput): LineStep | undefined {
  const { index, calls, results } = turn;
  const [reply, end] = [view.entries[index], index + results.length];
  const logged = reply && eventAt(events, reply.seq);
  if (!reply || logged?.type !== "assistant_message") return undefined;
  if (results.length !== calls.length || end >= newestStep(view) || isFirstStep(view, index))
    return undefined;
  const follows = (entry: Entry, at: number) => entry === view.entries[index + 1 + at] && !entry.standing;
  const step = results.every(follows) ? shortStep(logged, turn, events) : undefined;
  if (!step) return undefined;
  let tokens = reply.tokens;
  for (const entry of results) tokens += entry.tokens;
  return { index, end, tokens, ...step };
}

type ShortStep = Pick<LineStep, "logged" | "left">;

/** Made once for each reply: every step of a long session asks for it. */
const known = new WeakMap<LogEvent, ShortStep>();

function shortStep(
  reply: LoggedStep["reply"],
  { calls, results }: ViewStep,
  events: readonly LogEvent[],
): ShortStep | undefined {
  const earlier = known.get(reply);
  if (earlier?.logged.results.length === results.length) return earlier;
  const answers = results.flatMap(({ seq }) => {
    const event = eventAt(events, seq);
    return event?.type === "tool_result" && !isOfSession(calls, event) ? [event] : [];
  });
  if (answers.length !== calls.length) return undefined;
  const logged = { reply, results: answers };
  const made = { logged, left: shortTokens(logged, events) };
  known.set(reply, made);
  return made;
}

function isOfSession(calls: readonly ToolUseBlock[], { toolUseId, call }: EventOf<"tool_result">): boolean {
  const made = calls.find(({ id }) => id === toolUseId);
  return made === undefined || touchesOf(made, call).kind === "session";
}

/** The first observation of a session stays as it is, as it does under masking. */
function isFirstStep({ entries }: View, index: number): boolean {
  for (let before = index - 1; before >= 0; before--)
    if (entries[before]?.blocks.some(isToolUse)) return false;
  return true;
}

/** The edit that puts lines in the place of consecutive steps. */
export type LineBlock = Candidate<ContextEdit & { type: "collapse" }>;

/** Returns one edit for each run of steps that follow each other, reminders between them included. */
export function lineBlocks(steps: readonly LineStep[], snapshot: PolicyInput): LineBlock[] {
  const runs: LineStep[][] = [];
  for (const step of steps) {
    const run = runs.at(-1);
    const before = run?.at(-1);
    if (run && before && isJoined(before, step, snapshot)) run.push(step);
    else runs.push([step]);
  }
  return runs.flatMap((run) => blockOf(run, snapshot));
}

/** Returns true when nothing but passing reminders stands between two steps. */
function isJoined(before: LineStep, after: LineStep, { events, view }: PolicyInput): boolean {
  for (let index = before.end + 1; index < after.index; index++) {
    const entry = view.entries[index];
    if (!entry || !isPassing(eventAt(events, entry.seq))) return false;
  }
  return before.end < after.index;
}

/** Returns true for a reminder that the engine made for its moment: what a person changed or a file says stays. */
function isPassing(event: LogEvent | undefined): boolean {
  if (event?.type !== "reminder" || !event.about) return false;
  return event.todo === undefined && !event.instructions && !event.released;
}

function blockOf(run: readonly LineStep[], { events, view }: PolicyInput): LineBlock[] {
  const [first, last] = [run[0], run.at(-1)];
  const [from, to] = [view.entries[first?.index ?? -1], view.entries[last?.end ?? -1]];
  if (!first || !last || !from || !to) return [];
  const text = stepsText(
    run.map(({ logged }) => logged),
    events,
  );
  let tokens = 0;
  for (let index = first.index; index <= last.end; index++) tokens += view.entries[index]?.tokens ?? 0;
  const removes = tokens - textTokens(text);
  const edit = { type: "collapse" as const, from: from.seq, to: to.seq, text, lines: true as const };
  return removes > headTokens ? [{ edit, index: first.index, removes }] : [];
}
