/** The input of a policy: the log, the view and the sizes that follow from them. Pure. */

import type { LogEvent } from "../../core/events.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { currentEngine, currentModel } from "../../core/questions.ts";
import { calibration, fixedTokens } from "../view/tokens.ts";
import type { View } from "../view/view.ts";
import { defaultSettings, type EngineSettings } from "./settings.ts";
import { type SoftWindow, softWindow } from "./window.ts";

export type PolicyInput = {
  events: readonly LogEvent[];
  view: View;
  /** Milliseconds since 1970: when the next request would go out. */
  now: number;
  settings: EngineSettings;
  model: ModelCard;
  soft: SoftWindow;
  /** Reported over estimated tokens. */
  calibration: number;
  /** Calibrated input tokens of the next request as the view stands. */
  expected: number;
};

export function policyInputOf(events: readonly LogEvent[], view: View, now: number): PolicyInput {
  const settings = { ...defaultSettings, ...currentEngine(events).engine };
  const { model } = currentModel(events);
  const factor = calibration(events);
  return {
    events,
    view,
    now,
    settings,
    model,
    soft: softWindow(model, settings.window),
    calibration: factor,
    expected: Math.ceil((fixedTokens(events) + view.tokens) * factor),
  };
}

/** Index of the first entry of the newest step, which no edit may touch: its reply and what followed. */
export function newestStep(view: View): number {
  return Math.max(
    0,
    view.entries.findLastIndex((entry) => entry.role === "assistant"),
  );
}
