/** Focus reminders and the elongation guard (context-engine §5): folding must not make the model redo work. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { openFocus } from "../../core/questions.ts";
import { toolNames, touchesOf } from "../../core/tool-calls.ts";
import { whereabouts } from "../view/placeholder.ts";
import { signatureOf } from "../view/turns.ts";
import { isEditTestLoop } from "./progress.ts";
import { countSince, fieldOf, isAbout, isEdit, newestSteps, type Ran, shortLine } from "./steps.ts";

/**
 * Reminds the model to focus: after `threshold` calls since the last fold without a focus, or in one that is open. The
 * threshold grows by itself with each elongation of the session.
 */
export function focusReminder(
  events: readonly LogEvent[],
  threshold: number,
): { open?: string; calls: number } | undefined {
  if (threshold === 0 || callsSinceFocus(events, threshold) < threshold) return undefined;
  const raised = threshold * (1 + elongations(events));
  const calls = callsSinceFocus(events, raised);
  if (calls < raised || isEditTestLoop(events)) return undefined;
  const open = openFocus(events)?.objective;
  return open === undefined ? { calls } : { open, calls };
}

/** Counts calls since a focus was last opened, closed or mentioned; at most `limit`. */
function callsSinceFocus(events: readonly LogEvent[], limit: number): number {
  return countSince(events, { mark: isFocusMark, limit, unit: "calls" });
}

function isFocusMark(event: LogEvent): boolean {
  if (event.type === "session_started") return true;
  if (event.type === "tool_result")
    return (
      !event.isError &&
      (event.toolName === toolNames.startFocus || event.toolName === toolNames.completeFocus)
    );
  return isAbout(event, "focus", "focus_open", "unfold");
}

/** Counts the folds of the session after which the model redid what was folded away. */
const elongations = memoizedReduce<number>(
  () => 0,
  (count, event) => count + (isAbout(event, "unfold") ? 1 : 0),
);

const guardedSteps = 15;
const redoneCalls = 2;
const maxPointers = 10;

/**
 * Lists where the originals of a fold are, when at least two calls in the fifteen steps after it repeated
 * folded work: read the same file or ran the same command, with nothing written since.
 */
export function unfoldPointers(events: readonly LogEvent[]): string[] | undefined {
  const recent = newestSteps(events, guardedSteps, (event) => isAbout(event, "unfold"));
  const oldest = recent.at(-1)?.reply.seq ?? Number.POSITIVE_INFINITY;
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index] as LogEvent;
    if (event.type === "assistant_message" && event.seq < oldest) break;
    if (event.type !== "context_edited" || !event.fold) continue;
    const folded = foldedRuns(events, index, event);
    const later = recent.filter((step) => step.reply.seq > event.seq).reverse();
    const redone = redoneOf(
      later.flatMap((step) => step.ran),
      folded,
    );
    if (redone.length >= redoneCalls) return pointersTo(folded, redone, events);
  }
  return undefined;
}

/** Returns the calls inside the span that the fold took out, oldest first. */
function foldedRuns(events: readonly LogEvent[], at: number, fold: EventOf<"context_edited">): Ran[] {
  const span = fold.edits.find((edit) => edit.type === "collapse");
  if (!span) return [];
  return newestSteps(events, Number.POSITIVE_INFINITY, (event) => event.seq <= span.from, at)
    .reverse()
    .flatMap((step) => step.ran)
    .filter(({ call }) => touchesOf(call).kind === "runs" || isView(call));
}

/** Returns the folded runs that were repeated. After a write neither a file nor a command's output counts. */
function redoneOf(later: readonly Ran[], folded: readonly Ran[]): Ran[] {
  const redone: Ran[] = [];
  for (const ran of later) {
    if (isEdit(ran)) break;
    const original = folded.find(({ call }) => isRedone(call, ran.call));
    if (original) redone.push(original);
  }
  return redone;
}

function isRedone(folded: Ran["call"], later: Ran["call"]): boolean {
  if (isView(folded) && isView(later)) return fieldOf(folded, "path") === fieldOf(later, "path");
  return signatureOf(folded) === signatureOf(later);
}

function isView(call: Ran["call"]): boolean {
  return touchesOf(call).kind === "reads";
}

/** Lists pointers to folded runs, repeated ones first. */
function pointersTo(folded: readonly Ran[], redone: readonly Ran[], events: readonly LogEvent[]): string[] {
  const lines = [...redone, ...folded].map(
    ({ call, result }) => `- ${shortLine(call)}: ${whereabouts(result, events)}`,
  );
  return [...new Set(lines)].slice(0, maxPointers);
}
