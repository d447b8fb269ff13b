/** Replaces results too large to carry with a path and a preview (Deep Agents). Pure. */

import { resultText } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import { eventAt } from "../../core/questions.ts";
import { failureOf, whereabouts } from "../view/placeholder.ts";
import { textTokens } from "../view/tokens.ts";
import type { Entry } from "../view/view.ts";
import { type Candidate, editImmediately, type Policy } from "./policy.ts";
import { newestStep, type PolicyInput } from "./policy-input.ts";

const previewLines = 10;

/** Offloads a result above the limit as soon as it is not in the newest step. */
export const offloadPolicy: Policy = {
  name: "offload",
  plan: (snapshot) =>
    editImmediately("offload", "results above the limit", offloadCandidates(snapshot), snapshot),
};

/**
 * Results above 20,000 tokens as published, or a twentieth of the soft window: tool results here are far below
 * the published limit.
 */
export function offloadCandidates(snapshot: PolicyInput): Candidate[] {
  const { view, settings, soft, calibration, events } = snapshot;
  const limit = Math.min(settings.offloadTokens, soft.tokens / 20) / calibration;
  return view.entries
    .slice(0, newestStep(view))
    .flatMap((entry, index) => (entry.tokens > limit ? headOf(entry, index, events, previewLines) : []));
}

/** Returns the edit that keeps the first lines of an observation and the path of the rest. */
function headOf(entry: Entry, index: number, events: readonly LogEvent[], lines: number): Candidate[] {
  const event = entry.edited || entry.standing ? undefined : eventAt(events, entry.seq);
  if (event?.type !== "tool_result") return [];
  const whole = resultText(event.content);
  const head = whole
    .split("\n", lines)
    .join("\n")
    .slice(0, 200 * lines)
    .toWellFormed();
  const count = whole.split("\n").length;
  const failure = failureOf(event, whole);
  const text = `${head}\n[${count} lines in all${failure ? `: ${failure}` : ""} — ${whereabouts(event, events)}]`;
  const removes = entry.tokens - textTokens(text) - 12;
  return removes > 0 ? [{ edit: { type: "replace", seq: entry.seq, block: 0, text }, index, removes }] : [];
}
