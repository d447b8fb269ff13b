/** The cheapest way to mask in hindsight: dynamic programming over the steps at which the queue is flushed. Pure. */

import { maskCandidates } from "../../context/policies/masking.ts";
import { policyInputOf } from "../../context/policies/policy-input.ts";
import { type View, viewReader } from "../../context/view/view.ts";
import { isThinking } from "../../core/blocks.ts";
import type { LogEvent } from "../../core/events.ts";
import {
  cacheLifeMs,
  costOf,
  type ModelCard,
  noUsage,
  type Usage,
  usualLife,
} from "../../core/model-card.ts";
import { blockAlone } from "./bill.ts";
import { type ReplayOptions, replay, type Sent } from "./replay.ts";
import { stackOf } from "./stack.ts";

/** `cost`: dollars, output included. `flushes`: the steps (from 1) before which the queue is flushed. */
export type Optimum = { cost: number; flushes: number[] };

/** A request of the session in which nothing is ever masked. */
type Step = { bytes: number; cold: boolean };
/** A part that a flush takes out: from which step on, its position as in `Step`, the bytes it frees. */
type Piece = { from: number; at: number; frees: number };
type Watched = { steps: Step[]; pieces: Piece[]; outputCost: number };

/**
 * Returns a lower bound for the cost of masking with these settings, whenever it flushes: no schedule of whole flushes
 * is cheaper. The session is known to its end, the cache finds every prefix, and the window has no end.
 */
export function offlineOptimum(
  recorded: readonly LogEvent[],
  options: Pick<ReplayOptions, "card" | "gaps"> & { maskKeep: number },
): Optimum {
  const { steps, pieces, outputCost } = watchRaw(recorded, options);
  const { cost, flushes } = cheapest(steps, pieces, options.card);
  return { cost: cost + outputCost, flushes };
}

/** A replay without any policy, watched for what masking could have taken when. */
function watchRaw(
  recorded: readonly LogEvent[],
  { card, gaps, maskKeep }: Parameters<typeof offlineOptimum>[1],
): Watched {
  const stack = stackOf(`raw:maskKeep=${maskKeep}`);
  const lifeMs = cacheLifeMs[usualLife(card.contract)];
  const steps: Step[] = [];
  const due = new Map<string, { from: number; text: string }>();
  const thought = new Map<object, number>();
  const reader = viewReader();
  let last: Sent | undefined;
  const { outputCost } = replay(recorded, {
    card,
    stack,
    gaps,
    onRequest(sent) {
      const { log, now, bill } = sent;
      const view = reader.read(log);
      for (const { edit, index } of maskCandidates(policyInputOf(log, view, now), maskKeep)) {
        const block = view.entries[index]?.blocks[0];
        const id = block?.type === "tool_result" ? block.tool_use_id : "";
        if (!due.has(id)) due.set(id, { from: steps.length, text: edit.text });
      }
      for (const block of view.entries.at(-1)?.role === "user" ? newestThinking(view) : [])
        if (!thought.has(block)) thought.set(block, steps.length);
      const bytes = bill.layout.blocks.reduce((sum, block) => sum + block.bytes, 0);
      steps.push({ bytes, cold: last === undefined || now - last.now >= lifeMs });
      last = sent;
    },
  });
  const bound = card.contract.history === "prefix_bound";
  return { steps, pieces: last ? piecesIn(last, due, bound ? thought : new Map()) : [], outputCost };
}

/** Thinking that an edit anywhere before it takes along: that of the newest reply is new. */
function newestThinking(view: View): object[] {
  const reply = view.entries.findLast(({ role }) => role === "assistant");
  return reply?.blocks.filter(isThinking) ?? [];
}

function piecesIn(
  { request, bill }: Sent,
  due: ReadonlyMap<string, { from: number; text: string }>,
  thought: ReadonlyMap<object, number>,
): Piece[] {
  const { blocks, messageStarts } = bill.layout;
  const content = request.messages.flatMap((message) => message.content);
  let index = messageStarts[0] ?? 0;
  let at = blocks.slice(0, index).reduce((sum, block) => sum + block.bytes, 0);
  const results: Piece[] = [];
  const thinking: Piece[] = [];
  for (const block of content) {
    const bytes = blocks[index++]?.bytes ?? 0;
    const mask = block.type === "tool_result" ? due.get(block.tool_use_id) : undefined;
    const since = thought.get(block);
    if (mask && block.type === "tool_result")
      results.push({
        from: mask.from,
        at,
        frees: bytes - blockAlone("user", { ...block, content: mask.text }).bytes,
      });
    // Thinking before the first masked observation stays valid.
    if (since !== undefined && results.length > 0) thinking.push({ from: since, at, frees: bytes });
    at += bytes;
  }
  return [...results, ...thinking].sort((a, b) => a.from - b.from || a.at - b.at);
}

/**
 * `freed[j]`, `kept[j]`, `next[j]`: bytes out after a flush at j; bytes that the flush after it can still read; its
 * first step.
 */
type Tables = { freed: number[]; kept: number[]; next: number[] };

function tablesOf(steps: readonly Step[], pieces: readonly Piece[]): Tables {
  const tables: Tables = { freed: [], kept: [], next: [] };
  // Index 0 is "never flushed", index j + 1 "flushed before step j".
  for (let flushed = -1; flushed < steps.length; flushed++) {
    const out = pieces.filter(({ from }) => from <= flushed);
    const first = pieces.find(({ from }) => from > flushed);
    const before = out.filter(({ at }) => first && at < first.at);
    tables.freed.push(sumOf(out));
    tables.kept.push(first ? first.at - sumOf(before) : 0);
    tables.next.push(first?.from ?? Number.POSITIVE_INFINITY);
  }
  return tables;
}

function sumOf(pieces: readonly Piece[]): number {
  return pieces.reduce((sum, { frees }) => sum + frees, 0);
}

/** best[j]: the least that the steps so far cost if the last flush was at j. */
function cheapest(steps: readonly Step[], pieces: readonly Piece[], card: ModelCard): Optimum {
  const { freed, kept, next } = tablesOf(steps, pieces);
  let best: Optimum[] = [{ cost: 0, flushes: [] }];
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]?.bytes ?? 0;
    const price = (flushed: number, size: number, cached: number): number =>
      priceOf(size - (freed[flushed] ?? 0), step.cold ? 0 : cached, card);
    let flush: Optimum | undefined;
    const after = best.map((least, flushed): Optimum => {
      if (index >= (next[flushed] ?? Number.POSITIVE_INFINITY)) {
        const cost = least.cost + price(index + 1, step.bytes, kept[flushed] ?? 0);
        if (!flush || cost < flush.cost) flush = { cost, flushes: [...least.flushes, index + 1] };
      }
      const cost = least.cost + price(flushed, step.bytes, before - (freed[flushed] ?? 0));
      return { cost, flushes: least.flushes };
    });
    best = [...after, flush ?? { cost: Number.POSITIVE_INFINITY, flushes: [] }];
  }
  return best.reduce((least, one) => (one.cost < least.cost ? one : least));
}

/** Dollars of one request: what is cached is read, the rest is written. */
function priceOf(bytes: number, cached: number, { prices, contract }: ModelCard): number {
  const tokens = bytes / 4;
  const read = cached / 4;
  const caches = contract.cache.kind !== "none" && tokens >= contract.cache.minTokens;
  const usage: Usage = caches
    ? { ...noUsage, cacheReadTokens: read, cacheWrite5mTokens: tokens - read }
    : { ...noUsage, inputTokens: tokens };
  return costOf(usage, prices);
}
