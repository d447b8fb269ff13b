/** Finds the reminders due before the next reply (context-engine §6, §10). Pure. */

import type { LogEvent } from "../../core/events.ts";
import type { KnownFile } from "../../core/ports.ts";
import { hasOpenTasks, isSameList, knownTasks } from "../../core/task-list.ts";
import { toolNames } from "../../core/tool-calls.ts";
import type { EngineSettings } from "../policies/settings.ts";
import { namedFiles } from "./files.ts";
import { focusReminder, unfoldPointers } from "./focus.ts";
import { reportAt, runningLoop } from "./loop.ts";
import { isPlateau } from "./progress.ts";
import { countSince, isAbout } from "./steps.ts";
import type { Note } from "./wording.ts";

/** Inputs from outside the log. */
export type ReminderInputs = {
  /** True when some policy folds closed focuses. */
  folds: boolean;
  /** The text of todo.md; undefined when it cannot be read. */
  tasks: string | undefined;
  /** Limits about to be reached, in words; `last`: only one call is left. */
  runningOut?: { left: string; last: boolean } | undefined;
  /** Files that are no longer as the model knows them. */
  changedFiles: readonly KnownFile[];
  /** True when reminders stay in the context; routine ones are then rare. */
  stay: boolean;
};

type Numbers = Pick<EngineSettings, "focusReminder" | "reciteSteps">;

/** Returns the due notes, most urgent first; none if the model was reminded since its last reply. */
export function dueNotes(events: readonly LogEvent[], inputs: ReminderInputs, numbers: Numbers): Note[] {
  if (stepsSince(events, isEngines, 1) === 0) return [];
  const changed = changedTasks(events, inputs.tasks);
  const pressing = [
    ...changed,
    ...loopNote(events),
    ...unfoldNote(events, inputs),
    ...limitNote(events, inputs),
    ...filesNote(events, inputs),
  ];
  if (inputs.stay && stepsSince(events, isEngines, numbers.reciteSteps) < numbers.reciteSteps)
    return pressing;
  const tasks = changed.length > 0 ? [] : openTasks(events, numbers.reciteSteps);
  return [...pressing, ...tasks, ...focusNote(events, inputs, numbers), ...plateauNote(events)];
}

/** Returns true for the engine's own reminders, false for notices of background jobs. */
function isEngines(event: LogEvent): boolean {
  return event.type === "reminder" && event.about !== undefined;
}

/** Counts replies since the newest such event; infinite when there is none. */
function stepsSince(events: readonly LogEvent[], mark: (event: LogEvent) => boolean, limit: number): number {
  return countSince(events, { mark, limit, unit: "replies" });
}

function changedTasks(events: readonly LogEvent[], tasks: string | undefined): Note[] {
  if (tasks === undefined || isSameList(tasks, knownTasks(events) ?? "")) return [];
  return [{ topic: "todo_changed", facts: { list: `\n${tasks.trim() || "(nothing)"}` } }];
}

function openTasks(events: readonly LogEvent[], every: number): Note[] {
  if (stepsSince(events, isRecital, every) < every) return [];
  const list = knownTasks(events) ?? "";
  return hasOpenTasks(list) ? [{ topic: "todo", facts: { list: `\n${list.trim()}` } }] : [];
}

function isRecital(event: LogEvent): boolean {
  if (event.type === "tool_result") return event.toolName === toolNames.todo && !event.isError;
  return isAbout(event, "todo", "todo_changed");
}

function loopNote(events: readonly LogEvent[]): Note[] {
  const loop = runningLoop(events);
  if (!loop || loop.repeats < reportAt) return [];
  for (let index = events.length - 1; (events[index]?.seq ?? 0) > loop.since; index--)
    if (isAbout(events[index] as LogEvent, "loop")) return [];
  return [{ topic: "loop", facts: { repeats: loop.repeats, what: loop.what } }];
}

function unfoldNote(events: readonly LogEvent[], { folds }: ReminderInputs): Note[] {
  const pointers = folds ? unfoldPointers(events) : undefined;
  return pointers ? [{ topic: "unfold", facts: { files: `\n${pointers.join("\n")}` } }] : [];
}

function filesNote(events: readonly LogEvent[], { changedFiles }: ReminderInputs): Note[] {
  if (changedFiles.length === 0) return [];
  return [{ topic: "files", facts: { files: namedFiles(changedFiles, events) } }];
}

const limitSteps = 8;

function limitNote(events: readonly LogEvent[], { runningOut }: ReminderInputs): Note[] {
  if (!runningOut) return [];
  const warnedRecently = stepsSince(events, (event) => isAbout(event, "limits"), limitSteps) < limitSteps;
  return warnedRecently && !runningOut.last ? [] : [{ topic: "limits", facts: { left: runningOut.left } }];
}

function focusNote(events: readonly LogEvent[], { folds }: ReminderInputs, numbers: Numbers): Note[] {
  const due = folds ? focusReminder(events, numbers.focusReminder) : undefined;
  if (!due) return [];
  if (due.open === undefined) return [{ topic: "focus", facts: { calls: due.calls } }];
  return [{ topic: "focus_open", facts: { objective: due.open, calls: due.calls } }];
}

function plateauNote(events: readonly LogEvent[]): Note[] {
  return isPlateau(events) ? [{ topic: "plateau", facts: {} }] : [];
}
