/** `start_focus` and `complete_focus`: the model's own fold. The engine's focus policy does the folding. */

import { appendFileSync } from "node:fs";
import { isToolUse } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import type { Tool, ToolOutput } from "../../core/ports.ts";
import { lastOf, openFocus } from "../../core/questions.ts";
import type { JsonSchema } from "../../core/request.ts";
import { completeFocusCalls, startFocusCalls, toolNames } from "../../core/tool-calls.ts";

export function startFocusTool(options: { description: string }): Tool {
  return {
    ...startFocusCalls,
    name: toolNames.startFocus,
    description: options.description,
    inputSchema: textFields({ objective: "What this phase is to find out or achieve, in one sentence." }),
    access: () => ({ kind: "session" }),
    run: async (input, { events }) => start(String(input.objective), events),
  };
}

/**
 * Creates `complete_focus`. `file`: absolute path of the session's knowledge.md, to which each closed focus is added.
 */
export function completeFocusTool(options: { description: string; file: string }): Tool {
  return {
    ...completeFocusCalls,
    name: toolNames.completeFocus,
    description: options.description,
    inputSchema: textFields({
      attempted: "What was tried, dead ends included.",
      learned: "Facts worth keeping: paths, line numbers, names, causes.",
      outcome: "Where things stand now, and what comes next.",
    }),
    access: () => ({ kind: "session" }),
    run: async (input, { events }) => complete(options.file, input as Record<string, string>, events),
  };
}

function start(objective: string, events: readonly LogEvent[]): ToolOutput {
  if (objective.trim() === "") return refusal("The objective is empty: say what this phase is to find out.");
  const open = openFocus(events);
  if (open)
    return refusal(`A focus is open already: "${open.objective}". Close it with complete_focus first.`);
  if (!isAlone(events))
    return refusal("start_focus must be the only call of its step. Call it again, alone.");
  return { content: `Focus opened: ${objective}` };
}

function complete(file: string, input: Record<string, string>, events: readonly LogEvent[]): ToolOutput {
  const open = openFocus(events);
  if (!open) return refusal("No focus is open. Open one with start_focus before a phase of exploration.");
  if (!isAlone(events))
    return refusal("complete_focus must be the only call of its step. Call it again, alone.");
  const empty = Object.keys(input).filter((field) => input[field]?.trim() === "");
  if (empty.length > 0)
    return refusal(
      `Empty: ${empty.join(", ")}. What you do not write down is lost when the focus is folded. Write it, or "nothing".`,
    );
  appendFileSync(file, knowledge(open.objective, input), { mode: 0o600 });
  return { content: "Focus closed." };
}

function knowledge(objective: string, { attempted, learned, outcome }: Record<string, string>): string {
  return `## ${objective}\n\nAttempted: ${attempted}\n\nLearned: ${learned}\n\nOutcome: ${outcome}\n\n`;
}

/** Returns true when the call has no neighbours in its step, whose results folding would remove. */
function isAlone(events: readonly LogEvent[]): boolean {
  return (lastOf(events, "assistant_message")?.content.filter(isToolUse).length ?? 0) <= 1;
}

function textFields(fields: Record<string, string>): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries(fields).map(([name, description]) => [name, { type: "string" as const, description }]),
  );
  return { type: "object", properties, required: Object.keys(fields), additionalProperties: false };
}

function refusal(text: string): ToolOutput {
  return { content: text, isError: true };
}
