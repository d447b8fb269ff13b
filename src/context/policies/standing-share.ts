/** Bounds what instructions that were read may take together: the oldest become ordinary results again. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { currentEngine, currentModel } from "../../core/questions.ts";
import { type StandingText, standingTexts } from "../view/standing.ts";
import { calibration } from "../view/tokens.ts";
import { defaultSettings } from "./settings.ts";
import { softWindow } from "./window.ts";

/** Share of the soft window: with more, what a session works on has no room beside its instructions. */
const share = 0.25;

/** Returns the texts that no longer stand, oldest first. The newest always stands. */
export function standingBeyondShare(events: readonly LogEvent[]): StandingText[] {
  const texts = standingTexts(events);
  if (texts.length < 2) return [];
  const settings = { ...defaultSettings, ...currentEngine(events).engine };
  const most = share * softWindow(currentModel(events).model, settings.window).tokens;
  const factor = calibration(events);
  let left = texts.reduce((sum, { tokens }) => sum + tokens, 0) * factor;
  return texts.slice(0, -1).filter(({ tokens }) => {
    const isBeyond = left > most;
    if (isBeyond) left -= tokens * factor;
    return isBeyond;
  });
}
