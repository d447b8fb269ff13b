/**
 * Decides which tools to withhold (context-engine §7); calls of them are also refused. Pure.
 *
 * Every change of what is offered is a message that stays in the history: about 25 tokens, written once and read with
 * every later request; the first one would cost the whole cache without the placeholder (`core/request.ts`). To withdraw `complete_focus` after each fold and to offer it again in each focus would add two
 * such messages per focus to prevent a mistake that models hardly make. So a tool is withdrawn only once it was called in
 * vain twice since a focus was last opened or closed (a refused call costs a whole step), and is offered again as soon
 * as it can be used. In plan mode nothing is withdrawn: `bash` and the editor also read, and no tool only writes.
 */

import type { LogEvent } from "../../core/events.ts";
import { currentModel, openFocus, started } from "../../core/questions.ts";
import { toolNames } from "../../core/tool-calls.ts";
import { type View, withdrawnIn } from "../view/view.ts";

const focusTools: readonly string[] = [toolNames.startFocus, toolNames.completeFocus];
const vainCalls = 2;

/** Returns all tools to withhold from here on, if that differs from the list in force; else undefined. */
export function dueGate(events: readonly LogEvent[], view: View): string[] | undefined {
  if (!calledFocusTool(events)) return undefined;
  const impossible = openFocus(events) ? toolNames.startFocus : toolNames.completeFocus;
  const withdrawn = withdrawnIn(view);
  if (withdrawn.some((name) => name !== impossible)) return [];
  if (withdrawn.length > 0 || !canGate(events, impossible)) return undefined;
  return inVain(events, impossible) >= vainCalls ? [impossible] : undefined;
}

/** Returns true when the newest step has a result of a focus tool: nothing else changes what is possible. */
function calledFocusTool(events: readonly LogEvent[]): boolean {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event?.type === "assistant_message") return false;
    if (event?.type === "tool_result" && focusTools.includes(event.toolName)) return true;
  }
  return false;
}

function canGate(events: readonly LogEvent[], tool: string): boolean {
  const declared = started(events).tools.some(({ name }) => name === tool);
  return declared && currentModel(events).model.contract.toolGating !== "none";
}

/** Counts refused calls of the tool since a focus was last opened or closed. */
function inVain(events: readonly LogEvent[], tool: string): number {
  let count = 0;
  for (let index = events.length - 1; index >= 0 && count < vainCalls; index--) {
    const event = events[index];
    if (event?.type === "tools_gated") break;
    if (event?.type !== "tool_result" || !focusTools.includes(event.toolName)) continue;
    if (!event.isError) break;
    if (event.toolName === tool) count += 1;
  }
  return count;
}
