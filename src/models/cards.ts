/** Cards of the known models (provider-facts §4). The figures are data in cards.json; settings override them. */

import { UsageError } from "../core/errors.ts";
import type { CacheLife, Contract, ModelCard, Prices } from "../core/model-card.ts";
import type { JsonSchema } from "../core/request.ts";
import { closedObject, violations } from "../core/schema.ts";
import { similar } from "../core/text/nearest.ts";
import data from "./cards.json" with { type: "json" };
import { type Provider, providers, splitName } from "./providers.ts";

/** A card as the file has it: a contract by name, where the model departs from it, and the one that it has over Responses. */
type FiledCard = Omit<ModelCard, "contract"> & {
  contract: string;
  responses?: string;
  minTokens?: number;
  ttls?: CacheLife[];
} & Partial<Pick<Contract, "reminders" | "toolGating">>;

const contracts = data.contracts as Record<string, Contract>;
const filed = data.cards as FiledCard[];

/** Where the figures come from. `date`: of the figures, as year-month-day. */
export const cardSource: { package: string; version: string; date: string } = data.source;

/** Ids of the known models, in the order of the file. */
export function cardIds(): string[] {
  return filed.map(({ id }) => id);
}

/** All known models, in the order of the file. */
export function listCards(): ModelCard[] {
  return filed.map((card) => withSearch(wholeCard(card), rowOf(card.id)));
}

function wholeCard(filedCard: FiledCard): ModelCard {
  const { contract, responses: _, minTokens, ttls, reminders, toolGating, ...card } = filedCard;
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
}

/** Facts that a server tells of a model of its own: its window, and on some what it costs. */
export type ToldFacts = { window?: number; maxOutput?: number; prices?: Partial<Prices> };

export type Sources = {
  /** The key `models` of the settings; it beats everything else. */
  overrides?: Readonly<Record<string, unknown>> | undefined;
  /** The row of the model's provider; by default that of the table, and over Responses only where it is given. */
  row?: Provider | undefined;
  /** Facts told by the server; they beat the card. */
  told?: ToldFacts | undefined;
};

/**
 * The card of `provider/id`, changed by what its server and the settings say of it. A model that is not known works
 * too, with zero prices and a warning. Throws `UsageError` that names the field when an override makes no sense.
 */
export function findCard(
  id: string,
  { overrides = {}, row: given, told = {} }: Sources = {},
): { card: ModelCard; warning?: string } {
  const row = given ?? rowOf(id);
  const known = knownCard(id, row);
  const override = (overrides[id] ?? {}) as object;
  const wrong = overrideProblem({ [id]: override });
  if (wrong) throw new UsageError(`${wrong}: correct or remove it in settings`);
  const made = { ...(known ? withSearch(known, row) : unknownCard(id, row)), id };
  const base = given?.wire === "responses" ? overResponses(made, given) : made;
  const merged = merge(merge(base, withReply(base, told)), override) as ModelCard;
  const card = row?.wire === "chat" || row?.plan ? withoutSearch(merged) : merged;
  const facts = { ...told, ...override };
  if (known || ("window" in facts && ("prices" in facts || row?.local))) return { card };
  const window = card.window.toLocaleString("en-US");
  const meant = nearestCard(id);
  return {
    card,
    warning: `${id} is not a known model${meant ? ` (did you mean ${meant}?)` : ""}: its window is taken as ${window} tokens, and what the settings do not price costs 0`,
  };
}

/** Finds the model of the same provider that may have been meant. */
function nearestCard(id: string): string | undefined {
  const { provider, id: model } = splitName(id);
  const models = filed.map((card) => splitName(card.id));
  const own = models.filter((each) => each.provider === provider).map((each) => each.id);
  const meant = similar(model, own);
  return meant && `${provider}/${meant}`;
}

/** Says why what the settings say of models makes no sense, naming the field; undefined when it does. */
export function overrideProblem(overrides: Readonly<Record<string, unknown>>): string | undefined {
  return Object.entries(overrides).flatMap(([id, override]) =>
    violations(overrideSchema, override, `models.${id}`),
  )[0];
}

/** The same model over Responses. */
function overResponses(card: ModelCard, { contract, plan }: Provider): ModelCard {
  const same = filed.find(({ id }) => splitName(id).id === splitName(card.id).id);
  const named = contractNamed(same?.responses ?? contract);
  // How a plan takes a part of the tools is not documented.
  return { ...card, api: "responses", contract: plan ? { ...named, toolGating: "none" } : named };
}

