/** `sawtooth report`: the context and cost of a session, or the exact request of one of its steps. */

import { requestOfStep } from "../context/compose.ts";
import { contextSizes, drawCurve } from "../context/curve.ts";
import type { LogEvent } from "../core/events.ts";
import { inputTotal } from "../core/model-card.ts";
import type { Model } from "../core/ports.ts";
import { allOf, spending, started } from "../core/questions.ts";
import { UsageError } from "./arguments.ts";

/** The whole report as text. */
export function reportText(events: readonly LogEvent[]): string {
  const { sessionId, cwd } = started(events);
  return [
    `Session ${sessionId} in ${cwd}`,
    "",
    ...drawCurve(contextSizes(events)),
    "",
    ...costLines(events),
    "",
  ].join("\n");
}

/** Steps, edits, tokens and dollars in a few lines. */
export function costLines(events: readonly LogEvent[]): string[] {
  const { turns, usage, cost } = spending(events);
  const input = inputTotal(usage);
  const hit = input === 0 ? 0 : (100 * usage.cacheReadTokens) / input;
  const written = usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
  const count = (value: number) => value.toLocaleString("en-US");
  const edits = allOf(events, "context_edited");
  return [
    `${turns} steps, ${allOf(events, "tool_result").length} tool results, ${edits.length} context edits`,
    `input ${count(input)} tokens: ${count(usage.cacheReadTokens)} read from cache (${hit.toFixed(1)} %), ${count(written)} written, ${count(usage.inputTokens)} uncached`,
    `output ${count(usage.outputTokens)} tokens`,
    `cost $${cost.toFixed(4)}`,
  ];
}

/** The exact body that was sent at `step`, rebuilt from the log. Throws `UsageError`. */
export function stepBody(events: readonly LogEvent[], step: number, encode: Model["encode"]): string {
  const composed = requestOfStep(events, step);
  const steps = allOf(events, "model_request").length;
  if (!composed) throw new UsageError(`--step ${step}: this session has ${steps} steps`);
  return encode(composed.request);
}
