/**
 * The context over the steps as an inline SVG that stretches to its box; labels and marks stand around it as HTML.
 * Pure.
 */

import { formatTokens } from "../../context/report/amounts.ts";
import type { EditRow } from "../../context/report/edits.ts";
import type { SessionReport } from "../../context/report/report.ts";
import type { StepRow } from "../../context/report/steps.ts";
import { sentenceOf } from "../../context/view/edit-words.ts";
import { html } from "./escape.ts";

const height = 100;
const buckets = ["read", "write", "fresh", "open"] as const;

/** The surroundings of the bars, which change with the highest. */
export type CurveFrame = {
  /** Tokens at the top. */
  top: number;
  /** The soft window in tokens, where it is drawn. */
  limit?: number;
  /** HTML of the labels of the axis. */
  ticks: string;
  label: string;
};

/** `peak`: tokens of the largest step, estimated ones among them; `size.peak`: of the largest that was answered. */
export function curveFrame(peak: number, { soft, size }: Pick<SessionReport, "soft" | "size">): CurveFrame {
  const top = size.peak > soft.tokens / 2 ? Math.max(peak, soft.tokens) : peak;
  const ticks = [1, 0.75, 0.5, 0.25, 0].map(
    (share) => `<span style="bottom:${100 * share}%">${formatTokens(top * share)}</span>`,
  );
  return {
    top,
    ...(soft.tokens <= top ? { limit: soft.tokens } : {}),
    ticks: ticks.join(""),
    label: `Input tokens of each step, at most ${formatTokens(peak)}`,
  };
}

/** The bars of a step in tokens, a piece of path for each bucket: read, written, uncached, not reported. */
export function barsOf({ usage, tokens }: StepRow, x: number): string[] {
  const written = (usage?.cacheWrite5mTokens ?? 0) + (usage?.cacheWrite1hTokens ?? 0);
  const amounts = [usage?.cacheReadTokens ?? 0, written, usage?.inputTokens ?? 0, usage ? 0 : tokens];
  let base = 0;
  return amounts.map((amount) => {
    const bar = amount === 0 ? "" : `M${x} ${base}v${amount}h1v${-amount}z`;
    base += amount;
    return bar;
  });
}

/** The drawing with its axes, its marks, and the line that tells what is under the pointer. */
export function curveHtml(
  { top, limit, ticks, label }: CurveFrame,
  {
    bars,
    cuts,
    marks,
  }: { bars: readonly (readonly string[])[]; cuts: readonly string[]; marks: readonly string[] },
): string {
  const width = Math.max(1, bars.length);
  const layers = buckets.map(
    (bucket, index) => `<path class="${bucket}" d="${bars.map((bar) => bar[index] ?? "").join("")}"/>`,
  );
  const line = limit === undefined ? "" : `M0 ${limit}h${width}`;
  return `<figure class="curve">
<div class="plot">
<div class="ticks" aria-hidden="true" id="ticks">${ticks}</div>
<svg viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${html(label)}">
${[0.25, 0.5, 0.75].map((share) => `<path class="grid" d="M0 ${height * share}h1" transform="scale(${width} 1)"/>`).join("")}
<g id="bars" transform="translate(0 ${height}) scale(1 ${-height / top})">${layers.join("\n")}<path class="limit" d="${line}"/></g>
<g data-rows="cuts">${cuts.join("")}</g>
<rect id="cursor" x="-2" y="0" width="1" height="${height}"/></svg>
<div class="marks" data-rows="marks">${marks.join("")}</div>
</div>
<div class="axis" aria-hidden="true"><span>step 1</span><span id="last">${bars.length}</span></div>
<figcaption><span class="key read">read from cache</span><span class="key write">written to cache</span><span class="key fresh">uncached</span><span class="key open">no report</span><span class="key edit">context edit</span><span class="key limit" id="limit"${line ? "" : " hidden"}>soft window</span></figcaption>
<p id="readout" aria-live="polite">Point at a step or at an edit. A click on a step shows its request.</p>
</figure>`;
}

/** The line of an edit through the curve. */
export function cutHtml({ step }: EditRow): string {
  return `<path class="cut" d="M${step - 1} 0v${height}"/>`;
}

/** The mark of an edit below the curve of `steps` steps: a button, so that it can be reached with the keyboard and touched. */
export function markHtml({ step, policy, words }: EditRow, index: number, steps: number): string {
  const left = Math.round((10_000 * (step - 1)) / Math.max(1, steps)) / 100;
  const label = html(`Edit before step ${step}, ${policy}: ${sentenceOf(words)}`);
  return `<button type="button" data-edit="${index}" data-before="${step}" style="left:${left}%" title="${label}" aria-label="${label}"></button>`;
}
