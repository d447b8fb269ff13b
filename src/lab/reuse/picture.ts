/**
 * The reuse of observations as a picture: for each group and kind the share that is still used at an age above, falling
 * from left to right, over a strip of the chances of one step. Inline SVG; it needs no script. Pure.
 */

import { formatTokens } from "../../context/report/amounts.ts";
import { observationKinds } from "../../context/reuse/kind.ts";
import { html } from "../../report/page/escape.ts";
import { aboveAge, type Reuse, tableAges } from "./measure.ts";
import { chanceText, spanText } from "./table.ts";

/** Pixels of the drawing: the column of names, and the distance and size of panels. */
const left = 150;
const pitch = 200;
const panel = { wide: 172, high: 96, low: 44 };
const strip = 13;
const ageMarks = [1, 3, 10, 30, 100, 300];

/** The style of the picture; the page around it says which of light and dark it is. */
export const reuseStyle = `.reuse{--read:#1d4ed8;--search:#0f766e;--test:#be185d;--edit:#c2410c;--other:#6d28d9;max-width:100%;overflow-x:auto}
.reuse svg{border:0;min-width:60rem}.reuse text{font-size:11px;fill:currentColor}.reuse .name{font-size:14px;font-weight:600}
.reuse .big{font-size:16px;font-weight:600}.reuse .soft{opacity:.65}.reuse .frame{stroke:currentColor;stroke-width:1;opacity:.35;fill:none}
.reuse .mark{stroke:currentColor;stroke-width:1;opacity:.14;fill:none}.reuse .by-tokens{stroke:none;opacity:.28}.reuse .by-count{fill:none;stroke-width:2}
.reuse .dot{stroke:none}.reuse .cell-frame{fill:none;stroke:currentColor;opacity:.25}
@media (prefers-color-scheme:dark){.reuse{--read:#8ab4ff;--search:#5eead4;--test:#f9a8d4;--edit:#fdba74;--other:#c4b5fd}.reuse .by-tokens{opacity:.34}}`;

/** The picture of these rows; "" when there are none. */
export function reusePicture(rows: readonly Reuse[]): string {
  if (rows.length === 0) return "";
  const groups = [...Map.groupBy(rows, ({ by, group }) => `${by} ${group}`).values()];
  let top = 34;
  const parts = groups.map((own) => {
    const high = own[0]?.by === "all" ? panel.high : panel.low;
    const part = groupPart(own, top, high);
    top += high + strip + (own[0]?.by === "all" ? 64 : 30);
    return part;
  });
  const width = left + observationKinds.length * pitch;
  const heads = observationKinds.map(
    (kind, index) =>
      `<text class="name" x="${left + index * pitch}" y="18" style="fill:var(--${kind})">${kind}</text>`,
  );
  return `<figure class="reuse"><svg viewBox="0 0 ${width} ${top}" role="img" aria-labelledby="reuse-title reuse-desc">
<title id="reuse-title">How long observations stay in use, by kind</title>
<desc id="reuse-desc">${html(summaryOf(groups[0] ?? []))}</desc>
${heads.join("")}${parts.join("\n")}</svg>
<figcaption>Across: age in replies. Up: share still to be quoted, filled by tokens, line by count. Strip: chance of a use in one step.</figcaption></figure>`;
}

/** The drawing in words, for whoever hears it. */
function summaryOf(rows: readonly Reuse[]): string {
  return rows
    .map((row) => {
      const [all, old] = [aboveAge(row, 0), aboveAge(row, 10)].map(({ tokenShare }) =>
        (100 * tokenShare).toFixed(0),
      );
      return `${row.kind}: ${all} % of the tokens are used at all, ${old} % at an age above 10.`;
    })
    .join(" ");
}

function groupPart(rows: readonly Reuse[], top: number, high: number): string {
  const [first] = rows;
  const isAll = first?.by === "all";
  const name = first?.group ?? "";
  const label = name.length > 20 ? `${name.slice(0, 19)}…` : name;
  const sizes = `${formatTokens(rows.reduce((sum, { tokens }) => sum + tokens, 0))} tokens`;
  const words = `<text${isAll || first?.by === "agent" ? ' class="name"' : ""} x="0" y="${top + 14}"><title>${html(name)}</title>${html(label)}</text><text class="soft" x="0" y="${top + 30}">${sizes}</text>`;
  const panels = observationKinds.map((kind, index) => {
    const row = rows.find((each) => each.kind === kind);
    return `<g transform="translate(${left + index * pitch} ${top})">${row ? panelPart(row, high, isAll) : none(high)}</g>`;
  });
  return `${words}${panels.join("")}`;
}

