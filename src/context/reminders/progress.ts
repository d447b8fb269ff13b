/** Detects a plateau (context-engine §10) and a running edit–test–edit loop (§5). Pure. */

import type { LogEvent } from "../../core/events.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { fieldOf, isAbout, isEdit, isFreshStart, isSameOutcome, newestSteps, type Step } from "./steps.ts";

const plateauSteps = 12;
/** How far back a result is looked for before it counts as new; a plateau is told once in so many steps. */
const memorySteps = 36;

/** Twelve steps without an edit or a result that was not seen before, not told yet. */
export function isPlateau(events: readonly LogEvent[]): boolean {
  const steps = newestSteps(events, memorySteps, (event) => isFreshStart(event) || isAbout(event, "plateau"));
  if (steps.length < plateauSteps) return false;
  return steps.slice(0, plateauSteps).every((step, index) => !movesOn(step, steps.slice(index + 1)));
}

function movesOn(step: Step, before: readonly Step[]): boolean {
  return step.ran.some((ran) => {
    if (isEdit(ran)) return true;
    if (touchesOf(ran.call, ran.result.call).kind === "session") return false;
    return !before.some((older) => older.ran.some(({ result }) => isSameOutcome(result, ran.result)));
  });
}

const loopSteps = 8;
const checking =
  /\b(tests?|spec|pytest|jest|vitest|check|lint|eslint|build|make|tsc|cargo|mypy|ruff|rspec|phpunit|go (vet|run)|npm run)\b/;

/** Two edits with a check between them in the newest eight steps: a fold now would make the model redo them. */
export function isEditTestLoop(events: readonly LogEvent[]): boolean {
  const kinds = newestSteps(events, loopSteps, isFreshStart).flatMap((step) => kindOf(step) ?? []);
  const check = kinds.indexOf("check", kinds.indexOf("edit") + 1);
  return kinds.includes("edit") && check >= 0 && kinds.includes("edit", check);
}

function kindOf({ ran }: Step): "edit" | "check" | undefined {
  if (ran.some(isEdit)) return "edit";
  const isCheck = ran.some(
    ({ call }) => touchesOf(call).kind === "runs" && checking.test(fieldOf(call, "command")),
  );
  return isCheck ? "check" : undefined;
}
