/** Figures from repeated measurements, and the table they are printed in. Pure. */

/** A figure from several runs: the median, and half of the middle half's width as a share of it. */
export type Figure = { median: number; noise: number; runs: number };

/** One line of the result. Measured and baseline are in the same `unit`; `aim` is what the issue asks for. */
export type Row = {
  name: string;
  unit: "ms" | "MB" | "kB" | "µs" | "%";
  measured: Figure;
  baseline: Figure;
  /** The baseline, in a few words. */
  against: string;
  /** The aim in words, and whether it is met; without an aim the row only informs. */
  aim?: { text: string; met: boolean };
};

/** Throws when there are no values: a bench that measured nothing must not report. */
export function figure(values: readonly number[]): Figure {
  const sorted = values.toSorted((a, b) => a - b);
  const median = quantile(sorted, 0.5);
  const spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 2;
  return { median, noise: spread === 0 ? 0 : spread / Math.abs(median || spread), runs: values.length };
}

function quantile(sorted: readonly number[], share: number): number {
  const workspace = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(workspace)], sorted[Math.ceil(workspace)]];
  if (low === undefined || high === undefined) throw new Error("nothing was measured");
  return low + (high - low) * (workspace - Math.floor(workspace));
}

export function ratio(row: Pick<Row, "measured" | "baseline">): number {
  return row.measured.median / row.baseline.median;
}

/** The rows as a table of text, with a heading and no line break at its end. */
export function table(rows: readonly Row[]): string {
  const head = ["row", "measured", "baseline", "ratio", "aim", ""];
  const cells = rows.map((row) => [
    row.name,
    shown(row.measured, row.unit),
    `${shown(row.baseline, row.unit)} ${row.against}`,
    `${ratio(row).toFixed(2)} ×`,
    row.aim?.text ?? "–",
    row.aim ? (row.aim.met ? "ok" : "over") : "",
  ]);
  const widths = head.map((_, column) =>
    Math.max(...[head, ...cells].map((line) => line[column]?.length ?? 0)),
  );
  return [head, ...cells]
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** `62.1 ms ±4 %`. */
function shown({ median, noise }: Figure, unit: string): string {
  const digits = median < 10 ? 2 : median < 1000 ? 1 : 0;
  return `${median.toFixed(digits)} ${unit} ±${Math.round(noise * 100)} %`;
}