/** Stands where a group has no such observation. */
function none(high: number): string {
  return `<path class="mark" d="M0 ${high}h${panel.wide}"/>`;
}

function panelPart(row: Reuse, high: number, isAll: boolean): string {
  const oldest = Math.max(100, row.above.length - 1);
  const across = (age: number) => (Math.log1p(age) / Math.log1p(oldest)) * panel.wide;
  const up = (share: number) => high * (1 - share);
  const colour = `var(--${row.kind})`;
  const curve = (of: "share" | "tokenShare") => {
    const falls = row.above.filter((each, index) => each[of] !== row.above[index - 1]?.[of]);
    const steps = falls.map(
      (each, index) =>
        `${index === 0 ? "M0 " : `H${across(each.age).toFixed(1)}V`}${up(each[of]).toFixed(1)}`,
    );
    return `${steps.join("")}H${panel.wide}`;
  };
  const marks = ageMarks.filter((age) => age <= oldest);
  const title = `${row.kind}, ${row.group}: ${row.observations} observations, ${formatTokens(row.tokens)} tokens`;
  return [
    `<title>${html(title)}</title>`,
    `<path class="mark" d="${marks.map((age) => `M${across(age).toFixed(1)} 0v${high}`).join("")}"/>`,
    `<path class="by-tokens" style="fill:${colour}" d="${curve("tokenShare")}V${high}H0Z"/>`,
    `<path class="by-count" style="stroke:${colour}" d="${curve("share")}"/>`,
    `<path class="frame" d="M0 0V${high}H${panel.wide}"/>`,
    ...(isAll ? pointsOf(row, across, up) : []),
    stripPart(row, high, across, oldest),
    ...(isAll ? axisPart(high, across, marks) : []),
  ].join("");
}

/** The figures of the table on the curve of tokens. */
function pointsOf(row: Reuse, across: (age: number) => number, up: (share: number) => number): string[] {
  return tableAges.map((age) => {
    const { tokenShare } = aboveAge(row, age);
    const [x, y] = [across(age), up(tokenShare)];
    const words = `${(100 * tokenShare).toFixed(0)} %`;
    const dot = `<circle class="dot" style="fill:var(--${row.kind})" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="3"/>`;
    return `${dot}<text${age === 0 ? ' class="big"' : ""} x="${(x + 5).toFixed(1)}" y="${Math.max(12, y - (age === 0 ? 14 : 5)).toFixed(1)}">${words}</text>`;
  });
}

/** Chances of one step: the darker, the likelier, on a scale of powers of ten from 1 in 1,000 to 1. */
function stripPart(row: Reuse, high: number, across: (age: number) => number, oldest: number): string {
  const cells = row.spans.map((span) => {
    const [x, end] = [across(span.from - 1), across(Math.min(oldest, span.to ?? oldest))];
    const strength = span.chance === 0 ? 0 : Math.max(0.06, 1 + Math.log10(span.chance) / 3);
    const words = `age ${spanText(span)}: ${chanceText(span) || "no step"} a step, ${span.used} of ${span.steps}`;
    const wide = Math.max(0, end - x - 1).toFixed(1);
    return `<rect x="${x.toFixed(1)}" y="${high + 3}" width="${wide}" height="${strip - 3}" style="fill:var(--${row.kind});opacity:${Math.min(1, strength).toFixed(2)}"><title>${html(words)}</title></rect>`;
  });
  return `${cells.join("")}<rect class="cell-frame" x="0" y="${high + 3}" width="${panel.wide}" height="${strip - 3}"/>`;
}

function axisPart(high: number, across: (age: number) => number, marks: readonly number[]): string[] {
  const base = high + strip + 13;
  const ages = marks.map(
    (age) =>
      `<text class="soft" text-anchor="middle" x="${across(age).toFixed(1)}" y="${base}">${age}</text>`,
  );
  return [
    `<text class="soft" text-anchor="end" x="-5" y="8">100 %</text><text class="soft" text-anchor="end" x="-5" y="${high}">0</text>`,
    ...ages,
    `<text class="soft" text-anchor="end" x="${panel.wide}" y="${base + 14}">replies later →</text>`,
  ];
}
