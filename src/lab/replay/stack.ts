/** Parses the words of `--context` and `--prices` into a stack and a card. Pure. */

import { type EngineSettings, readSetting } from "../../context/policies/settings.ts";
import { contextNames, policyStack } from "../../context/policies/stacks.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { cardIds, findCard, listCards } from "../../models/cards.ts";

/** One entry of `--context`. */
export type Stack = {
  /** As it was written. */
  name: string;
  /** Name of the policy stack. */
  base: string;
  /** Exploratory calls after which a fold is closed for the model, which cannot be asked; 0 folds nothing. */
  foldAfter: number;
  /** True when recorded results are shortened before they are first sent. */
  ingests: boolean;
  engine: Partial<EngineSettings>;
};

export const defaultStacks = ["raw", "masking", "hybrid", "focus-auto", "economist"];
const defaultFold = 12;

/** Reads `economist-auto+ingest:maskKeep=5`. Throws an Error of one line. */
export function stackOf(name: string): Stack {
  const [words = "", ...settings] = name.split(":");
  const [head = "", ...additions] = words.split("+");
  const auto = head.endsWith("-auto");
  const base = auto ? head.slice(0, -"-auto".length) : head;
  if (!policyStack(base) || additions.some((each) => each !== "ingest"))
    throw new Error(
      `--context ${name}: must be one of ${contextNames.join(", ")}; with -auto it folds by itself, with +ingest results are shortened`,
    );
  const numbers: Record<string, number> = Object.assign({}, ...settings.map((each) => settingOf(name, each)));
  const { foldAfter = auto ? defaultFold : 0, ...engine } = numbers;
  return { name, base, foldAfter, ingests: base === "ingest" || additions.length > 0, engine };
}

function settingOf(name: string, text: string): Record<string, number> {
  const [key, value = ""] = text.split("=");
  if (key === "foldAfter") {
    if (!/^\d+$/.test(value))
      throw new Error(`--context ${name}: foldAfter must be a whole number of calls: foldAfter=12`);
    return { foldAfter: Number(value) };
  }
  const read = readSetting(text);
  if ("problem" in read) throw new Error(`--context ${name}: ${read.problem}`);
  return read.engine;
}

/**
 * The card of `provider/id`, of an id alone, or of two prices `r/w` as shares of the input price, on a prefix-bound history with
 * `r/w/bound`. Throws an Error.
 */
export function priceCard(name: string): ModelCard {
  const [, read, write, bound] = /^(\d*\.?\d+)\/(\d*\.?\d+)(\/bound)?$/.exec(name) ?? [];
  if (read !== undefined && write !== undefined)
    return shareCard(name, [Number(read), Number(write)], bound ? "prefix_bound" : "free");
  const card = listCards().find(({ id }) => id === name || id.endsWith(`/${name}`));
  if (card) return card;
  const { card: unknown, warning } = findCard(name);
  if (!warning) return unknown;
  const ids = cardIds();
  throw new Error(
    `--prices ${name}: must be of ${ids.join(", ")}, or read/write as shares of the input price: .1/1.25, or .1/1.25/bound`,
  );
}

/** An imagined model at $1 for a million input tokens and $5 for output. */
function shareCard(
  id: string,
  [read, write]: readonly [number, number],
  history: ModelCard["contract"]["history"],
): ModelCard {
  return {
    id,
    window: 1_000_000,
    maxOutput: 64_000,
    prices: { input: 1, output: 5, cacheRead: read, cacheWrite5m: write, cacheWrite1h: Math.max(2, write) },
    thinking: history === "free" ? "none" : "adaptive",
    contract: {
      history,
      reminders: history === "free" ? "tail" : "logged",
      toolGating: "none",
      cache: { kind: "breakpoints", maxBreakpoints: 4, lookback: 20, minTokens: 512, ttls: ["5m", "1h"] },
    },
  };
}
