/** Where the cache breakpoints of a request go (context-engine §9.8). Pure. */

import { isThinking } from "../core/blocks.ts";
import type { Contract } from "../core/model-card.ts";
import type { CachePoint } from "../core/request.ts";
import type { Placed } from "./messages.ts";

/**
 * At most four, in order: end of system; the checkpoint (the open focus, else the last edit), so that a fold finds
 * its prefix written; the newest block of the previous request, so that this one finds it; the newest block.
 */
export function cachePoints(
  placed: readonly Placed[],
  contract: Contract,
  checkpointSeq?: number,
): CachePoint[] {
  if (contract.cache.kind !== "breakpoints") return [];
  const newest = placed.findLastIndex(({ message }) => message.role === "user");
  const reply = placed.findLastIndex(({ message }, index) => index < newest && message.role === "assistant");
  const previous = placed.findLastIndex(({ message }, index) => index < reply && message.role === "user");
  const checkpoint =
    checkpointSeq === undefined ? -1 : placed.findLastIndex(({ seq }) => seq <= checkpointSeq && seq >= 0);
  const indexes = [...new Set([checkpoint, previous, newest])]
    .filter((index) => index >= 0)
    .sort((a, b) => a - b);
  const points = indexes.flatMap((message): CachePoint[] => {
    const block = placed[message]?.message.content.findLastIndex((candidate) => !isThinking(candidate)) ?? -1;
    return block < 0 ? [] : [{ after: "block", message, block, ttl: "5m" }];
  });
  return [{ after: "system" as const, ttl: "5m" as const }, ...points].slice(
    0,
    contract.cache.maxBreakpoints,
  );
}
