/** The sentences and figures of the report page, as HTML. Pure. */

import {
  economicsText,
  formatDuration,
  formatPercent,
  money,
  plural,
  signed,
} from "../../context/report/amounts.ts";
import type { EditRow } from "../../context/report/edits.ts";
import type { SessionFacts } from "../../context/report/facts.ts";
import { type ElongationTotals, type SessionReport, stateOf } from "../../context/report/report.ts";
import { hitRate, type StepRow } from "../../context/report/steps.ts";
import { sentenceOf } from "../../context/view/edit-words.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { html } from "./escape.ts";

export function sessionText(session: SessionFacts): string {
  const { model, effort, context, from, to, userMessages } = session;
  return html(
    `${model}${effort ? `, effort ${effort}` : ""}, context ${context}; ${plural(userMessages, "message")} in ${formatDuration(to - from)}; ${stateOf(session)}`,
  );
}

export function softText({ soft }: Pick<SessionReport, "soft">): string {
  return html(
    `Soft window: ${formatInteger(soft.tokens)} of ${formatInteger(soft.window)} tokens (${soft.source})`,
  );
}

/** Figures at the top. `removed` and `worth`: over all edits, in tokens and dollars; `tokens`: of the next request. */
export type Figures = Pick<SessionReport, "size" | "cache"> & {
  steps: number;
  tokens: number;
  cost: number;
  removed: number;
  worth: number;
};

/** Each with its name. */
export function figureRows(figures: Figures): string[] {
  const { steps, size, cache, cost, tokens, removed, worth } = figures;
  const rows: [string, string][] = [
    ["steps", formatInteger(steps)],
    ["peak tokens", formatInteger(size.peak)],
    ["mean tokens", formatInteger(size.mean)],
    ["tokens now", formatInteger(tokens)],
    ["read from cache", formatPercent(cache.hitRate)],
    ["cost", money(cost)],
    ["tokens forgotten", formatInteger(removed)],
    ["worth of it", signed(worth)],
  ];
  return rows.map(([name, value]) => `<div><b>${html(value)}</b><span>${name}</span></div>`);
}

export function deferredText(tokens: number): string {
  return tokens > 0 ? `${formatInteger(tokens)} tokens could be forgotten, but it does not pay yet.` : "";
}

export function editsNote(
  edits: number,
  { longer, lossy }: Pick<ElongationTotals, "longer" | "lossy">,
): string {
  return edits === 0
    ? "There were none."
    : `After ${longer} of ${plural(lossy, "lossy edit")}, more calls were repeated in the next 15 steps than in the 15 before.`;
}

export function missesText({
  cache: { misses },
  estimate,
}: Pick<SessionReport, "cache" | "estimate">): string {
  return `Steps that read less from the cache than stood in it: ${misses.edit} after an edit, ${misses.cold} after a pause, ${misses.model} after a change of model, ${misses.unexpected} for no reason in the log.
The size estimate was off by ${formatPercent(estimate.median)} in the median step and ${formatPercent(estimate.p95)} at the 95th percentile.`;
}

/** The text shown for the step under the pointer. Not HTML. */
export function stepText(row: StepRow): string {
  const hit = hitRate(row);
  return [
    `Step ${row.step}: ${formatInteger(row.tokens)} tokens${row.usage ? "" : ", estimated: no reply was reported"}`,
    hit === undefined ? "" : `${formatPercent(hit)} from cache`,
    row.usage ? money(row.cost) : "",
    row.miss ? `cache miss: ${row.miss}` : "",
    row.retries > 0 ? plural(row.retries, "retry", "retries") : "",
    row.deferredTokens > 0 ? `${formatInteger(row.deferredTokens)} tokens deferred` : "",
    row.calls.join(", "),
  ]
    .filter(Boolean)
    .join("; ");
}

/** The text shown for an edit; the page adds what it has been worth. Not HTML. */
export function editText({ step, policy, words, economics }: EditRow): string {
  const numbers = economicsText(economics);
  return `Before step ${step}, ${policy}: ${sentenceOf(words)}${numbers ? ` (${numbers})` : ""}.`;
}
