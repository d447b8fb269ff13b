/** Breaks down a session's cost by bucket of the bill and by kind of content. Pure. */

import { isThinking } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import {
  addUsage,
  costOf,
  inputTotal,
  type ModelCard,
  noUsage,
  type Prices,
  pricesOf,
  searchCost,
  type Usage,
} from "../../core/model-card.ts";
import { blocksTokens } from "../view/tokens.ts";
import { plural } from "./amounts.ts";
import { type Contents, contentsOf, noKinds } from "./contents.ts";
import { type Kind, kinds } from "./kinds.ts";
import { type Moment, walker } from "./walk.ts";

/** Dollars by bucket. `side`: summaries, `delegates`: calls of sub-agents, both with all their buckets. */
export type Buckets = {
  uncached: number;
  read: number;
  write5m: number;
  write1h: number;
  output: number;
  searches: number;
  side: number;
  delegates: number;
};

/** Dollars for one kind: as input, each time it was sent, and as output, when it was written. */
export type KindCost = { kind: Kind; input: number; output: number };

export type Costs = {
  total: number;
  buckets: Buckets;
  /** Tokens of the conversation's replies; `sideUsage`: of summaries; `delegateUsage`: of sub-agents. */
  usage: Usage;
  sideUsage: Usage;
  delegateUsage: Usage;
  /** Most expensive first; kinds that cost nothing are left out. */
  byKind: KindCost[];
};

/** Computes the costs of a log in a walk of its own. */
export function costsOf(events: readonly LogEvent[]): Costs {
  const reader = costReader(events);
  const walk = walker();
  for (const event of events) reader.take(event, walk(event));
  return reader.costs();
}

export type CostReader = { take(event: LogEvent, moment: Moment | undefined): void; costs(): Costs };

/** Adds up the costs of a log event by event, each with its moment if it is one. `events`: the log, which may grow. */
export function costReader(events: readonly LogEvent[]): CostReader {
  const kinds = kindReader(events);
  const buckets = bucketReader();
  return {
    take(event, moment) {
      if (moment) kinds.take(moment);
      const model = buckets.take(event);
      if (event.type === "assistant_message" && model) kinds.answer({ reply: event, model });
    },
    costs: () => ({ ...buckets.costs(), byKind: kinds.byKind() }),
  };
}

type BucketRow = [name: string, tokens: number, dollars: number];

/** Lists the buckets of the bill as rows. */
export function bucketRows({ buckets, usage, sideUsage, delegateUsage }: Costs): BucketRow[] {
  return [
    ["cache read", usage.cacheReadTokens, buckets.read],
    ["cache write, 5 min", usage.cacheWrite5mTokens, buckets.write5m],
    ["cache write, 1 h", usage.cacheWrite1hTokens, buckets.write1h],
    ["uncached input", usage.inputTokens, buckets.uncached],
    ["output", usage.outputTokens, buckets.output],
    ...(usage.webSearches ? [searchRow(usage.webSearches, buckets.searches)] : []),
    ["summaries", inputTotal(sideUsage) + sideUsage.outputTokens, buckets.side],
    ["sub-agents", inputTotal(delegateUsage) + delegateUsage.outputTokens, buckets.delegates],
  ];
}

/** Searches cost by the piece; the tokens of what they found are input as any. */
function searchRow(count: number, dollars: number): BucketRow {
  return [plural(count, "web search", "web searches"), 0, dollars];
}

/** `take` returns the model in force. */
function bucketReader(): {
  take(event: LogEvent): ModelCard | undefined;
  costs(): Omit<Costs, "byKind">;
} {
  const buckets: Buckets = {
    uncached: 0,
    read: 0,
    write5m: 0,
    write1h: 0,
    output: 0,
    searches: 0,
    side: 0,
    delegates: 0,
  };
  let model: ModelCard | undefined;
  let [usage, sideUsage, delegateUsage] = [noUsage, noUsage, noUsage];
  const take = (event: LogEvent): ModelCard | undefined => {
    if (event.type === "session_started" || event.type === "model_changed") model = event.model;
    if (event.type === "summary_call" && model) {
      sideUsage = addUsage(sideUsage, event.usage);
      buckets.side += costOf(event.usage, (event.card ?? model).prices);
    }
    if (event.type === "delegate_called" && model) {
      delegateUsage = addUsage(delegateUsage, event.usage);
      buckets.delegates += costOf(event.usage, (event.card ?? model).prices);
    }
    if (event.type === "assistant_message" && model) {
      usage = addUsage(usage, event.usage);
      addBuckets(buckets, event.usage, model.prices);
    }
    return model;
  };
  const costs = () => {
    const total = Object.values(buckets).reduce((sum, dollars) => sum + dollars, 0);
    return { total, buckets, usage, sideUsage, delegateUsage };
  };
  return { take, costs };
}

