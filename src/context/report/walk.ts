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
  const walk = walker(reader);
  for (const event of events) {
    const moment = walk(event);
    if (moment) yield moment;
  }
}

/** The walk event by event: returns the moment of an event that is one. A moment stands until the next event. */
export function walker(reader: ViewReader = viewReader()): (event: LogEvent) => Moment | undefined {
  // One growing array, so that memoized reducers read each event once.
  const read: LogEvent[] = [];
  let request: LogEvent | undefined;
  return (event) => {
    if (request) read.push(request);
    request = undefined;
    if (event.type === "model_request") {
      request = event;
      const view = reader.read(read);
      return { event, events: read, view, unchanged: view.unchanged, tokensBefore: view.tokens };
    }
    if (event.type === "context_edited") {
      const view = reader.read(read);
      const { unchanged, tokens } = view;
      read.push(event);
      const after = reader.read(read);
      return {
        ...{ event, events: read, view: after, tokensBefore: tokens },
        unchanged: Math.min(unchanged, after.unchanged),
      };
    }
    read.push(event);
    return undefined;
  };
}
