/** Where the cache breakpoints of a request go (context-engine §9.8). Pure. */

import { isThinking } from "../core/blocks.ts";
import type { CacheTtl, Contract } from "../core/model-card.ts";
import type { CachePoint } from "../core/request.ts";
import type { Placed } from "./messages.ts";

/** The last entry that the next fold or edit keeps. `long`: it should outlive the work that will be folded away. */
export type Checkpoint = { seq: number; long: boolean };

/**
 * At most four, in order: end of system; the checkpoint, so that a fold or flush finds its prefix written; the newest
 * block of the previous request, so that this one finds it, or, after an edit, the last `untouched` entry, up to which
 * there is something to find; the newest block.
 */
export function cachePoints(
  placed: readonly Placed[],
  contract: Contract,
  checkpoint?: Checkpoint,
  untouched?: number,
): CachePoint[] {
  if (contract.cache.kind !== "breakpoints") return [];
  const newest = placed.findLastIndex(({ message }) => message.role === "user");
  const reply = placed.findLastIndex(({ message }, index) => index < newest && message.role === "assistant");
  // After an edit nothing of the previous request is found but what stands before the edit.
  const previous =
    untouched === undefined
      ? placed.findLastIndex(({ message }, index) => index < reply && message.role === "user")
      : lastMarkable(placed, untouched);
  const kept = checkpoint ? lastMarkable(placed, checkpoint.seq) : -1;
  const long = checkpoint?.long && contract.cache.ttls.includes("1h") ? kept : -1;
  // A longer life must stand before a shorter one, so all up to the checkpoint gets it.
  const ttlOf = (message: number): CacheTtl => (long >= 0 && message <= long ? "1h" : "5m");
  const indexes = [...new Set([kept, previous, newest])].filter((index) => index >= 0).sort((a, b) => a - b);
  const points = indexes.flatMap((message): CachePoint[] => {
    const block = placed[message]?.message.content.findLastIndex((candidate) => !isThinking(candidate)) ?? -1;
    return block < 0 ? [] : [{ after: "block", message, block, ttl: ttlOf(message) }];
  });
  return [{ after: "system" as const, ttl: ttlOf(-1) }, ...points].slice(0, contract.cache.maxBreakpoints);
}

/** A reminder for one step is never part of what is cached, so a marker on it is refused. */
function lastMarkable(placed: readonly Placed[], upTo: number): number {
  return placed.findLastIndex(({ message, seqs }) => (seqs.at(-1) ?? 0) <= upTo && message.role !== "system");
}