function rowOf(id: string): Provider | undefined {
  const { provider } = splitName(id);
  const row = providers.find(({ name }) => name === provider);
  return row?.wire === "responses" ? { ...row, wire: "chat", contract: "automatic" } : row;
}

/** A reply may fill a quarter of a small window: with the usual limit nothing would be left for the prompt. */
function withReply(card: ModelCard, told: ToldFacts): ToldFacts {
  if (told.window === undefined || told.maxOutput !== undefined) return told;
  return { ...told, maxOutput: Math.min(card.maxOutput, Math.ceil(told.window / 4)) };
}

/** Finds the card of the model itself, or where the provider serves models of others, of the same one at its maker. */
function knownCard(id: string, row: Provider | undefined): ModelCard | undefined {
  const undated = id.replace(/-\d{8}$/, "");
  const own = filed.find((card) => card.id === id || card.id === undated);
  if (own) return wholeCard(own);
  if (!row?.borrows) return undefined;
  const model = makersName(splitName(id).id);
  const speaksMessages = (other: Provider | undefined) => other?.wire === "messages";
  const theirs = filed.find(
    (card) => splitName(card.id).id === model && speaksMessages(rowOf(card.id)) === speaksMessages(row),
  );
  const made = theirs && wholeCard(theirs);
  if (made && row.plan) return ofPlan(made);
  return made && row.signer ? { ...made, contract: withoutBetas(made.contract) } : made;
}

/** Bedrock and Vertex add to a name where it runs and which version it is: `us.anthropic.claude-opus-4-5-20251101-v1:0`. */
function makersName(id: string): string {
  return id
    .replace(/^(?:[a-z]+\.)?anthropic\./, "")
    .replace(/-v\d+(:\d+)?$/, "")
    .replace(/[-@]\d{8}$/, "");
}

/** Adds the price of a search where the maker's own server has one; hosts of others need not. */
function withSearch(card: ModelCard, row: Provider | undefined): ModelCard {
  if (row?.webSearch === undefined || row.wire === "chat") return card;
  return { ...card, prices: { ...card.prices, webSearch: row.webSearch } };
}

/** Leaves the price of a search out where none is made: over chat completions, and where a plan pays. */
function withoutSearch(card: ModelCard): ModelCard {
  const { webSearch: _, ...prices } = card.prices;
  return { ...card, prices };
}

/** A plan is not billed by the token. */
function ofPlan(card: ModelCard): ModelCard {
  return { ...card, prices: { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } };
}

/** Leaves out what needs a beta feature of Anthropic's own host. */
function withoutBetas(contract: Contract): Contract {
  const reminders = contract.history === "prefix_bound" ? "logged" : "tail";
  return { ...contract, reminders, toolGating: "none" };
}

/** An unknown Claude may sign its history and may not take reminders: only what is legal on every one is done. */
function unknownCard(id: string, row: Provider | undefined): ModelCard {
  return {
    id,
    window: 128_000,
    maxOutput: 32_000,
    prices: { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 },
    thinking: "none",
    // Servers with chat completions take it; of the Claude models the older ones do.
    temperature: row?.wire !== "messages",
    contract: contractNamed(row?.contract ?? "automatic"),
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
  webSearch: price,
};

const overrideSchema = closedObject({
  window: tokens,
  maxOutput: tokens,
  thinking: { enum: ["adaptive", "none"] },
  temperature: { type: "boolean" },
  prices: closedObject({
    ...priceFields,
    tier: closedObject({ aboveTokens: tokens, input: price, output: price }, [
      "aboveTokens",
      "input",
      "output",
    ]),
  }),
  contract: closedObject({
    history: { enum: ["free", "prefix_bound"] },
    thinking: { enum: ["bound", "carried", "none"] },
    reminders: { enum: ["turn_scoped", "tail", "developer", "logged"] },
    toolGating: { enum: ["none", "tool_changes", "allowed_tools"] },
    cache: closedObject({
      kind: { enum: ["breakpoints", "automatic", "none"] },
      maxBreakpoints: count,
      lookback: count,
      minTokens: count,
      ttls: { type: "array", items: { enum: ["5m", "30m", "1h", "12h"] } },
    }),
  }),
});
