/** The task list for the panel, as far as there is room. Pure. */

import type { TaskListProps } from "../components/task-list.ts";
import { cut, safe } from "../rows/rows.ts";

const mostListed = 5;

/** `room`: rows. `working`: a turn is running. */
export type Panel = { columns: number; working: boolean; room: number };

/**
 * Returns the view of the list; undefined when everything is done; a summary when no turn runs, or where room is short.
 */
export function taskListView(
  list: string | undefined,
  { columns, working, room }: Panel,
): TaskListProps | undefined {
  const tasks = [...(list ?? "").matchAll(/^\s*[-*] \[([ xX>])\] (.*)$/gm)];
  const open = tasks
    .filter(([, status = ""]) => status.toLowerCase() !== "x")
    .map(([, status, text = ""]) => ({ text: cut(safe(text), columns), active: status === ">" }));
  if (open.length === 0 || room === 0) return undefined;
  const done = tasks.length - open.length;
  if (!working || room < 3) return { done, open, listed: 0 };
  return { done, open, listed: Math.max(1, Math.min(mostListed, room - 2, open.length)) };
}
