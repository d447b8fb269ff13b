/** Walks a log once and shows the view where a report needs it: at each request and at each edit. Pure. */

import type { EventOf, LogEvent } from "../core/events.ts";
import { foldView, type View } from "./view.ts";

/** A request with the view it was made of, or an edit with the view after it. */
export type Moment = {
  event: EventOf<"model_request"> | EventOf<"context_edited">;
  /** Everything before the event. */
  before: readonly LogEvent[];
  /** Extended in place by the walk: to be read before the next moment is asked for. */
  view: View;
  /** Tokens of the view before the event, uncalibrated. */
  tokensBefore: number;
};

/** The moments of a log in order; the whole walk folds each event once. */
export function* momentsOf(events: readonly LogEvent[]): Generator<Moment> {
  let view = foldView([]);
  for (const [index, event] of events.entries()) {
    if (event.type !== "model_request" && event.type !== "context_edited") continue;
    const before = events.slice(0, index);
    view = foldView(before, view);
    const tokensBefore = view.tokens;
    if (event.type === "context_edited") view = foldView(events.slice(0, index + 1), view);
    yield { event, before, view, tokensBefore };
  }
}
