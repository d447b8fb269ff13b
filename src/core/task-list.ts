/** The task list: its text, and its newest state in the log. Pure. */

import type { Task } from "./events.ts";
import { memoizedReduce } from "./memoize.ts";

export type { Task } from "./events.ts";

const marks: Record<Task["status"], string> = { open: "[ ]", active: "[>]", done: "[x]" };

/** Formats the list as Markdown, one line per task. */
export function checklist(tasks: readonly Task[]): string {
  return tasks.map((task) => `- ${marks[task.status]} ${task.text.replaceAll(/\s*\n\s*/g, " ")}`).join("\n");
}

/** Reads a list as `checklist` writes it; lines that are no task are left out. */
export function tasksIn(list: string): Task[] {
  return [...list.matchAll(/^\s*[-*] \[([ >x])\] (.*\S)\s*$/gim)].map(([, mark = "", text = ""]) => ({
    text,
    status: mark === " " ? "open" : mark === ">" ? "active" : "done",
  }));
}

/** Returns the result of the `todo` tool: the list and how much of it is done. */
export function recital(tasks: readonly Task[]): string {
  if (tasks.length === 0) return "The list is empty.";
  return `${checklist(tasks)}\n(${doneOf(tasks)})`;
}

/** Describes the progress: `2 of 5 done`. */
export function doneOf(tasks: readonly Task[]): string {
  const done = tasks.filter((task) => task.status === "done").length;
  return `${done} of ${tasks.length} done`;
}

/**
 * The list as the model knows it: as it last wrote it, or as it was told that the user edited it. Undefined
 * when there was none.
 */
export const knownTasks = memoizedReduce<string | undefined>(
  () => undefined,
  (known, event) => {
    if (event.type === "reminder") return event.todo ?? known;
    return event.type === "tool_result" && event.tasks ? checklist(event.tasks) : known;
  },
);

/** Returns true when two texts are the same list; line endings do not count. */
export function isSameList(list: string, other: string): boolean {
  return normal(list) === normal(other);
}

/** Most characters of a list in a reminder. */
export const maxListLength = 8_000;

function normal(list: string): string {
  return list
    .slice(0, maxListLength)
    .replaceAll(/[ \t]*\r?\n/g, "\n")
    .trim();
}

/** Returns true when the list has a task that is not done. */
export function hasOpenTasks(list: string): boolean {
  return /^\s*[-*] \[[ >]\]/m.test(list);
}
