/** Places the cache breakpoints of a request (context-engine §9.8). Pure. */

import { isThinking } from "../../core/blocks.ts";
import { type CacheLife, type Contract, usualLife } from "../../core/model-card.ts";
import { joinsRun } from "../../core/prompt-cache.ts";
import type { CachePoint } from "../../core/request.ts";
import type { LocatedMessage } from "../view/messages.ts";

/** The last entry that the next fold or edit keeps. `long`: it should outlive the work that will be folded away. */
export type Checkpoint = { seq: number; long: boolean };

/**
 * After an edit: the last entry before what it changed. `marked`: the breakpoints of the newest answered requests, each
 * with the last entry up to which it still is as it was sent. `written`: the newest entry with which a request ended
 * that is still as it was.
 */
export type Untouched = {
  seq: number;
  marked: readonly { seq: number; points: readonly CachePoint[] }[];
  written?: number;
};

/**
 * At most four, in order: end of system; the checkpoint, so that a fold or flush finds its prefix written; the newest
 * block of the previous request, so that this one finds it, or, after an edit, the last `untouched` entry, up to which
 * there is something to find; the newest block.
 */
export function cachePoints(
  messages: readonly LocatedMessage[],
  contract: Contract,
  checkpoint?: Checkpoint,
  untouched?: Untouched,
): CachePoint[] {
  if (contract.cache.kind !== "breakpoints") return [];
  const newest = messages.findLastIndex(({ message }) => message.role === "user");
  const reply = messages.findLastIndex(
    ({ message }, index) => index < newest && message.role === "assistant",
  );
  const answered = messages.findLastIndex(({ message }, index) => index < reply && message.role === "user");
  // After an edit nothing of the previous request is found but what stands before the edit.
  const previous = untouched
    ? foundIn(messages, untouched, contract.cache.lookback)
    : endOf(messages, answered);
  const checkpointed = checkpoint && upTo(messages, checkpoint.seq);
  const long = checkpoint?.long && contract.cache.ttls.includes("1h") ? checkpointed : undefined;
  const positions = [checkpointed, previous, endOf(messages, newest)]
    .flatMap((position) => position ?? [])
    .sort(inOrder);
  const points = positions
    .filter((position, index) => index === 0 || inOrder(position, positions[index - 1] ?? position) !== 0)
    // A longer life must stand before a shorter one, so all up to the checkpoint gets it.
    .map((position) => ({
      after: "block" as const,
      ...position,
      ttl: ttlOf(contract, long && inOrder(position, long) <= 0),
    }));
  return [{ after: "system" as const, ttl: ttlOf(contract, long) }, ...points].slice(
    0,
    contract.cache.maxBreakpoints,
  );
}

/** Where the last entry before an edit ends; or, when nothing in the cache is within reach of that, what is in it. */
function foundIn(
  messages: readonly LocatedMessage[],
  untouched: Untouched,
  lookback: number,
): BlockPosition | undefined {
  const last = upTo(messages, untouched.seq);
  if (!last) return undefined;
  const points = untouched.marked.flatMap((request) => {
    const end = upTo(messages, Math.min(request.seq, untouched.seq));
    return request.points.filter((point) => point.after === "block" && end && inOrder(point, end) <= 0);
  }) as BlockPosition[];
  const ended = untouched.written === undefined ? [] : (upTo(messages, untouched.written) ?? []);
  const inCache = [...points, ...[ended].flat()]
    .filter((position) => inOrder(position, last) <= 0)
    .sort(inOrder);
  const nearest = inCache.at(-1);
  if (!nearest || positionsTo(messages, last) - positionsTo(messages, nearest) <= lookback) return last;
  return { message: nearest.message, block: nearest.block };
}

/** Counts the positions of the cache up to a block. */
function positionsTo(messages: readonly LocatedMessage[], position: BlockPosition): number {
  let count = 0;
  for (const [
    message,
    {
      message: { content },
    },
  ] of messages.slice(0, position.message + 1).entries())
    for (const [at, { type }] of content.entries()) {
      if (!joinsRun(type, content[at - 1]?.type) && (message < position.message || at <= position.block))
        count += 1;
    }
  return count;
}

type BlockPosition = { message: number; block: number };

function inOrder(first: BlockPosition, other: BlockPosition): number {
  return first.message - other.message || first.block - other.block;
}

function ttlOf(contract: Contract, long: unknown): CacheLife {
  return long ? "1h" : usualLife(contract);
}

/** The last block of a message that a breakpoint can stand at. */
function endOf(messages: readonly LocatedMessage[], message: number): BlockPosition | undefined {
  const block = messages[message]?.message.content.findLastIndex((each) => !isThinking(each)) ?? -1;
  return block < 0 ? undefined : { message, block };
}

/**
 * The last block up to which all come from entries up to `seq`. Never in a system message: a reminder for one step is
 * no part of what is cached, and a breakpoint there is refused.
 */
function upTo(messages: readonly LocatedMessage[], seq: number): BlockPosition | undefined {
  for (let message = messages.length - 1; message >= 0; message--) {
    const { message: { role, content } = { role: "system", content: [] }, seqs = [] } =
      messages[message] ?? {};
    if (role === "system") continue;
    const later = seqs.findIndex((each) => each > seq);
    const block = content.findLastIndex((each, at) => (later < 0 || at < later) && !isThinking(each));
    if (block >= 0) return { message, block };
  }
  return undefined;
}
