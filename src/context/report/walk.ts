/** Walks a log once and yields the view at each request and each edit, for reports. Pure. */

import type { EventOf, LogEvent } from "../../core/events.ts";
import { type View, type ViewReader, viewReader } from "../view/view.ts";

/** A request with the view it was made of, or an edit with the view after it. */
export type Moment = {
  event: EventOf<"model_request"> | EventOf<"context_edited">;
  /** The events that `view` shows. Both are extended in place: read them before asking for the next moment. */
  events: readonly LogEvent[];
  view: View;
  /** Entries at the beginning of the view unchanged since the moment before. */
  unchanged: number;
  /** Tokens of the view before the event, uncalibrated. */
  tokensBefore: number;
};

/**
 * The moments of a log in order; the whole walk folds each event once. `reader` is a fresh one: after the walk it can
 * read on to the view at the end of the log.
 */
export function* momentsOf(
  events: readonly LogEvent[],
  reader: ViewReader = viewReader(),
): Generator<Moment> {
  // One growing array, so that memoized reducers read each event once.
  const read: LogEvent[] = [];
  for (const event of events) {
    if (event.type !== "model_request" && event.type !== "context_edited") {
      read.push(event);
      continue;
    }
    const view = reader.read(read);
    let { unchanged } = view;
    const tokensBefore = view.tokens;
    if (event.type === "context_edited") {
      read.push(event);
      unchanged = Math.min(unchanged, reader.read(read).unchanged);
    }
    yield { event, events: read, view, unchanged, tokensBefore };
    if (event.type === "model_request") read.push(event);
  }
}
