/** The results of the evals as text. Pure. */

import { evaluations } from "./evals.ts";

/** `lost`: empty when the eval passed. `edits`: how often something was forgotten. */
export type EvalResult = {
  name: string;
  stack: string;
  model: string;
  lost: string[];
  edits: number;
  summaries: number;
  steps: number;
};

/** Evals by stack, a cell for each model in turn; what was lost stands below. */
export function evalTable(results: readonly EvalResult[]): string {
  const stacks = [...new Set(results.map(({ stack }) => stack))];
  const models = [...new Set(results.map(({ model }) => model))];
  const rows = stacks.map((stack) => {
    const own = results.filter((result) => result.stack === stack);
    const cells = evaluations.map(({ name }) =>
      models.map((model) => wordOf(own.find((each) => each.name === name && each.model === model))).join(" "),
    );
    const mean = (of: (result: EvalResult) => number) =>
      (own.reduce((sum, result) => sum + of(result), 0) / Math.max(1, own.length)).toFixed(1);
    return [stack, ...cells, mean(({ edits }) => edits), mean(({ summaries }) => summaries)];
  });
  const titles = ["stack", ...evaluations.map(({ name }) => name), "edits", "summaries"];
  const widths = titles.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [
    `Each cell: ${models.join(", ")}. Edits and summaries: mean of a run.`,
    "",
    ...[titles, ...rows].map(lineOf),
    ...lostLines(results),
    "",
  ].join("\n");
}

function wordOf(result: EvalResult | undefined): string {
  if (!result) return "-";
  return result.lost.length === 0 ? "ok" : "LOST";
}

function lostLines(results: readonly EvalResult[]): string[] {
  const failed = results.filter(({ lost }) => lost.length > 0);
  if (failed.length === 0) return [];
  return [
    "",
    "Lost:",
    ...failed.map(({ name, stack, model, lost }) => `  ${stack}, ${name}, ${model}: ${lost.join("; ")}`),
  ];
}
