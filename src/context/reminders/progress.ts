/** Detects a plateau (context-engine §10) and a running edit–test–edit loop (§5). Pure. */

import type { LogEvent } from "../../core/events.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { fieldOf, isAbout, isEdit, isFreshStart, isSameOutcome, newestSteps, type Step } from "./steps.ts";

const plateauSteps = 12;
/** Steps to search back before a result counts as new, and between two reports of a plateau. */
const memorySteps = 36;

/** Returns true after twelve steps without an edit or a new result, unless already reported. */
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

/** Returns true for two edits with a check between them in the newest eight steps: folding now would lose them. */
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
