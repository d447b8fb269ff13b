/** The result of a replay as a table, JSON or CSV. Pure. */

import { basename } from "node:path";
import { formatPercent, formatTokens, money, signedPercent } from "../../context/report/amounts.ts";
import { addUsage, inputTotal, noUsage, type Usage } from "../../core/model-card.ts";
import type { ReplayRow } from "./run.ts";

/** A row as it is shown: the figures of one recording, or of all together, under one stack at one price. */
export type Figures = {
  recording: string;
  context: string;
  prices: string;
  steps: number;
  peak: number;
  mean: number;
  usage: Usage;
  cost: number;
  /** Dollars of the input alone. */
  inputCost: number;
  /** Share of the input that was read from the cache. */
  hit: number;
  edits: number;
  summaries: number;
  invalid: number;
  broken: string[];
  /** Things that replies quote and no longer had, and dollars with reading each again; unknown in hindsight. */
  misses?: number;
  costWithRereads?: number;
  /** Cost over that of `raw`; undefined when `raw` was not asked for. */
  ratio?: number;
  /** The same with reading again. */
  ratioWithRereads?: number;
  /** The same for the input alone, and for the input with reading again. */
  inputRatio?: number;
  inputRatioWithRereads?: number;
};

/** Misses of 100 steps; undefined where they are unknown. */
export function missRate({ misses, steps }: Pick<Figures, "misses" | "steps">): number | undefined {
  return misses === undefined ? undefined : (100 * misses) / Math.max(1, steps);
}

const everything = "all";

/** Names the row of the cheapest masking in hindsight, beside the contexts. */
export function optimumName(context: string): string {
  return `${context}, in hindsight`;
}

/** Every row, then for each price and context all recordings together. */
export function figuresOf(rows: readonly ReplayRow[]): Figures[] {
  const each = rows.flatMap((row) => [figureOf(row), ...hindsight(row)]);
  const keys = [...new Set(each.map(keyOf))];
  const files = new Set(rows.map(({ file }) => file));
  const sums = files.size < 2 ? [] : keys.map((key) => sumOf(each.filter((row) => keyOf(row) === key)));
  const all = [...each, ...sums];
  return all.map((row) => {
    const same = (other: Figures) => other.recording === row.recording && other.prices === row.prices;
    const raw = all.find((other) => same(other) && other.context === "raw");
    return raw ? { ...row, ...ratiosTo(raw, row) } : row;
  });
}

/** The ratios to `raw`, which forgets nothing and so costs the same with and without re-reads. */
function ratiosTo(raw: Figures, { cost, inputCost, costWithRereads }: Figures): Partial<Figures> {
  const ratios = { ratio: cost / raw.cost, inputRatio: inputCost / raw.inputCost };
  if (costWithRereads === undefined) return ratios;
  const inputWithRereads = inputCost + costWithRereads - cost;
  return {
    ...ratios,
    ratioWithRereads: costWithRereads / raw.cost,
    inputRatioWithRereads: inputWithRereads / raw.inputCost,
  };
}

function keyOf({ prices, context }: Figures): string {
  return `${prices}\n${context}`;
}

function figureOf(row: ReplayRow): Figures {
  const { file, context, prices, steps, sizes, usage, cost, outputCost, edits, summaries, invalid, broken } =
    row;
  return {
    recording: nameOf(file),
    context,
    prices,
    steps,
    peak: Math.max(0, ...sizes),
    mean: Math.round(sizes.reduce((sum, size) => sum + size, 0) / Math.max(1, steps)),
    usage,
    cost,
    inputCost: cost - outputCost,
    hit: usage.cacheReadTokens / Math.max(1, inputTotal(usage)),
    edits,
    summaries,
    invalid,
    broken,
    misses: row.misses,
    costWithRereads: cost + row.rereadCost,
  };
}

/** Only a cost is known of it. */
function hindsight(row: ReplayRow): Figures[] {
  if (row.optimum === undefined) return [];
  const {
    misses: _,
    costWithRereads: __,
    ...figure
  } = figureOf({
    ...row,
    sizes: [],
    usage: noUsage,
    edits: 0,
    summaries: 0,
    invalid: 0,
    broken: [],
  });
  const cost = row.optimum;
  const inputCost = cost - row.outputCost;
  return [{ ...figure, context: optimumName(row.context), cost, inputCost }];
}

/** A file is named by its last part; our own logs all have the same, so by their folder. */
export function nameOf(file: string): string {
  const name = basename(file).replace(/(\.traj)?\.jsonl?$|\.traj$/, "");
  return name === "events" ? basename(file.replace(/[/\\][^/\\]*$/, "")) : name;
}

function sumOf(parts: readonly Figures[]): Figures {
  const total = (of: (row: Figures) => number) => parts.reduce((sum, row) => sum + of(row), 0);
  const usage = parts.reduce((sum, row) => addUsage(sum, row.usage), noUsage);
  const [first] = parts;
  const steps = total(({ steps }) => steps);
  return {
    recording: everything,
    context: first?.context ?? "",
    prices: first?.prices ?? "",
    steps,
    peak: Math.max(0, ...parts.map(({ peak }) => peak)),
    mean: Math.round(total(({ mean, steps }) => mean * steps) / Math.max(1, steps)),
    usage,
    cost: total(({ cost }) => cost),
    inputCost: total(({ inputCost }) => inputCost),
    hit: usage.cacheReadTokens / Math.max(1, inputTotal(usage)),
    edits: total(({ edits }) => edits),
    summaries: total(({ summaries }) => summaries),
    invalid: total(({ invalid }) => invalid),
    broken: [...new Set(parts.flatMap(({ broken }) => broken))],
    ...missesOf(parts),
  };
}

