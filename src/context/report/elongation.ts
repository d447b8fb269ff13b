/** Measures whether forgetting made the work longer: calls repeated after a lossy edit (context-engine §10). Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { indexFrom } from "../../core/questions.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { observed } from "../reuse/kind.ts";
import { signatureOf } from "../view/turns.ts";

/**
 * Repeats in one reply: re-reads of unchanged files, and repeated commands. They measure the pace of the work, whatever
 * the window holds; what was asked for again since an edit took it is in reuse/forgotten.ts.
 */
export type Repeats = { rereads: number; repeats: number };
export type StepRepeats = Repeats & { seq: number };

/** `excess`: repeats after the edit beyond those before it, at the same pace; 0 when there are no more. */
export type Elongation = {
  before: Repeats & { steps: number };
  after: Repeats & { steps: number };
  excess: number;
};

/** Steps looked at on each side of an edit. */
const span = 15;

/** Compares repeats in the 15 steps after a lossy edit with the 15 before it. */
export function elongation(events: readonly LogEvent[], edit: EventOf<"context_edited">): Elongation {
  return elongationAt(repeatsByStep(events), edit.seq);
}

/** Does the same over steps counted once for many edits. */
export function elongationAt(steps: readonly StepRepeats[], seq: number): Elongation {
  const at = indexFrom(steps, seq + 1);
  const before = sumOf(steps.slice(Math.max(0, at - span), at));
  const after = sumOf(steps.slice(at, at + span));
  const usual = before.steps === 0 ? 0 : (totalOf(before) * after.steps) / before.steps;
  return { before, after, excess: Math.max(0, Math.round(10 * (totalOf(after) - usual)) / 10) };
}

/** Returns true when the edit removed something the model may miss; thinking alone is never fetched again. */
export function isLossy(edit: EventOf<"context_edited">): boolean {
  return edit.edits.some(({ type }) => type !== "drop_thinking");
}

/** Returns the repeats of each reply of the log, oldest first. */
export function repeatsByStep(events: readonly LogEvent[]): readonly StepRepeats[] {
  const reader = repeatReader();
  for (const event of events) reader.take(event);
  return reader.steps;
}

/** Counts the repeats event by event; the newest reply's grow with its results. */
export function repeatReader(): { steps: readonly StepRepeats[]; take(event: LogEvent): void } {
  const steps: StepRepeats[] = [];
  const calls = new Map<string, ToolUseBlock>();
  const known: Known = { run: new Set(), read: new Set() };
  const take = (event: LogEvent): void => {
    if (event.type === "assistant_message") {
      steps.push({ seq: event.seq, rereads: 0, repeats: 0 });
      for (const call of event.content.filter(isToolUse)) calls.set(call.id, call);
    } else if (event.type === "tool_result") {
      const [step, call] = [steps.at(-1), calls.get(event.toolUseId)];
      if (step && call && touchesOf(call, event.call).kind !== "session") note(step, call, event, known);
    }
  };
  return { steps, take };
}

/** Calls made and files read so far; a file that was written since its last read is new again. */
type Known = { run: Set<string>; read: Set<string> };

function note(step: Repeats, call: ToolUseBlock, result: EventOf<"tool_result">, { run, read }: Known): void {
  // A call that did not run read nothing, and is no repetition.
  if (result.rejected) return;
  const { read: paths, wrote } = observed(call, result);
  const signature = signatureOf(call);
  if (paths.length > 0) step.rereads += paths.filter((path) => read.has(path)).length;
  else if (touchesOf(call, result.call).kind === "runs" && run.has(signature)) step.repeats += 1;
  run.add(signature);
  for (const path of paths) read.add(path);
  for (const path of wrote) read.delete(path);
}

function sumOf(steps: readonly StepRepeats[]): Repeats & { steps: number } {
  const sum = (of: (step: StepRepeats) => number) => steps.reduce((total, step) => total + of(step), 0);
  return { steps: steps.length, rereads: sum((step) => step.rereads), repeats: sum((step) => step.repeats) };
}

function totalOf({ rereads, repeats }: Repeats): number {
  return rereads + repeats;
}
