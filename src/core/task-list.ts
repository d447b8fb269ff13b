/** The task list: how it reads, and what the log last had it say. Pure. */

import type { Task } from "./events.ts";
import { memoizedReduce } from "./memoize.ts";

export type { Task } from "./events.ts";

const marks: Record<Task["status"], string> = { open: "[ ]", active: "[>]", done: "[x]" };

/** The list as Markdown, one line a task. */
export function checklist(tasks: readonly Task[]): string {
  return tasks.map((task) => `- ${marks[task.status]} ${task.text.replaceAll(/\s*\n\s*/g, " ")}`).join("\n");
}

/** The answer of the `todo` tool: the list, and how much of it is done. */
export function recital(tasks: readonly Task[]): string {
  if (tasks.length === 0) return "The list is empty.";
  return `${checklist(tasks)}\n(${doneOf(tasks)})`;
}

/** How far a list is: `2 of 5 done`. */
export function doneOf(tasks: readonly Task[]): string {
  const done = tasks.filter((task) => task.status === "done").length;
  return `${done} of ${tasks.length} done`;
}

/**
 * The list as the model knows it: what it wrote last, or what it was told that the person made of it. Undefined
 * when there never was one.
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

/** Characters of a list that the model is told at most. */
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
