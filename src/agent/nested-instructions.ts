/** Tells the model the instructions of a folder when a step touched it for the first time. */

import { resultBudget } from "../context/policies/budget.ts";
import { standingBeyondShare } from "../context/policies/standing-share.ts";
import { fieldOf } from "../context/reminders/steps.ts";
import { asReminder } from "../context/reminders/wording.ts";
import type { LogEvent } from "../core/events.ts";
import { memoizedReduce } from "../core/memoize.ts";
import { findCall } from "../core/questions.ts";
import { withInstructionTags } from "../core/text/tags.ts";
import { toolNames } from "../core/tool-calls.ts";
import type { Agent, TouchedPaths } from "./agent.ts";

/**
 * Appends one note with the instructions of all folders that the newest step touched, each once a session. What was
 * told is in the log, so a resumed session tells nothing twice, and tells what a killed one had no time to.
 */
export function tellInstructions(agent: Agent): void {
  tellNested(agent);
  releaseInstructions(agent);
}

/** Releases the oldest instructions where they fill too much of the window together, and says so to both. */
function releaseInstructions({ log }: Agent): void {
  const beyond = standingBeyondShare(log.events());
  if (beyond.length === 0) return;
  const names = beyond.flatMap(({ paths }) => paths).join(", ");
  const why = "Instructions that were read fill more than a quarter of the soft window";
  const text = `${why}. These may be shortened from now on, like other results: ${names}. View a file again before work that it is for.`;
  log.append({
    ...{ type: "reminder", channel: "logged", text: asReminder(text) },
    released: beyond.map(({ seq }) => seq),
  });
  const warning = `${why}: ${names} may be forgotten`;
  log.append({ type: "warning", code: "instructions_released", text: warning });
}

function tellNested(agent: Agent): void {
  const events = agent.log.events();
  const touched = touchedIn(events);
  if (!agent.instructionsFor || Object.values(touched).every((list) => list.length === 0)) return;
  const files = agent.instructionsFor(touched, toldIn(events), 4 * resultBudget(events));
  if (files.length === 0) return;
  agent.log.append({
    type: "reminder",
    channel: "logged",
    text: files.map((file) => withInstructionTags({ ...file, text: agent.redact(file.text) })).join("\n\n"),
    instructions: files.map(({ path }) => path),
  });
}

/** Gathers what the calls of the newest step read, wrote and ran. */
function touchedIn(events: readonly LogEvent[]): TouchedPaths {
  const touched: TouchedPaths = { read: [], wrote: [], commands: [] };
  const newest = events.findLastIndex(({ type }) => type === "assistant_message");
  for (let index = Math.max(0, newest); index < events.length; index++) {
    const event = events[index];
    if (event?.type !== "tool_result" || event.rejected) continue;
    touched.read.push(...(event.stats?.read ?? []));
    touched.wrote.push(...(event.stats?.wrote ?? []));
    const call = event.toolName === toolNames.bash ? findCall(events, event.toolUseId, index) : undefined;
    if (call) touched.commands.push(fieldOf(call, "command"));
  }
  return touched;
}

const toldIn = memoizedReduce<Set<string>>(
  () => new Set(),
  (told, event) => {
    if (event.type === "reminder") for (const path of event.instructions ?? []) told.add(path);
    return told;
  },
);
