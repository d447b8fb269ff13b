/** Folds for a model that cannot be asked: opens and closes focuses by counting, with a note from the log. Pure. */

import { isEdit, newestSteps, shortLine } from "../../context/reminders/steps.ts";
import type { AssistantBlock } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { openFocus } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";

/** A step that the stand-in puts between recorded ones: a reply with one call, and what the tool says to it. */
export type ExtraStep = { content: AssistantBlock[]; toolUseId: string; toolName: string; result: string };

const mostSteps = 200;

/**
 * Returns the steps that a model told to fold after every `foldAfter` exploratory calls would take before its next
 * reply. It stands in for the model's own folding: it knows nothing of phases, and its note is a list, not an insight.
 */
export function extraSteps(events: readonly LogEvent[], foldAfter: number): ExtraStep[] {
  const focus = openFocus(events);
  const opening = stepOf(
    events,
    1,
    toolNames.startFocus,
    { objective: objectiveOf(events) },
    "Focus opened.",
  );
  if (!focus) return [opening];
  const inside = newestSteps(events, mostSteps, (event) => event.seq <= focus.resultSeq).reverse();
  const explored = inside.flatMap(({ ran }) => ran).filter((ran) => !isEdit(ran));
  if (explored.length < foldAfter) return [];
  const attempted = inside.flatMap(({ ran }) => ran.map(({ call }) => `- ${shortLine(call)}`));
  const said = inside.flatMap(({ reply }) =>
    reply.content.flatMap((block) => (block.type === "text" ? [block.text.trim()] : [])),
  );
  const note = {
    attempted: attempted.join("\n"),
    learned: said.join("\n").slice(-noteLength).toWellFormed() || "(nothing was said)",
    outcome: `${inside.length} steps done`,
  };
  return [stepOf(events, 0, toolNames.completeFocus, note, "Focus closed."), opening];
}

/** Characters of what the model said that a note keeps: about 300 tokens. */
const noteLength = 1_200;

function objectiveOf(events: readonly LogEvent[]): string {
  const said = events.findLast((event) => event.type === "user_message");
  const first =
    said?.type === "user_message" ? said.content.find((block) => block.type === "text") : undefined;
  const line = first?.type === "text" ? (first.text.trim().split("\n")[0] ?? "") : "";
  return line.slice(0, 120).toWellFormed() || "the task";
}

function stepOf(
  events: readonly LogEvent[],
  nth: number,
  name: string,
  input: object,
  result: string,
): ExtraStep {
  const toolUseId = `fold_${events.length}_${nth}`;
  return { content: [{ type: "tool_use", id: toolUseId, name, input }], toolUseId, toolName: name, result };
}
