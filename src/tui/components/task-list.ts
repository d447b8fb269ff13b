/** The task list: counts done tasks and lists open ones. */

import { createElement as h, type ReactNode } from "react";
import { Line, Span } from "./text.ts";

export type Task = { text: string; active: boolean };
/** Props. `listed`: the `open` tasks that fit; when none fit, one row sums up. */
export type TaskListProps = { done: number; open: readonly Task[]; listed: number };

export function taskListHeight({ done, open, listed }: TaskListProps): number {
  return listed === 0 ? 1 : Number(done > 0) + listed + Number(open.length > listed);
}

export function TaskList({ done, open, listed }: TaskListProps): ReactNode {
  if (listed === 0) {
    const next = open.find(({ active }) => active) ?? open[0];
    const text = `  ☐ ${done} of ${done + open.length} tasks done; next: ${next?.text ?? ""}`;
    return h(Line, null, h(Span, { tone: "dim" }, text));
  }
  const more = open.length - listed;
  return [
    done > 0 && h(Line, { key: "done" }, h(Span, { tone: "dim" }, `  ☑ ${done} done`)),
    ...open.slice(0, listed).map((task, index) => h(TaskLine, { key: index, ...task })),
    more > 0 && h(Line, { key: "more" }, h(Span, { tone: "dim" }, `    … ${more} more`)),
  ];
}

function TaskLine({ text, active }: Task): ReactNode {
  return h(
    Line,
    null,
    h(Span, { tone: active ? "accent" : "dim" }, active ? "  ▸ " : "  ☐ "),
    h(Span, { tone: active ? "strong" : "dim" }, text),
  );
}
