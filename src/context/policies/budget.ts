/** The token budget of a tool result (context-engine §3, `ingest`). Pure. */

import { isToolUse } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import { inputTotal } from "../../core/model-card.ts";
import { currentEngine, currentModel } from "../../core/questions.ts";
import { blocksTokens, textTokens } from "../view/tokens.ts";
import { defaultSettings } from "./settings.ts";
import { stackNamed } from "./stacks.ts";
import { softWindow } from "./window.ts";

/** Enough for an error message, however full the soft window is. */
const leastTokens = 400;
/** Share of the remaining window that all results of one reply may take together. */
const stepShare = 0.6;

/**
 * Returns the budget of the next result: 8,000 tokens, or a tenth of the rest of the soft window if less; and no more
 * than its share of what the calls of one reply may take together, so that many calls cannot fill the window.
 */
export function resultBudget(events: readonly LogEvent[]): number {
  const { engine, context } = currentEngine(events);
  const settings = { ...defaultSettings, ...engine };
  const { model } = currentModel(events);
  const { used, waiting } = newestReply(events);
  const part = (window: number) => (stepShare * Math.max(0, window - used)) / Math.max(1, waiting);
  const hard = part(model.window);
  if (!stackNamed(context).truncates) return Math.round(Math.min(settings.rawTokens, hard));
  const soft = softWindow(model, settings.window).tokens;
  const wanted = Math.min(settings.resultTokens, settings.resultShare * (soft - used), part(soft));
  return Math.round(Math.min(Math.max(leastTokens, wanted), hard));
}

/**
 * Returns the tokens of pasted text above which only its head is sent: 20,000, or a quarter of the soft window if less,
 * because user messages are never edited later.
 */
export function pasteLimit(events: readonly LogEvent[]): number {
  const settings = { ...defaultSettings, ...currentEngine(events).engine };
  const soft = softWindow(currentModel(events).model, settings.window).tokens;
  return Math.round(Math.min(settings.offloadTokens, soft / 4));
}

/** Returns the tokens in use, and the number of calls of the newest reply without a result. */
function newestReply(events: readonly LogEvent[]): { used: number; waiting: number } {
  const index = events.findLastIndex((event) => event.type === "assistant_message");
  const reply = events[index];
  if (reply?.type !== "assistant_message") return { used: 0, waiting: 1 };
  const results = events.slice(index).filter((event) => event.type === "tool_result");
  const shown = results.reduce((sum, { content }) => sum + contentTokens(content), 0);
  const used = inputTotal(reply.usage) + reply.usage.outputTokens + shown;
  return { used, waiting: reply.content.filter(isToolUse).length - results.length };
}

function contentTokens(content: EventOf<"tool_result">["content"]): number {
  return typeof content === "string" ? textTokens(content) : blocksTokens(content);
}
