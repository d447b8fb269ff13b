/** The facts of a session: where, with which model, since when, how far. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";

export type SessionFacts = {
  id: string;
  cwd: string;
  model: string;
  effort?: string;
  /** Name of the policy stack that it began with. */
  context: string;
  /** The end of the newest turn; undefined while it runs, or when the session was cut off in it. */
  end?: EventOf<"turn_ended">;
  /** Milliseconds since 1970 of the first and the last event. */
  from: number;
  to: number;
  events: number;
  userMessages: number;
  toolResults: number;
};

/** Gathers the facts event by event, from `session_started` on. */
export function factReader(start: EventOf<"session_started">): {
  take(event: LogEvent): void;
  facts(): SessionFacts;
} {
  const { sessionId: id, cwd, context, at: from } = start;
  let { model, effort } = start;
  let [to, events, userMessages, toolResults] = [from, 0, 0, 0];
  let end: EventOf<"turn_ended"> | undefined;
  const take = (event: LogEvent): void => {
    events += 1;
    to = event.at;
    if (event.type === "model_changed") ({ model, effort } = event);
    if (event.type === "user_message") {
      userMessages += 1;
      end = undefined;
    }
    if (event.type === "tool_result") toolResults += 1;
    if (event.type === "turn_ended") end = event;
  };
  const facts = (): SessionFacts => ({
    ...{ id, cwd, model: model.id, context, from, to, events, userMessages, toolResults },
    ...(effort ? { effort } : {}),
    ...(end ? { end } : {}),
  });
  return { take, facts };
}
