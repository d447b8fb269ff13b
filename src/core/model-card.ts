/** Facts about a model: its window, its prices, and what its API permits. Pure. */

/** Dollars per million tokens, but for searches. A write price of 0 means that writing costs no more than input. */
export type Prices = {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Dollars for 1,000 searches by the provider's own server; absent where it has no search, or none that is used. */
  webSearch?: number;
  /** Above `aboveTokens` of input the whole request is dearer: its input prices times `input`, its output times `output`. */
  tier?: { aboveTokens: number; input: number; output: number };
};

/** Lifetime of an unused prompt cache entry, as a cache marker can ask for it: Anthropic's, and OpenAI's. */
export type CacheLife = "5m" | "1h" | "30m" | "12h";

/** The limits and features of a model's API (context-engine §2, provider-facts §2 and §3). */
export type Contract = {
  /** `prefix_bound`: thinking is signed over everything before it, so earlier content cannot change. */
  history: "free" | "prefix_bound";
  /**
   * `carried`: each message with calls must come back with its thinking, verbatim, also when that is empty; edits of
   * other content stay legal. `bound`: see `history`. `none`: it is not sent back. Absent in logs of earlier versions.
   */
  thinking?: "bound" | "carried" | "none";
  /** The cheapest legal way to remind the model of something. `developer`: `tail`, as a message of its own. */
  reminders: "turn_scoped" | "tail" | "developer" | "logged";
  /** How a declared tool can be withheld without touching the tool array (context-engine §7). */
  toolGating: "none" | "tool_changes" | "allowed_tools";
  cache: {
    kind: "breakpoints" | "automatic" | "none";
    maxBreakpoints: number;
    /** Positions that a cache read looks back from a breakpoint; 1e9 where there is no limit. */
    lookback: number;
    /** Shorter prefixes are silently not cached. */
    minTokens: number;
    /** The lifetimes on offer; an entry gets the first unless it asks for another. */
    ttls: CacheLife[];
  };
};

export type ModelCard = {
  /** Set when the session is spoken over Responses; another API would change what was sent. */
  api?: "responses";
  /** `provider/id`, as the user names it. */
  id: string;
  window: number;
  maxOutput: number;
  prices: Prices;
  /** True when thinking is asked for with `thinking: {type: "adaptive"}`. */
  thinking: "adaptive" | "none";
  /** True when a temperature other than the default is accepted. */
  temperature?: boolean;
  contract: Contract;
};

/** Lifetimes of cache entries in milliseconds. */
export const cacheLifeMs: Readonly<Record<CacheLife, number>> = {
  "5m": 300_000,
  "30m": 1_800_000,
  "1h": 3_600_000,
  "12h": 43_200_000,
};

/** Returns the lifetime that entries of this model get by default. */
export function usualLife({ cache }: Contract): CacheLife {
  return cache.ttls[0] ?? "5m";
}

/** Token counts of one reply, in disjoint buckets: the whole input is the sum of the four input buckets. */
export type Usage = {
  /** Neither read from nor written to the cache. */
  inputTokens: number;
  cacheReadTokens: number;
  cacheWrite5mTokens: number;
  cacheWrite1hTokens: number;
  outputTokens: number;
  /** Searches of the provider's server, which are billed besides; absent without any. */
  webSearches?: number;
};

export const noUsage: Usage = {
  inputTokens: 0,
  cacheReadTokens: 0,
  cacheWrite5mTokens: 0,
  cacheWrite1hTokens: 0,
  outputTokens: 0,
};

/** Everything the model read for a reply: uncached, read and written. */
export function inputTotal(usage: Usage): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
}

export function addUsage(a: Usage, b: Usage): Usage {
  const webSearches = (a.webSearches ?? 0) + (b.webSearches ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWrite5mTokens: a.cacheWrite5mTokens + b.cacheWrite5mTokens,
    cacheWrite1hTokens: a.cacheWrite1hTokens + b.cacheWrite1hTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    ...(webSearches > 0 ? { webSearches } : {}),
  };
}

/** Returns the prices of a request with this usage: above a price tier its factors apply to the whole request. */
export function pricesOf(usage: Usage, prices: Prices): Prices {
  const { tier } = prices;
  if (!tier || inputTotal(usage) <= tier.aboveTokens) return prices;
  return {
    input: tier.input * prices.input,
    output: tier.output * prices.output,
    cacheRead: tier.input * prices.cacheRead,
    cacheWrite5m: tier.input * prices.cacheWrite5m,
    cacheWrite1h: tier.input * prices.cacheWrite1h,
  };
}

/** Returns dollars for the searches of one reply. */
export function searchCost({ webSearches = 0 }: Usage, { webSearch = 0 }: Prices): number {
  return (webSearches * webSearch) / 1000;
}

/** Returns dollars for one reply (provider-facts §4). */
export function costOf(usage: Usage, allPrices: Prices): number {
  const prices = pricesOf(usage, allPrices);
  const micro =
    usage.inputTokens * prices.input +
    usage.cacheReadTokens * prices.cacheRead +
    usage.cacheWrite5mTokens * (prices.cacheWrite5m || prices.input) +
    usage.cacheWrite1hTokens * (prices.cacheWrite1h || prices.input) +
    usage.outputTokens * prices.output;
  return micro / 1e6 + searchCost(usage, allPrices);
}

/** Reads a card of an earlier version, whose tier had one factor for every price. */
export function currentCard(card: ModelCard): ModelCard {
  const tier = card.prices?.tier as (Prices["tier"] & { factor?: number }) | undefined;
  if (tier?.factor === undefined) return card;
  const { aboveTokens, factor } = tier;
  return { ...card, prices: { ...card.prices, tier: { aboveTokens, input: factor, output: factor } } };
}
