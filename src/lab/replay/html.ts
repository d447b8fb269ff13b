/** The sawtooth of a replay as one self-contained page: the context over the steps, one line for each stack. Pure. */

import { formatPercent, formatTokens, money, signedPercent } from "../../context/report/amounts.ts";
import { html } from "../../report/page/escape.ts";
import type { Reuse } from "../reuse/measure.ts";
import { reusePicture, reuseStyle } from "../reuse/picture.ts";
import { reuseText } from "../reuse/table.ts";
import type { ReplayRow } from "./run.ts";
import { type Figures, figuresOf, missRate, nameOf } from "./table.ts";

const size = { wide: 960, high: 240 };
const colours = ["#8a8a8a", "#c2410c", "#7c3aed", "#0f766e", "#1d4ed8", "#be185d", "#4d7c0f", "#92400e"];

const style = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:64rem;padding:0 1rem}
h2{font-size:1.1rem;margin:2.5rem 0 .25rem}svg{width:100%;height:auto;border:1px solid #8884}
svg>path{fill:none;stroke-width:1.5}text{font-size:11px;fill:currentColor}table{border-collapse:collapse;width:100%;font-size:.85rem}
td,th{padding:.15rem .5rem;text-align:right;border-bottom:1px solid #8884;font-variant-numeric:tabular-nums}
td:first-child,th:first-child{text-align:left}pre{overflow-x:auto;font-size:.8rem}figure{margin:1rem 0}figcaption{font-size:.85rem;opacity:.75}i{display:inline-block;width:.8em;height:.8em;margin-right:.4em}p{max-width:44rem}`;

/**
 * How long observations stay in use, then a drawing and a table for each recording and price, and one table for all
 * recordings together. Without `rows`: the reuse alone.
 */
export function replayHtml(rows: readonly ReplayRow[], reuse: readonly Reuse[]): string {
  const figures = figuresOf(rows);
  const groups = [...new Set(rows.map((row) => `${nameOf(row.file)}\n${row.prices}`))];
  const contexts = [...new Set(rows.map(({ context }) => context))];
  const parts = groups.map((key) => {
    const [name = "", price = ""] = key.split("\n");
    const drawn = rows.filter((row) => nameOf(row.file) === name && row.prices === price);
    return section(name, price, drawing(drawn, contexts), pick(figures, name, price), contexts);
  });
  const prices = [...new Set(rows.map((row) => row.prices))];
  const sums = prices
    .map((price) => ({ price, of: pick(figures, "all", price) }))
    .filter(({ of }) => of.length > 0)
    .map(({ price, of }) => section("All recordings", price, "", of, contexts));
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Sawtooth: ${rows.length > 0 ? "replay" : "reuse"}</title><style>${style}${reuseStyle}</style></head><body>
${reuseSection(reuse)}
${rows.length > 0 ? replayIntroduction : ""}
${[...sums, ...parts].join("\n")}
</body></html>
`;
}

const replayIntroduction = `<h1>Replay</h1>
<p>The same actions under other context policies. It shows size, cost and legality; never whether the work would have succeeded.
A miss: a reply quotes what an edit took and nothing in the window holds. With re-reads: each miss billed as one more step that reads the thing again.</p>`;

function reuseSection(reuse: readonly Reuse[]): string {
  if (reuse.length === 0) return "";
  return `<h1>Reuse</h1>
${reusePicture(reuse)}
<details><summary>The same as a table</summary><pre>${html(reuseText(reuse))}</pre></details>`;
}

function pick(figures: readonly Figures[], name: string, price: string): Figures[] {
  return figures.filter(({ recording, prices }) => recording === name && prices === price);
}

function section(
  name: string,
  price: string,
  drawn: string,
  figures: readonly Figures[],
  contexts: readonly string[],
): string {
  const lines = figures.map((row) => {
    const index = contexts.indexOf(row.context);
    const key = index < 0 ? "" : `<i style="background:${colourOf(index)}"></i>`;
    const cells = [
      row.peak ? formatTokens(row.peak) : "",
      row.peak ? formatTokens(row.mean) : "",
      row.peak ? formatPercent(row.hit, 0) : "",
      money(row.cost),
      row.costWithRereads === undefined ? "" : money(row.costWithRereads),
      missRate(row)?.toFixed(1) ?? "",
      row.ratio === undefined ? "" : signedPercent(row.ratio - 1),
      row.ratioWithRereads === undefined ? "" : signedPercent(row.ratioWithRereads - 1),
      row.peak ? String(row.edits) : "",
      row.peak ? String(row.invalid) : "",
    ];
    return `<tr><td>${key}${html(row.context)}</td>${cells.map((cell) => `<td>${html(cell)}</td>`).join("")}</tr>`;
  });
  const costs = ["cost", "with re-reads", "misses/100", "to raw", "with re-reads"];
  const heads = ["context", "peak", "mean", "hit", ...costs, "edits", "invalid"];
  return `<h2>${html(name)} <small>${html(price)}</small></h2>
${drawn}
<table><tr>${heads.map((head) => `<th>${head}</th>`).join("")}</tr>${lines.join("")}</table>`;
}

function drawing(rows: readonly ReplayRow[], contexts: readonly string[]): string {
  const peak = Math.max(1, ...rows.flatMap(({ sizes }) => sizes));
  const paths = rows.map(({ sizes, context }) => {
    const points = sizes.map((tokens, step) => {
      const x = (step / Math.max(1, sizes.length - 1)) * size.wide;
      return `${x.toFixed(1)} ${(size.high * (1 - tokens / peak)).toFixed(1)}`;
    });
    return `<path stroke="${colourOf(contexts.indexOf(context))}" d="M${points.join("L")}"><title>${html(context)}</title></path>`;
  });
  const label = `Input tokens of each step, at most ${formatTokens(peak)}`;
  return `<svg viewBox="0 0 ${size.wide} ${size.high}" role="img" aria-label="${label}"><text x="4" y="12">${formatTokens(peak)} tokens</text>${paths.join("")}</svg>`;
}

function colourOf(index: number): string {
  return colours[index % colours.length] ?? "currentColor";
}