function addBuckets(buckets: Buckets, usage: Usage, allPrices: Prices): void {
  const prices = pricesOf(usage, allPrices);
  const dollars = (tokens: number, price: number) => (tokens * price) / 1e6;
  buckets.uncached += dollars(usage.inputTokens, prices.input);
  buckets.read += dollars(usage.cacheReadTokens, prices.cacheRead);
  buckets.write5m += dollars(usage.cacheWrite5mTokens, prices.cacheWrite5m || prices.input);
  buckets.write1h += dollars(usage.cacheWrite1hTokens, prices.cacheWrite1h || prices.input);
  buckets.output += dollars(usage.outputTokens, prices.output);
  buckets.searches += searchCost(usage, allPrices);
}

function kindReader(events: readonly LogEvent[]): {
  take(moment: Moment): void;
  answer(answer: Answer): void;
  byKind(): KindCost[];
} {
  const costs: KindCost[] = kinds.map((kind) => ({ kind, input: 0, output: 0 }));
  const written = (kind: Kind, dollars: number) => {
    const cost = costs[kinds.indexOf(kind)];
    if (cost) cost.output += dollars;
  };
  let contents: Contents | undefined;
  let requested = false;
  const take = ({ event, view, unchanged }: Moment): void => {
    contents ??= contentsOf(events);
    contents.take(view, unchanged);
    requested = event.type === "model_request";
  };
  const answer = (answer: Answer): void => {
    if (!contents || !requested || inputTotal(answer.reply.usage) === 0) return;
    requested = false;
    addInput(costs, contents, answer);
    const thought = thoughtShare(answer.reply);
    const { usage } = answer.reply;
    const output = (usage.outputTokens * pricesOf(usage, answer.model.prices).output) / 1e6;
    written("reasoning", thought * output);
    written("actions", (1 - thought) * output);
    written("observations", searchCost(usage, answer.model.prices));
  };
  const byKind = () =>
    costs
      .filter(({ input, output }) => input + output > 0)
      .sort((a, b) => b.input + b.output - a.input - a.output);
  return { take, answer, byKind };
}

type Answer = { reply: EventOf<"assistant_message">; model: ModelCard };

/** Adds the input cost by kind. A prompt is billed by position: cache reads, then cache writes, then the rest. */
function addInput(costs: readonly KindCost[], contents: Contents, { reply, model }: Answer): void {
  const { usage } = reply;
  const scale = inputTotal(usage) / Math.max(1, contents.tokens());
  let [before, from] = [noKinds, 0];
  for (const { until, price } of zonesOf(usage, model.prices)) {
    if (until === from) continue;
    const now = contents.before(until / scale);
    costs.forEach((cost, index) => {
      cost.input += (((now[index] ?? 0) - (before[index] ?? 0)) * scale * price) / 1e6;
    });
    [before, from] = [now, until];
  }
}

/** Returns the position in the prompt at which each price ends. Long-lived entries come before short-lived ones. */
function zonesOf(usage: Usage, allPrices: Prices): { until: number; price: number }[] {
  const prices = pricesOf(usage, allPrices);
  const read = usage.cacheReadTokens;
  const long = read + usage.cacheWrite1hTokens;
  const short = long + usage.cacheWrite5mTokens;
  return [
    { until: read, price: prices.cacheRead },
    { until: long, price: prices.cacheWrite1h || prices.input },
    { until: short, price: prices.cacheWrite5m || prices.input },
    { until: Number.POSITIVE_INFINITY, price: prices.input },
  ];
}

/** Returns the share of thinking in a reply, by the size of its blocks. */
function thoughtShare({ content }: EventOf<"assistant_message">): number {
  const all = blocksTokens(content);
  return all === 0 ? 0 : blocksTokens(content.filter(isThinking)) / all;
}
