/** Sweeps the engine's numbers over recordings at one price, and says which setting would have cost least. */

import { defaultSettings } from "../../context/policies/settings.ts";
import { money, signedPercent } from "../../context/report/amounts.ts";
import { type JobsOptions, type Replays, replayFiles } from "./jobs.ts";
import { type Figures, figuresOf, missRate } from "./table.ts";

export type TuneOptions = Omit<JobsOptions, "contexts" | "prices"> & { prices: string };

/** The numbers that are tried, each with the others as they are best so far. 0 folds nothing. */
const sweeps: [key: string, values: readonly number[]][] = [
  ["maskKeep", [5, 10, 18]],
  ["resultTokens", [2_000, 4_000, 8_000]],
  ["foldAfter", [0, 8, 12, 20]],
];
const batches = [1, 10, 20, 40];

type Numbers = Record<string, number>;
/** `batch`: of a stack that only masks, how many results it masks at a time. */
type Tried = Costs & { label: string; batch?: number };
/** Dollars without and with reading again what was missed, and misses of 100 steps. */
type Costs = { alone: number; cost: number; misses: number };

/** The sweep as text with a settings snippet; "" when nothing could be replayed. */
export async function tuneFor(options: TuneOptions): Promise<{ text: string; problems: string[] }> {
  const problems = new Set<string>();
  const known = new Map<string, Costs>();
  const costs = async (contexts: readonly string[]): Promise<void> => {
    const missing = [...new Set(contexts)].filter((context) => !known.has(context));
    if (missing.length === 0) return;
    const replays = await replayFiles({ ...options, contexts: missing, prices: [options.prices] });
    for (const problem of replays.problems) problems.add(problem);
    for (const context of missing) known.set(context, costUnder(replays, context));
  };
  const standard: Numbers = { maskKeep: 10, resultTokens: defaultSettings.resultTokens, foldAfter: 0 };
  await costs(["raw", economist(standard)]);
  const raw = known.get("raw")?.cost ?? 0;
  if (raw === 0) return { text: "", problems: [...problems] };
  const tried: Tried[] = [];
  const note = (label: string, context: string, batch?: number): number => {
    const costs = known.get(context) ?? noCosts;
    tried.push({ label, ...costs, ...(batch === undefined ? {} : { batch }) });
    return costs.cost;
  };
  let best = standard;
  for (const [key, values] of sweeps) {
    const choices = values.map((value) => ({ ...best, [key]: value }));
    await costs(choices.map(economist));
    const costed = choices.map((choice) => ({
      choice,
      cost: note(`${key} ${choice[key]}`, economist(choice)),
    }));
    best = costed.reduce((least, each) => (each.cost < least.cost ? each : least)).choice;
  }
  const batched = batches.map((batch) => ({ batch, context: masking(batch, best) }));
  await costs(batched.map(({ context }) => context));
  for (const { batch, context } of batched) note(`masking alone, maskBatch ${batch}`, context, batch);
  const usual = known.get(economist(standard))?.cost ?? 0;
  return { text: textOf(options.prices, tried, { raw, usual }, best), problems: [...problems] };
}

const noCosts: Costs = { alone: 0, cost: Number.POSITIVE_INFINITY, misses: 0 };

function costUnder({ rows }: Replays, context: string): Costs {
  const figures: Figures[] = figuresOf(rows.filter((row) => row.context === context));
  const figure = figures.filter((each) => each.context === context).at(-1);
  if (!figure) return { alone: 0, cost: 0, misses: 0 };
  const { cost: alone, costWithRereads: cost = alone } = figure;
  return { alone, cost, misses: missRate(figure) ?? 0 };
}

function economist({ foldAfter = 0, ...numbers }: Numbers): string {
  const folding = foldAfter > 0 ? `-auto+ingest:foldAfter=${foldAfter}` : "+ingest";
  return `economist${folding}${engineWords(numbers)}`;
}

function masking(batch: number, { foldAfter: _, ...numbers }: Numbers): string {
  return `masking+ingest:maskBatch=${batch}${engineWords(numbers)}`;
}

function engineWords(numbers: Numbers): string {
  return Object.entries(numbers)
    .map(([key, value]) => `:${key}=${value}`)
    .join("");
}

function textOf(
  prices: string,
  tried: readonly Tried[],
  { raw, usual }: { raw: number; usual: number },
  best: Numbers,
): string {
  const least = tried.reduce((each, other) => (other.cost < each.cost ? other : each));
  const lines = tried.map(({ label, alone, cost, misses }) => {
    const costs = [money(alone).padStart(10), money(cost).padStart(15), misses.toFixed(1).padStart(12)];
    const cells = [...costs, signedPercent(cost / raw - 1).padStart(9)];
    return `  ${label.padEnd(30)}${cells.join("")}${signedPercent(cost / usual - 1).padStart(12)}`;
  });
  return [
    `At the prices of ${prices}, with re-reads: raw ${money(raw)}, the default (economist) ${money(usual)}.`,
    "",
    `  ${"".padEnd(30)}${"cost".padStart(10)}${"with re-reads".padStart(15)}${"misses/100".padStart(12)}${"to raw".padStart(9)}${"to default".padStart(12)}`,
    ...lines,
    "",
    `Best with re-reads: ${money(least.cost)}, ${signedPercent(least.cost / usual - 1)} to the default. As settings:`,
    settingsOf(least, best),
    "",
    "Cheaper is not better: a replay sees a miss only where the model quoted what was gone, and bills it as one more step",
    "that reads it again. Take a smaller number only where your sessions bear it. Folds are those of a stand-in that",
    "counts calls; the model folds when a phase of its work ends.",
  ].join("\n");
}

/** Folding is the model's: what can be set is when it is reminded, and `passive` is not at all. */
function settingsOf({ batch: maskBatch }: Tried, { maskKeep, resultTokens, foldAfter }: Numbers): string {
  const isMasking = maskBatch !== undefined;
  const batch = isMasking ? { maskBatch } : {};
  const folding = !isMasking && foldAfter ? { focusReminder: foldAfter } : {};
  const engine = { maskKeep, resultTokens, ...batch, ...folding };
  const focus = !isMasking && foldAfter === 0 ? { focus: "passive" } : {};
  return JSON.stringify({ context: isMasking ? "masking" : "economist", ...focus, engine }, undefined, 2);
}
