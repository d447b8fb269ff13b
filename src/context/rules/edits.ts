/** Checks what an edit may touch (rules 5 and 6). Pure. */

import { resultText } from "../../core/blocks.ts";
import type { ContextEdit, EventOf, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { eventAt, userMessages } from "../../core/questions.ts";
import { withoutTags } from "../../core/text/tags.ts";
import type { Entry, View } from "../view/view.ts";
import type { Violation } from "./request.ts";

/** The rules that edits from the index `from` of the log on break. `view`: with them made. Free without any. */
export function brokenEdits(events: readonly LogEvent[], from: number, view: View): Violation[] {
  const broken: Violation[] = [];
  for (let index = from; index < events.length; index++) {
    const event = events[index];
    if (event?.type !== "context_edited") continue;
    for (const edit of event.edits)
      broken.push(...durable(edit, event, events), ...untouchable(edit, event, events, index));
  }
  const edited = events.slice(from).some((event) => event.type === "context_edited");
  if (edited) broken.push(...silenced(events, view), ...unsaid(events, view));
  return broken;
}

function broke(rule: 5 | 6, seq: number, text: string): Violation {
  return { rule, at: `event ${seq}`, text, refusedByApi: false };
}

/** Rule 5: what it takes out is in the log, and older than the edit. */
function durable(edit: ContextEdit, { seq }: LogEvent, events: readonly LogEvent[]): Violation[] {
  const named = edit.type === "replace" ? [edit.seq] : edit.type === "collapse" ? [edit.from, edit.to] : [];
  const missing = named.filter((each) => each >= seq || !eventAt(events, each));
  return missing.map((each) => broke(5, seq, `the edit takes out the event ${each}, which no line holds`));
}

/** Rule 6. A focus closes with the newest step, and a repair takes what it must: they may reach to the end. */
function untouchable(
  edit: ContextEdit,
  { seq, policy, fold }: EventOf<"context_edited">,
  events: readonly LogEvent[],
  index: number,
): Violation[] {
  if (edit.type === "drop_thinking") return [];
  const broken: Violation[] = [];
  const target = edit.type === "replace" ? eventAt(events, edit.seq) : undefined;
  if (
    edit.type === "replace" &&
    target?.type === "user_message" &&
    edit.block >= (target.preamble?.length ?? 0)
  )
    broken.push(broke(6, seq, `the edit changes words of the person (event ${edit.seq})`));
  const whole = fold !== undefined || policy === "repair";
  const reply = events.findLast((event, at) => at < index && event.type === "assistant_message");
  const newest = reply?.seq ?? Number.POSITIVE_INFINITY;
  if (!whole && (edit.type === "replace" ? edit.seq : edit.to) >= newest)
    broken.push(broke(6, seq, `the edit touches the newest step (event ${newest})`));
  return broken;
}

/** Rule 6: every message of the person is in the view, word for word. */
function silenced(events: readonly LogEvent[], view: View): Violation[] {
  const present = new Map(
    view.entries.flatMap((entry) => (entry.isUserText ? [[entry.seq, entry.blocks]] : [])),
  );
  return userMessages(events).flatMap((event) => {
    const blocks = present.get(event.seq);
    const whole = event.content.every((block) => blocks?.includes(block));
    return whole ? [] : [broke(6, event.seq, "a message of the person is no longer in the view")];
  });
}

/** Rule 6: the newest text of every instruction file that was read is in the view, word for word. */
function unsaid(events: readonly LogEvent[], { entries }: View): Violation[] {
  const missing = [...new Set(standing(events).values())].filter((event) => {
    const held = entries.filter(({ seq, standing }) => seq === event.seq && standing).flatMap(textsOf);
    const words = wordsOf(event).trim();
    return !held.some((text) => text.includes(words) || text.includes(withoutTags(words)));
  });
  return missing.map(({ seq }) => broke(6, seq, "an instruction that was read is no longer in the view"));
}

type Instruction = EventOf<"tool_result"> | EventOf<"reminder">;

/** The newest event that holds the text of each instruction file, by its path. */
const standing = memoizedReduce<Map<string, Instruction>>(
  () => new Map(),
  (newest, event) => {
    if (event.type === "reminder" && event.released)
      for (const [path, { seq }] of newest) if (event.released.includes(seq)) newest.delete(path);
    if (event.type === "tool_result" || event.type === "reminder")
      for (const path of event.instructions ?? []) newest.set(path, event);
    return newest;
  },
);

function wordsOf(event: Instruction): string {
  return event.type === "reminder" ? event.text : resultText(event.content);
}

function textsOf({ blocks }: Entry): string[] {
  return blocks.flatMap((block) => {
    if (block.type === "text") return [block.text];
    return block.type === "tool_result" ? [resultText(block.content)] : [];
  });
}
