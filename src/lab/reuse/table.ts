/** The reuse of observations as a table, JSON or CSV. Pure. */

import { formatTokens } from "../../context/report/amounts.ts";
import { formatInteger } from "../../core/text/clean-text.ts";
import { quoted } from "../replay/table.ts";
import { aboveAge, type Reuse, type Span, tableAges } from "./measure.ts";

/** The span as people read it: `2–3`, `> 100`. */
export function spanText({ from, to }: Pick<Span, "from" | "to">): string {
  if (to === undefined) return `> ${from - 1}`;
  return from === to ? String(from) : `${from}–${to}`;
}

/** A chance in percent with as many digits as say something. */
export function chanceText({ chance, steps }: Pick<Span, "chance" | "steps">): string {
  if (steps === 0) return "";
  const percent = 100 * chance;
  return `${percent === 0 ? "0" : percent < 0.995 ? percent.toPrecision(1) : percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

const ageTitles = tableAges.map((age) => (age === 0 ? "used at all" : `age > ${age}`));

/** Shares by count and by tokens, then the chance of a use in one step by age, each for every group and kind. */
export function reuseText(rows: readonly Reuse[]): string {
  const spans = rows[0]?.spans.map(spanText) ?? [];
  const shares = block(
    ["observations", "tokens", ...ageTitles],
    rows.map((row) => [
      formatInteger(row.observations),
      formatTokens(row.tokens),
      ...tableAges.map((age) => sharesText(row, age)),
    ]),
    rows,
  );
  const chances = block(
    spans.map((span, index) => (index === 0 ? `age ${span}` : span)),
    rows.map((row) => row.spans.map(chanceText)),
    rows,
  );
  return [
    "Used at an age in replies: a later reply quotes a line of 20 characters or more that this observation showed newest, and",
    "which nobody wrote since. By count / by tokens.",
    "",
    shares,
    "",
    "The chance that an observation of this age is used in one step:",
    "",
    chances,
  ].join("\n");
}

function sharesText(row: Reuse, age: number): string {
  const { share, tokenShare } = aboveAge(row, age);
  return `${(100 * share).toFixed(0)} / ${(100 * tokenShare).toFixed(0)} %`;
}

const groupWidth = 30;

/** The rows under their groups: a line names the group, lines below it are indented by their kinds. */
function block(
  titles: readonly string[],
  cells: readonly (readonly string[])[],
  rows: readonly Reuse[],
): string {
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const line = (name: string, row: readonly string[]) =>
    `${name.padEnd(groupWidth)}${row.map((cell, index) => cell.padStart((widths[index] ?? 0) + 2)).join("")}`.trimEnd();
  return rows
    .flatMap((row, index) => {
      const before = rows[index - 1];
      const isFirst = before?.group !== row.group || before.by !== row.by;
      const own = line(`  ${row.kind}`, cells[index] ?? []);
      return isFirst ? [...(index === 0 ? [line("", titles)] : [""]), shortName(row.group), own] : [own];
    })
    .join("\n");
}

function shortName(name: string): string {
  return name.length > 2 * groupWidth ? `${name.slice(0, 2 * groupWidth - 1)}…` : name;
}

/** Every group and kind with its whole curve and its chances. */
export function reuseJson(rows: readonly Reuse[]): string {
  return JSON.stringify({ reuse: rows }, undefined, 2);
}

/** One line for each group, kind and age of the curve, for a spreadsheet. */
export function reuseCsv(rows: readonly Reuse[]): string {
  const lines = rows.flatMap(({ by, group, kind, observations, tokens, above }) =>
    above.map(({ age, share, tokenShare }) =>
      [by, quoted(group), kind, observations, tokens, age, share, tokenShare].join(","),
    ),
  );
  return ["by,group,kind,observations,tokens,used_above_age,share,token_share", ...lines].join("\n");
}
