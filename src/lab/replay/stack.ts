/** Parses the words of `--context` and `--prices` into a stack and a card. Pure. */

import { defaultSettings, type EngineSettings } from "../../context/policies/settings.ts";
import { contextNames, namedStack, policyStack } from "../../context/policies/stacks.ts";
import type { ModelCard } from "../../core/model-card.ts";
import { findCard, listCards } from "../../models/cards.ts";

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
      `--context ${name}: must be of ${contextNames.join(", ")}; with -auto it folds by itself, with +ingest results are shortened`,
    );
  const numbers = Object.fromEntries(settings.map((each) => settingOf(name, each)));
  const { foldAfter = auto ? defaultFold : 0, ...engine } = numbers;
  return { name, base, foldAfter, ingests: base === "ingest" || additions.length > 0, engine };
}

function settingOf(name: string, text: string): [string, number] {
  const preset = namedStack(`masking:${text}`)?.engine.maskKeep;
  if (preset !== undefined) return ["maskKeep", preset];
  const [key = "", value = ""] = text.split("=");
  const known = ["window", "foldAfter", ...Object.keys(defaultSettings)];
  if (!known.includes(key)) throw new Error(`--context ${name}: ${key} must be one of ${known.join(", ")}`);
  if (!/^\d*\.?\d+$/.test(value)) throw new Error(`--context ${name}: ${key} needs a number: ${key}=10`);
  return [key, Number(value)];
}

/** The card of `provider/id`, of an id alone, or of two prices `r/w` as shares of the input price. Throws an Error. */
export function priceCard(name: string): ModelCard {
  const [, read, write] = /^(\d*\.?\d+)\/(\d*\.?\d+)$/.exec(name) ?? [];
  if (read !== undefined && write !== undefined) return shareCard(name, Number(read), Number(write));
  const card = listCards().find(({ id }) => id === name || id.endsWith(`/${name}`));
  if (card) return card;
  const { card: unknown, warning } = findCard(name);
  if (!warning) return unknown;
  const ids = listCards().map(({ id }) => id);
  throw new Error(
    `--prices ${name}: must be of ${ids.join(", ")}, or read/write as shares of the input price: .1/1.25`,
  );
}

/** An imagined model at $1 for a million input tokens and $5 for output. */
function shareCard(id: string, read: number, write: number): ModelCard {
  return {
    id,
    window: 1_000_000,
    maxOutput: 64_000,
    prices: { input: 1, output: 5, cacheRead: read, cacheWrite5m: write, cacheWrite1h: Math.max(2, write) },
    thinking: "none",
    contract: {
      history: "free",
      reminders: "tail",
      toolGating: "none",
      cache: { kind: "breakpoints", maxBreakpoints: 4, lookback: 20, minTokens: 512, ttls: ["5m", "1h"] },
    },
  };
}
