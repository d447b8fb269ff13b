/** Tells what a session shows of its files: when each was last read and written, and which the model says it is at. Pure. */

import { isToolUse, type ToolUseBlock } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { openFocus } from "../../core/questions.ts";
import { knownTasks, tasksIn } from "../../core/task-list.ts";
import { recordedKind } from "../reuse/kind.ts";

/** Replies are counted from 1; `replies`: so far. */
export type FileTimes = {
  replies: number;
  read: ReadonlyMap<string, number>;
  wrote: ReadonlyMap<string, number>;
  /** The event of the newest test when it failed, and that of the newest task list; -1 without one. */
  failing: number;
  listed: number;
};

type State = Omit<FileTimes, "read" | "wrote"> & {
  read: Map<string, number>;
  wrote: Map<string, number>;
  calls: ToolUseBlock[];
};

/** The times until the end of the log. */
export const fileTimes: (events: readonly LogEvent[]) => FileTimes = memoizedReduce<State>(
  () => ({ replies: 0, read: new Map(), wrote: new Map(), failing: -1, listed: -1, calls: [] }),
  (state, event) => {
    if (event.type === "tool_result") note(state, event);
    else if (event.type === "assistant_message") {
      state.replies += 1;
      state.calls = event.content.filter(isToolUse);
    }
    return state;
  },
);

function note(state: State, event: EventOf<"tool_result">): void {
  if (event.tasks) state.listed = event.seq;
  const call = event.rejected ? undefined : state.calls.find(({ id }) => id === event.toolUseId);
  if (!call) return;
  const { kind, read, wrote } = recordedKind(call, event);
  if (kind === "test") state.failing = hasFailed(event) ? event.seq : -1;
  for (const path of read) state.read.set(path, state.replies);
  for (const path of wrote) state.wrote.set(path, state.replies);
}

/** Returns true for a call that failed, or a command whose exit status is not 0. */
export function hasFailed({ isError, stats }: EventOf<"tool_result">): boolean {
  return isError || (stats?.exitCode ?? 0) !== 0;
}

/** Returns the newest reply that named one of the files; 0 when none did. */
export function newestOf(times: ReadonlyMap<string, number>, paths: readonly string[]): number {
  let newest = 0;
  for (const path of paths) newest = Math.max(newest, times.get(path) ?? 0);
  return newest;
}

/** Returns the words of the open focus and of the task under way, which may name files; "" without any. */
export function presentAim(events: readonly LogEvent[]): string {
  const active = tasksIn(knownTasks(events) ?? "").filter(({ status }) => status === "active");
  return [openFocus(events)?.objective ?? "", ...active.map(({ text }) => text)].join("\n").trim();
}
