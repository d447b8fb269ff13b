/** Words reminders and chooses their channel (context-engine §6). Pure. */

import type { EventOf, Topic } from "../../core/events.ts";
import type { Contract } from "../../core/model-card.ts";
import { enclosed, withoutTags } from "../../core/text/tags.ts";

/** One thing to tell the model, with the facts for its wording. */
export type Note = { topic: Topic; facts: Record<string, string | number> };
export type Channel = EventOf<"reminder">["channel"];

/** Topics that matter beyond the next step. */
const lasting: readonly Topic[] = ["todo_changed", "unfold"];

/** Returns the cheapest channel that the model's contract permits and that lasts long enough for the notes. */
export function channelFor({ reminders, history }: Contract, notes: readonly Note[]): Channel {
  if (notes.some(({ topic }) => lasting.includes(topic))) return "logged";
  if (reminders === "turn_scoped" || reminders === "logged") return reminders;
  return history === "free" ? "tail" : "logged";
}

/**
 * Returns the notes as one text. `words`: prompts/reminders.md. `seq`: of the event that will hold it; it selects a
 * wording, so that wordings vary but are reproducible from the log. Throws when a topic has no words.
 */
export function reminderText(
  notes: readonly Note[],
  { words, seq, channel }: { words: string; seq: number; channel: Channel },
): string {
  const text = notes.map((note) => worded(note, words, seq)).join("\n\n");
  return channel === "turn_scoped" ? withoutTags(text) : asReminder(text);
}

/** Marks the text as a reminder, so that it does not pass for the user's words. */
export function asReminder(text: string): string {
  return enclosed("reminder", text);
}

function worded({ topic, facts }: Note, words: string, seq: number): string {
  const section = words.split(/^## /m).find((each) => each.split("\n")[0]?.trim() === topic) ?? "";
  const variants = section.split("\n").filter((line) => line.startsWith("- "));
  const chosen = variants[seq % Math.max(1, variants.length)];
  if (!chosen) throw new Error(`there are no words for reminders about ${topic}`);
  return chosen
    .slice(2)
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(facts[name] ?? "").toWellFormed());
}
