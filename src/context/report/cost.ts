/** Where the money went: by bucket of the bill, and by kind of content. Pure. */

import { isThinking } from "../../core/blocks.ts";
import type { EventOf, LogEvent } from "../../core/events.ts";
import {
  addUsage,
  costOf,
  inputTotal,
  type ModelCard,
  noUsage,
  type Prices,
  type Usage,
} from "../../core/model-card.ts";
import { started } from "../../core/questions.ts";
import { blocksTokens } from "../view/tokens.ts";
import { type Contents, contentsOf, noKinds } from "./contents.ts";
import { type Kind, kinds } from "./kinds.ts";
import { momentsOf } from "./walk.ts";

/** Dollars by bucket. `side`: calls beside the conversation, such as summaries, with all their buckets. */
export type Buckets = {
  uncached: number;
  read: number;
  write5m: number;
  write1h: number;
  output: number;
  side: number;
};

/** Dollars for one kind: as input, each time it was sent, and as output, when it was written. */
export type KindCost = { kind: Kind; input: number; output: number };

export type Costs = {
  total: number;
  buckets: Buckets;
  /** Tokens of the conversation's replies; `sideUsage`: of the calls beside it. */
  usage: Usage;
  sideUsage: Usage;
  /** Most expensive first; kinds that cost nothing are left out. */
  byKind: KindCost[];
};

export function costsOf(events: readonly LogEvent[]): Costs {
  const buckets: Buckets = { uncached: 0, read: 0, write5m: 0, write1h: 0, output: 0, side: 0 };
  let { model } = started(events);
  let [usage, sideUsage] = [noUsage, noUsage];
  for (const event of events) {
    if (event.type === "model_changed") model = event.model;
    if (event.type === "summary_call") {
      sideUsage = addUsage(sideUsage, event.usage);
      buckets.side += costOf(event.usage, (event.card ?? model).prices);
    }
    if (event.type !== "assistant_message") continue;
    usage = addUsage(usage, event.usage);
    addBuckets(buckets, event.usage, model.prices);
  }
  const total = Object.values(buckets).reduce((sum, dollars) => sum + dollars, 0);
  return { total, buckets, usage, sideUsage, byKind: costByKind(events) };
}

function addBuckets(buckets: Buckets, usage: Usage, prices: Prices): void {
  const factor = tierFactor(usage, prices);
  const dollars = (tokens: number, price: number) => (factor * tokens * price) / 1e6;
  buckets.uncached += dollars(usage.inputTokens, prices.input);
  buckets.read += dollars(usage.cacheReadTokens, prices.cacheRead);
  buckets.write5m += dollars(usage.cacheWrite5mTokens, prices.cacheWrite5m || prices.input);
  buckets.write1h += dollars(usage.cacheWrite1hTokens, prices.cacheWrite1h || prices.input);
  buckets.output += dollars(usage.outputTokens, prices.output);
}

function tierFactor(usage: Usage, { tier }: Prices): number {
  return tier && inputTotal(usage) > tier.aboveTokens ? tier.factor : 1;
}

function costByKind(events: readonly LogEvent[]): KindCost[] {
  const costs = new Map<Kind, KindCost>(kinds.map((kind) => [kind, { kind, input: 0, output: 0 }]));
  const add = (kind: Kind, direction: "input" | "output", dollars: number) => {
    const cost = costs.get(kind);
    if (cost) cost[direction] += dollars;
  };
  const replies = repliesByRequest(events);
  const contents = contentsOf(events);
  for (const { event, view, unchanged } of momentsOf(events)) {
    contents.take(view, unchanged);
    const answer = replies.get(event.seq);
    if (!answer) continue;
    for (const [kind, dollars] of inputShares(contents, answer)) add(kind, "input", dollars);
    const thought = thoughtShare(answer.reply);
    const dollars = costOf(
      { ...noUsage, outputTokens: answer.reply.usage.outputTokens },
      answer.model.prices,
    );
    const output = dollars * tierFactor(answer.reply.usage, answer.model.prices);
    add("reasoning", "output", thought * output);
    add("actions", "output", (1 - thought) * output);
  }
  return [...costs.values()]
    .filter(({ input, output }) => input + output > 0)
    .sort((a, b) => b.input + b.output - a.input - a.output);
}

type Answer = { reply: EventOf<"assistant_message">; model: ModelCard };

/** The reported reply to each request, by the request's seq. */
function repliesByRequest(events: readonly LogEvent[]): Map<number, Answer> {
  const replies = new Map<number, Answer>();
  let { model } = started(events);
  let request: number | undefined;
  for (const event of events) {
    if (event.type === "model_changed") model = event.model;
    if (event.type === "model_request") request = event.seq;
    if (event.type !== "assistant_message" || request === undefined || inputTotal(event.usage) === 0)
      continue;
    replies.set(request, { reply: event, model });
    request = undefined;
  }
  return replies;
}

/** A prompt is billed by position: first what was read, then what was written, then the rest at full price. */
function inputShares(contents: Contents, { reply, model }: Answer): Map<Kind, number> {
  const { usage } = reply;
  const scale = inputTotal(usage) / Math.max(1, contents.tokens());
  const shares = new Map<Kind, number>();
  let before = noKinds;
  for (const { until, price } of zonesOf(usage, model.prices)) {
    const now = contents.before(until / scale);
    for (const [index, kind] of kinds.entries()) {
      const tokens = (now[index] ?? 0) - (before[index] ?? 0);
      if (tokens !== 0) shares.set(kind, (shares.get(kind) ?? 0) + (tokens * scale * price) / 1e6);
    }
    before = now;
  }
  return shares;
}

/** Where each price ends, as a position in the prompt. A long-lived entry lies before the short-lived ones. */
function zonesOf(usage: Usage, prices: Prices): { until: number; price: number }[] {
  const factor = tierFactor(usage, prices);
  const read = usage.cacheReadTokens;
  const long = read + usage.cacheWrite1hTokens;
  const short = long + usage.cacheWrite5mTokens;
  return [
    { until: read, price: factor * prices.cacheRead },
    { until: long, price: factor * (prices.cacheWrite1h || prices.input) },
    { until: short, price: factor * (prices.cacheWrite5m || prices.input) },
    { until: Number.POSITIVE_INFINITY, price: factor * prices.input },
  ];
}

/** How much of a reply was thinking, by the size of its blocks. */
function thoughtShare({ content }: EventOf<"assistant_message">): number {
  const all = blocksTokens(content);
  return all === 0 ? 0 : blocksTokens(content.filter(isThinking)) / all;
}
