/** Learns the model's real context window from a "prompt too long" error. */

import { calibration } from "../context/view/tokens.ts";
import type { LogEvent } from "../core/events.ts";
import type { ModelCard } from "../core/model-card.ts";
import { currentModel, lastOf } from "../core/questions.ts";
import type { Agent } from "./agent.ts";

/** Refused requests in a row after which the window is no longer lowered. */
const mostTries = 3;

/**
 * Takes the numbers out of "prompt is too long: 53007 tokens > 27009 maximum" and the like, and lowers the window in
 * the log to what they mean in our own estimate. Returns true when it did, so that the step is worth another try.
 */
export function learnWindow(agent: Agent, refusal: string): boolean {
  const events = agent.log.events();
  const { model, effort } = currentModel(events);
  const numbers = (refusal.match(/\d[\d,]{3,}/g) ?? []).map((text) => Number(text.replaceAll(",", "")));
  const request = lastOf(events, "model_request");
  const reply = lastOf(events, "assistant_message");
  const tries = events.filter(
    (event) => event.type === "warning" && event.code === "window_learned" && event.seq > (reply?.seq ?? 0),
  );
  if (numbers.length === 0 || !request || tries.length >= mostTries) return false;
  const limit = Math.min(model.window, ...numbers);
  const sent = Math.max(limit, ...numbers);
  const estimated = request.tokensEstimated * calibration(events);
  const window = Math.floor(limit * Math.min(1, estimated / sent));
  if (window > 0.98 * model.window) return false;
  agent.log.append({
    type: "warning",
    code: "window_learned",
    text: `the API refused a request as too long: the window of ${model.id} is taken as ${window} tokens`,
  });
  agent.log.append({ type: "model_changed", model: { ...model, window }, ...(effort ? { effort } : {}) });
  return true;
}

/** Returns the card with the window that the session has learned, unless another one has become known for it since. */
export function withLearnedWindow(events: readonly LogEvent[], card: ModelCard): ModelCard {
  let own: number | undefined;
  let learned: number | undefined;
  for (const [at, event] of events.entries()) {
    const next = events[at + 1];
    if (event.type !== "warning" || event.code !== "window_learned") continue;
    if (next?.type !== "model_changed" || next.model.id !== card.id) continue;
    const { window } = currentModel(events.slice(0, at)).model;
    own = window === learned ? own : window;
    learned = next.model.window;
  }
  return learned === undefined || own !== card.window ? card : { ...card, window: learned };
}
