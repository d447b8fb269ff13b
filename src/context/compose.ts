/** From the log to the next request. Pure: the same log gives the same bytes, today and in a report. */

import type { LogEvent } from "../core/events.ts";
import { currentModel, openFocus, started } from "../core/questions.ts";
import type { ModelRequest } from "../core/request.ts";
import { cachePoints } from "./cache-points.ts";
import { messagesOf } from "./messages.ts";
import { calibration, fixedTokens } from "./tokens.ts";
import { foldView, type View } from "./view.ts";

/** No reply is asked to be longer: a longer one is better split, and a cut call is lost work. */
const maxReplyTokens = 32_000;

/** `estimated`: input tokens as bytes over four; `expected`: the same, calibrated by what the API reported. */
export type Composed = { request: ModelRequest; estimated: number; expected: number };

/** The request that follows from a log whose view is `view`. */
export function composeRequest(events: readonly LogEvent[], view: View): Composed {
  const { system, tools } = started(events);
  const { model, effort } = currentModel(events);
  const placed = messagesOf(view.entries);
  const estimated = fixedTokens(events) + view.tokens;
  const expected = Math.ceil(estimated * calibration(events));
  const request: ModelRequest = {
    model: model.id,
    system,
    tools,
    messages: placed.map(({ message }) => message),
    cacheAfter: cachePoints(placed, model.contract, checkpoint(events, view)),
    maxTokens: Math.max(1, Math.min(maxReplyTokens, model.maxOutput, model.window - expected)),
    thinking: model.thinking,
    ...(effort ? { effort } : {}),
    ...(view.dropBlock ? { blockBinding: "drop_block" as const } : {}),
  };
  return { request, estimated, expected };
}

/** The last entry that a fold of the open focus would keep; without one, the last edited entry. */
function checkpoint(events: readonly LogEvent[], view: View): number | undefined {
  const focus = openFocus(events);
  if (focus) return view.entries.findLast((entry) => entry.seq < focus.resultSeq)?.seq;
  return view.entries.findLast((entry) => entry.edited)?.seq;
}

/** The request of step `step` (from 1), rebuilt from the log alone; undefined when there was no such step. */
export function requestOfStep(events: readonly LogEvent[], step: number): Composed | undefined {
  let count = 0;
  const index = events.findIndex((event) => event.type === "model_request" && ++count === step);
  if (index < 0) return undefined;
  const before = events.slice(0, index);
  return composeRequest(before, foldView(before));
}
