/** How much of a tool result the model may read (context-engine §3, `ingest`). Pure. */

import type { LogEvent } from "../core/events.ts";
import { inputTotal } from "../core/model-card.ts";
import { currentModel, lastOf, started } from "../core/questions.ts";
import { defaultSettings } from "./settings.ts";
import { softWindow } from "./window.ts";

/** However full the window is, an error message must come through. */
const leastTokens = 400;

/** Tokens for one result: 8,000, or a tenth of what is left of the soft window when that is less. */
export function resultBudget(events: readonly LogEvent[]): number {
  const { engine, context } = started(events);
  const settings = { ...defaultSettings, ...engine };
  // The measure of all policies: results as long as the hard limit lets them be.
  if (context === "raw") return settings.rawTokens;
  const usage = lastOf(events, "assistant_message")?.usage;
  const used = usage ? inputTotal(usage) + usage.outputTokens : 0;
  const left = softWindow(currentModel(events).model, settings.window).tokens - used;
  return Math.round(Math.max(leastTokens, Math.min(settings.resultTokens, settings.resultShare * left)));
}