function missesOf(parts: readonly Figures[]): Pick<Figures, "misses" | "costWithRereads"> {
  const known = parts.filter(({ misses }) => misses !== undefined);
  if (known.length < parts.length) return {};
  const total = (of: (row: Figures) => number | undefined) =>
    known.reduce((sum, row) => sum + (of(row) ?? 0), 0);
  return { misses: total((row) => row.misses), costWithRereads: total((row) => row.costWithRereads) };
}

const columns: [title: string, cell: (row: Figures) => string][] = [
  ["steps", ({ steps }) => String(steps)],
  ["peak", ({ peak }) => known(peak)],
  ["mean", ({ mean }) => known(mean)],
  ["uncached", ({ usage, peak }) => known(peak && usage.inputTokens)],
  ["read", ({ usage }) => known(usage.cacheReadTokens)],
  ["written", ({ usage }) => known(usage.cacheWrite5mTokens + usage.cacheWrite1hTokens)],
  ["output", ({ usage }) => known(usage.outputTokens)],
  ["cost", ({ cost }) => money(cost)],
  ["with re-reads", ({ costWithRereads }) => optional(costWithRereads, money)],
  ["misses/100", (row) => optional(missRate(row), (rate) => rate.toFixed(1))],
  ["hit", ({ hit, peak }) => (peak === 0 ? "" : formatPercent(hit, 0))],
  ["edits", ({ edits, peak }) => (peak === 0 ? "" : String(edits))],
  ["invalid", ({ invalid, peak }) => (peak === 0 ? "" : String(invalid))],
  ["to raw", ({ ratio }) => optional(ratio, changeOf)],
  ["with re-reads", ({ ratioWithRereads }) => optional(ratioWithRereads, changeOf)],
];

/** A ratio as a change: `-38.2 %`. */
function changeOf(ratio: number): string {
  return signedPercent(ratio - 1);
}

function optional(value: number | undefined, format: (value: number) => string): string {
  return value === undefined ? "" : format(value);
}

function known(tokens: number): string {
  return tokens === 0 ? "" : formatTokens(tokens);
}

/** One table for each price, one block for each recording. */
export function tableText(rows: readonly ReplayRow[]): string {
  const figures = figuresOf(rows);
  const prices = [...new Set(figures.map((row) => row.prices))];
  return prices
    .map((price) => {
      const history = rows.find((row) => row.prices === price)?.history === "free" ? "free" : "prefix-bound";
      return `${price} (${history} history)\n${blocks(figures.filter((row) => row.prices === price))}`;
    })
    .join("\n\n");
}

const nameWidth = 28;

function blocks(figures: readonly Figures[]): string {
  const cells = figures.map((row) => columns.map(([, cell]) => cell(row)));
  const widths = columns.map(([title], index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const wide = Math.max(9, ...figures.map(({ context }) => context.length));
  const line = (name: string, context: string, row: readonly string[]) =>
    `${short(name).padEnd(nameWidth)}  ${context.padEnd(wide)}  ${row.map((cell, index) => cell.padStart(widths[index] ?? 0)).join("  ")}`.trimEnd();
  const head = line(
    "recording",
    "context",
    columns.map(([title]) => title),
  );
  const body = figures.map((row, index) => {
    const isFirst = figures[index - 1]?.recording !== row.recording;
    return `${isFirst ? "\n" : ""}${line(isFirst ? row.recording : "", row.context, cells[index] ?? [])}`;
  });
  return [head, ...body].join("\n");
}

function short(name: string): string {
  return name.length > nameWidth ? `${name.slice(0, nameWidth - 1)}…` : name;
}

/** All figures, and every step's size, as JSON. */
export function jsonText(rows: readonly ReplayRow[]): string {
  return JSON.stringify({ figures: figuresOf(rows), replays: rows }, undefined, 2);
}

/** One line for each figure, for a spreadsheet. */
export function csvText(rows: readonly ReplayRow[]): string {
  const head =
    "recording,context,prices,steps,peak,mean,uncached,read,written,output,cost,input_cost,hit,edits,summaries,invalid,ratio,input_ratio," +
    "misses,misses_per_100_steps,cost_with_rereads,ratio_with_rereads,input_ratio_with_rereads";
  const lines = figuresOf(rows).map(({ usage, ...row }) =>
    [
      ...[row.recording, row.context, row.prices].map(quoted),
      ...[row.steps, row.peak, row.mean, usage.inputTokens, usage.cacheReadTokens],
      ...[usage.cacheWrite5mTokens + usage.cacheWrite1hTokens, usage.outputTokens, row.cost, row.inputCost],
      ...[row.hit, row.edits, row.summaries, row.invalid, row.ratio ?? "", row.inputRatio ?? ""],
      ...[
        row.misses,
        missRate(row),
        row.costWithRereads,
        row.ratioWithRereads,
        row.inputRatioWithRereads,
      ].map((figure) => figure ?? ""),
    ].join(","),
  );
  return [head, ...lines].join("\n");
}

/** A cell that a spreadsheet takes as text: quoted, and never as a formula. */
export function quoted(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The reasons for invalid requests, one sentence each with its stack; empty when there are none. */
export function brokenText(rows: readonly ReplayRow[]): string[] {
  return rows
    .filter(({ invalid }) => invalid > 0)
    .map(({ file, context, prices, invalid, broken }) => {
      const where = `${nameOf(file)} under ${context} at ${prices}`;
      return `${where}: ${invalid} invalid ${invalid === 1 ? "request" : "requests"}: ${broken[0] ?? ""}`;
    });
}
