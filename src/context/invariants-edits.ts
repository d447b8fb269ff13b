/** What an edit may touch (rules 5 and 6 of invariants.ts). Pure. */

import type { ContextEdit, EventOf, LogEvent } from "../core/events.ts";
import { eventAt } from "../core/questions.ts";
import type { View } from "./view.ts";

/** The rules that edits from the index `from` of the log on break. `view`: with them made. Free without any. */
export function brokenEdits(events: readonly LogEvent[], from: number, view: View): string[] {
  const broken: string[] = [];
  for (let index = from; index < events.length; index++) {
    const event = events[index];
    if (event?.type !== "context_edited") continue;
    for (const edit of event.edits)
      broken.push(...durable(edit, event, events), ...untouchable(edit, event, events, index));
  }
  const edited = events.slice(from).some((event) => event.type === "context_edited");
  if (edited) broken.push(...silenced(events, view));
  return broken;
}

/** Rule 5: what it takes out is in the log, and older than the edit. */
function durable(edit: ContextEdit, { seq }: LogEvent, events: readonly LogEvent[]): string[] {
  const named = edit.type === "replace" ? [edit.seq] : edit.type === "collapse" ? [edit.from, edit.to] : [];
  const missing = named.filter((each) => each >= seq || !eventAt(events, each));
  return missing.map((each) => `rule 5: the edit ${seq} takes out the event ${each}, which no line holds`);
}

/** Rule 6. A focus closes with the newest step, and a repair takes what it must: they may reach to the end. */
function untouchable(
  edit: ContextEdit,
  { seq, policy }: EventOf<"context_edited">,
  events: readonly LogEvent[],
  index: number,
): string[] {
  if (edit.type === "drop_thinking") return [];
  const broken: string[] = [];
  const target = edit.type === "replace" ? eventAt(events, edit.seq) : undefined;
  if (
    edit.type === "replace" &&
    target?.type === "user_message" &&
    edit.block >= (target.preamble?.length ?? 0)
  )
    broken.push(`rule 6: the edit ${seq} changes words of the person (event ${edit.seq})`);
  const whole = policy.startsWith("focus") || policy === "repair";
  const reply = events.findLast((event, at) => at < index && event.type === "assistant_message");
  const newest = reply?.seq ?? Number.POSITIVE_INFINITY;
  if (!whole && (edit.type === "replace" ? edit.seq : edit.to) >= newest)
    broken.push(`rule 6: the edit ${seq} touches the newest step (event ${newest})`);
  return broken;
}

/** Rule 6: every message of the person is in the view, word for word. */
function silenced(events: readonly LogEvent[], view: View): string[] {
  const held = new Map(view.entries.flatMap((entry) => (entry.said ? [[entry.seq, entry.blocks]] : [])));
  return events.flatMap((event) => {
    if (event.type !== "user_message") return [];
    const blocks = held.get(event.seq);
    const whole = event.content.every((block) => blocks?.includes(block));
    return whole ? [] : [`rule 6: a message of the person (event ${event.seq}) is no longer in the view`];
  });
}
