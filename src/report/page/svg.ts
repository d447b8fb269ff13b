/**
 * The context over the steps as an inline SVG that stretches to its box; labels and marks stand around it as HTML.
 * Pure.
 */

import { formatTokens } from "../../context/report/amounts.ts";
import type { EditRow } from "../../context/report/edits.ts";
import type { SessionReport } from "../../context/report/report.ts";
import type { StepRow } from "../../context/report/steps.ts";
import { html } from "./escape.ts";

const height = 100;

/** The drawing with its axes, its marks, and the line that tells what is under the pointer. */
export function curveHtml({ steps, soft, edits, size }: SessionReport): string {
  const peak = steps.reduce((most, step) => Math.max(most, step.tokens), 1);
  const top = size.peak > soft.tokens / 2 ? Math.max(peak, soft.tokens) : peak;
  const limit = soft.tokens <= top ? lineAt(soft.tokens, top, steps.length) : "";
  const ticks = [1, 0.75, 0.5, 0.25, 0].map(
    (share) => `<span style="bottom:${100 * share}%">${formatTokens(top * share)}</span>`,
  );
  return `<figure class="curve">
<div class="plot">
<div class="ticks" aria-hidden="true">${ticks.join("")}</div>
<svg viewBox="0 0 ${Math.max(1, steps.length)} ${height}" preserveAspectRatio="none" role="img" aria-label="Input tokens of each step, at most ${html(formatTokens(peak))}">
${[0.25, 0.5, 0.75].map((share) => `<path class="grid" d="M0 ${height * share}h${steps.length}"/>`).join("")}
${layers(steps, top)}
${edits.map((edit) => `<path class="cut" d="M${edit.step - 1} 0v${height}"/>`).join("")}${limit}
<rect id="cursor" x="-2" y="0" width="1" height="${height}"/></svg>
<div class="marks">${edits.map((edit, index) => mark(edit, index, steps.length)).join("")}</div>
</div>
<div class="axis" aria-hidden="true"><span>step 1</span><span>${steps.length}</span></div>
<figcaption><span class="key read">read from cache</span><span class="key write">written to cache</span><span class="key fresh">uncached</span><span class="key open">no report</span><span class="key edit">context edit</span>${limit ? '<span class="key limit">soft window</span>' : ""}</figcaption>
<p id="readout" aria-live="polite">Point at a step or at an edit. A click on a step shows its request.</p>
</figure>`;
}

/** Each bucket is one path of bars, stacked on the one before. */
function layers(steps: readonly StepRow[], top: number): string {
  const scale = height / top;
  const paths: Record<"read" | "write" | "fresh" | "open", string> = {
    read: "",
    write: "",
    fresh: "",
    open: "",
  };
  for (const [x, { usage, tokens }] of steps.entries()) {
    let base = height;
    const stack = (layer: keyof typeof paths, amount: number) => {
      if (amount === 0) return;
      const tall = amount * scale;
      paths[layer] += `M${x} ${round(base)}v${round(-tall)}h1v${round(tall)}z`;
      base -= tall;
    };
    if (!usage) stack("open", tokens);
    stack("read", usage?.cacheReadTokens ?? 0);
    stack("write", (usage?.cacheWrite5mTokens ?? 0) + (usage?.cacheWrite1hTokens ?? 0));
    stack("fresh", usage?.inputTokens ?? 0);
  }
  return Object.entries(paths)
    .map(([layer, d]) => (d ? `<path class="${layer}" d="${d}"/>` : ""))
    .join("\n");
}

function lineAt(tokens: number, top: number, width: number): string {
  return `<path class="limit" d="M0 ${round(height * (1 - tokens / top))}h${width}"/>`;
}

/** A button, so that it can be reached with the keyboard and touched. */
function mark({ step, policy, reason }: EditRow, index: number, steps: number): string {
  const left = round((100 * (step - 1)) / Math.max(1, steps));
  const label = html(`Edit before step ${step}, ${policy}: ${reason}`);
  return `<button type="button" data-edit="${index}" style="left:${left}%" title="${label}" aria-label="${label}"></button>`;
}

function round(value: number): number {
  return Math.round(100 * value) / 100;
}
