/** Cards of the known models (provider-facts §4). The figures are data in cards.json; settings override them. */

import type { CacheLife, Contract, ModelCard } from "../core/model-card.ts";

import type { JsonSchema } from "../core/request.ts";
import { closedObject, violations } from "../core/schema.ts";
import data from "./cards.json" with { type: "json" };

/** A card as the file has it: a contract by name, and where the model departs from it. */
type FiledCard = Omit<ModelCard, "contract"> & {
  contract: string;
  minTokens?: number;
  ttls?: CacheLife[];
} & Partial<Pick<Contract, "reminders" | "toolGating">>;

const contracts = data.contracts as Record<string, Contract>;

/** All known models, in the order of the file. */
export function listCards(): ModelCard[] {
  return (data.cards as FiledCard[]).map(({ contract, minTokens, ttls, reminders, toolGating, ...card }) => {
    const base = contractNamed(contract);
    return {
      ...card,
      contract: {
        ...base,
        ...(reminders ? { reminders } : {}),
        ...(toolGating ? { toolGating } : {}),
        cache: { ...base.cache, ...(minTokens ? { minTokens } : {}), ...(ttls ? { ttls } : {}) },
      },
    };
  });
}

/**
 * The card of `provider/id`, changed by what the settings say of it. A model that is not known works too, with
 * zero prices and a warning. Throws an Error of one line that names the field when an override makes no sense.
 */
export function findCard(
  id: string,
  overrides: Readonly<Record<string, unknown>> = {},
): { card: ModelCard; warning?: string } {
  const undated = id.replace(/-\d{8}$/, "");
  const known = listCards().find((card) => card.id === id || card.id === undated);
  const override = overrides[id] ?? {};
  const wrong = overrideProblem({ [id]: override });
  if (wrong) throw new Error(wrong);
  const card = merge({ ...(known ?? unknownCard(id)), id }, override as object) as ModelCard;
  if (known || ("window" in (override as object) && "prices" in (override as object))) return { card };
  const window = card.window.toLocaleString("en-US");
  return {
    card,
    warning: `${id} is not a known model: its window is taken as ${window} tokens, and what the settings do not price costs 0`,
  };
}

/** Says why what the settings say of models makes no sense, naming the field; undefined when it does. */
export function overrideProblem(overrides: Readonly<Record<string, unknown>>): string | undefined {
  return Object.entries(overrides).flatMap(([id, override]) =>
    violations(overrideSchema, override, `models.${id}`),
  )[0];
}

/** An unknown Claude may sign its history and may not take reminders: only what is legal on every one is done. */
function unknownCard(id: string): ModelCard {
  return {
    id,
    window: 128_000,
    maxOutput: 32_000,
    prices: { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    thinking: "none",
    // Servers with chat completions take it; of the Claude models the older ones do.
    temperature: !id.startsWith("anthropic/"),
    contract: contractNamed(id.startsWith("anthropic/") ? "claude_unknown" : "automatic"),
  };
}

function contractNamed(name: string): Contract {
  const contract = contracts[name];
  if (!contract) throw new Error(`cards.json has no contract ${name}`);
  return contract;
}

/** Objects are merged field by field; anything else is replaced. */
function merge(base: object, override: object): object {
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(override)) {
    const old = merged[key];
    merged[key] = isRecord(value) && isRecord(old) ? merge(old, value) : value;
  }
  return merged;
}

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const price: JsonSchema = { type: "number", minimum: 0 };
const count: JsonSchema = { type: "integer", minimum: 0 };
const tokens: JsonSchema = { type: "integer", minimum: 1 };

/** The prices of a card, but for their tier, as files are checked. */
export const priceFields: Record<string, JsonSchema> = {
  input: price,
  output: price,
  cacheRead: price,
  cacheWrite5m: price,
  cacheWrite1h: price,
};

const overrideSchema = closedObject({
  window: tokens,
  maxOutput: tokens,
  thinking: { enum: ["adaptive", "none"] },
  temperature: { type: "boolean" },
  prices: closedObject({
    ...priceFields,
    tier: closedObject({ aboveTokens: tokens, factor: price }, ["aboveTokens", "factor"]),
  }),
  contract: closedObject({
    history: { enum: ["free", "prefix_bound"] },
    thinking: { enum: ["bound", "carried", "none"] },
    reminders: { enum: ["turn_scoped", "tail", "logged"] },
    toolGating: { enum: ["none", "tool_changes", "allowed_tools"] },
    cache: closedObject({
      kind: { enum: ["breakpoints", "automatic", "none"] },
      maxBreakpoints: count,
      lookback: count,
      minTokens: count,
      ttls: { type: "array", items: { enum: ["5m", "30m", "1h"] } },
    }),
  }),
});
