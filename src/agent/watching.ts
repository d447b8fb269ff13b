/** Watches the session between steps: reminds the model, and ends turns that lead nowhere (context-engine §6, §10). */

import { defaultSettings } from "../context/policies/settings.ts";
import { stackNamed } from "../context/policies/stacks.ts";
import { knownFiles, newestCommands } from "../context/reminders/files.ts";
import { dueGate } from "../context/reminders/gating.ts";
import { runningLoop, stopAt } from "../context/reminders/loop.ts";
import { dueNotes, type ReminderInputs } from "../context/reminders/reminders.ts";
import { isAbout } from "../context/reminders/steps.ts";
import { channelFor, type Note, reminderText } from "../context/reminders/wording.ts";
import type { View } from "../context/view/view.ts";
import type { LogEvent } from "../core/events.ts";
import { costOf } from "../core/model-card.ts";
import { currentEngine, currentModel, eventAt, lastOf, spending, started } from "../core/questions.ts";
import type { Agent } from "./agent.ts";
import type { ReachedLimit } from "./limits.ts";

/** Appends one reminder with all due notes. Returns true when there was one. */
export function remind(agent: Agent, view: View): boolean {
  const events = agent.log.events();
  const { contract } = currentModel(events).model;
  const tasks = agent.readTasks();
  const inputs = {
    folds: stackNamed(currentEngine(events).context).folds,
    tasks: tasks === undefined ? undefined : agent.redact(tasks),
    runningOut: runningOut(agent),
    stay: channelFor(contract, []) === "logged",
    changedFiles: agent.changedFiles(knownFiles(events, view), newestCommands(events)),
  };
  const notes = dueNotes(events, inputs, { ...defaultSettings, ...currentEngine(events).engine });
  if (notes.length === 0) return false;
  appendReminder(agent, notes, inputs);
  return true;
}

/** Appends a change of the withheld tools. Returns true when there was one. */
export function gateTools(agent: Agent, view: View): boolean {
  const withdrawn = dueGate(agent.log.events(), view);
  if (withdrawn) agent.log.append({ type: "tools_gated", withdrawn });
  return withdrawn !== undefined;
}

/** Appends the notes as one reminder, with the state of todo.md and of files where it reports a change of them. */
function appendReminder(
  agent: Agent,
  notes: readonly Note[],
  { tasks, changedFiles }: Partial<Pick<ReminderInputs, "tasks" | "changedFiles">> = {},
): void {
  const events = agent.log.events();
  const channel = channelFor(currentModel(events).model.contract, notes);
  const about = notes.map((note) => note.topic);
  agent.log.append({
    type: "reminder",
    channel,
    text: reminderText(notes, { words: agent.reminderWords, seq: (events.at(-1)?.seq ?? 0) + 1, channel }),
    about,
    ...(tasks !== undefined && about.includes("todo_changed") ? { todo: tasks } : {}),
    ...(changedFiles && about.includes("files") ? { files: [...changedFiles] } : {}),
  });
}

/** Returns the reason to end the turn when the model only repeats itself. */
export function endlessLoop(events: readonly LogEvent[]): ReachedLimit | undefined {
  const loop = runningLoop(events);
  if (!loop || loop.repeats < stopAt) return undefined;
  return { reason: "loop", detail: `${loop.what}: ${loop.repeats} times with the same result` };
}

/** Replies of a turn that may be thrown away because they repeat themselves. */
const maxDiscarded = 2;

/** Tells the model why its reply was discarded; returns the reason to end the turn when that happened too often. */
export function discardReply(agent: Agent, repeated: string): ReachedLimit | undefined {
  const sequence = repeated.replaceAll(/\s+/g, " ").trim().slice(0, 80).toWellFormed();
  const detail = `the reply repeated "${sequence}" without end and was cut`;
  agent.log.append({ type: "warning", code: "reply_repeated", text: detail });
  if (discarded(agent.log.events()) >= maxDiscarded) return { reason: "loop", detail };
  appendReminder(agent, [{ topic: "repetition", facts: { sequence } }]);
  return undefined;
}

function discarded(events: readonly LogEvent[]): number {
  const end = events.findLastIndex((event) => event.type === "turn_ended");
  return events.slice(end + 1).filter((event) => isAbout(event, "repetition")).length;
}

/** The limits of which a tenth or less is left, or no more than the next calls will take. */
function runningOut({ log, limits, clock, account }: Agent): { left: string; last: boolean } | undefined {
  const { maxTurns, maxBudgetUsd, deadline } = limits;
  const events = log.events();
  const parts: string[] = [];
  const isLimited = maxTurns !== undefined || maxBudgetUsd !== undefined;
  const spent = isLimited ? (account?.spent() ?? spending(events)) : undefined;
  const turns = (maxTurns ?? Number.POSITIVE_INFINITY) - (spent?.turns ?? 0);
  if (maxTurns !== undefined && turns <= Math.max(1, maxTurns / 10))
    parts.push(turns === 1 ? "This is the last model call" : `${turns} of ${maxTurns} model calls are left`);
  const money = (maxBudgetUsd ?? 0) - (spent?.cost ?? 0);
  if (maxBudgetUsd !== undefined && money <= Math.max(maxBudgetUsd / 10, 2 * lastCost(events)))
    parts.push(`$${money.toFixed(4)} of $${maxBudgetUsd} is left`);
  const time = (deadline ?? 0) - clock();
  if (deadline !== undefined && time <= (deadline - turnStart(events)) / 10)
    parts.push(`about ${Math.max(0, Math.round(time / 1000))} seconds are left`);
  return parts.length > 0 ? { left: parts.join(", "), last: turns === 1 } : undefined;
}

function lastCost(events: readonly LogEvent[]): number {
  const last = lastOf(events, "assistant_message");
  return last ? costOf(last.usage, currentModel(events).model.prices) : 0;
}

/** Returns the start of the running turn, in milliseconds since 1970. */
function turnStart(events: readonly LogEvent[]): number {
  const ended = lastOf(events, "turn_ended");
  return (ended && eventAt(events, ended.seq + 1)?.at) ?? started(events).at;
}
