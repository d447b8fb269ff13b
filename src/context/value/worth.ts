/** When it pays to forget a thing: keeping it costs more than the chance that it must be read again. Pure. */

import { ageClasses, aheadReplies, beginOf, chancesOf, classOf, type Thing } from "./chance.ts";

/**
 * Prices in tokens at the input price. `r`, `w`: of a token read from the cache and written to it; `context`: tokens of the
 * next request; `call`: output that reads something again; `caution`: how many times its cost a re-read counts.
 */
export type Prices = { r: number; w: number; context: number; call: number; caution: number };

/**
 * Replies since a thing was shown or last used from which on it pays to forget it; infinite where it never does.
 * `carried`: though nothing else changes,
 * so that keeping the thing costs a cached read each step. `rewritten`: when all behind its place is written anew, so that
 * keeping it costs a write as well.
 */
export type Worth = ForgettableFrom & { risk: number };
type ForgettableFrom = { carried: number; rewritten: number };

/**
 * Returns those ages for a thing of age `idle` that frees `removes` tokens, and the `risk` of forgetting it now: tokens at the
 * input price that a reply soon spends on average to read it again. That costs a call, the whole context, a write.
 */
export function worthOf(thing: Thing, idle: number, removes: number, prices: Prices): Worth {
  const { r, w, context, call, caution } = prices;
  const { next, ahead } = chancesOf(thing);
  const reread = caution * (w * thing.tokens + r * context + call);
  const carried = beginWhere(next, (r * removes) / reread);
  const rewritten = beginWhere(ahead, ((w + r * aheadReplies) * removes) / reread);
  const risk = ((ahead[classOf(ageClasses, idle)] ?? 0) * reread) / aheadReplies;
  return { carried, rewritten: Math.min(carried, rewritten), risk };
}

/** Returns the age from which on no chance is above the bound. */
function beginWhere(chances: readonly number[], bound: number): number {
  let from = Number.POSITIVE_INFINITY;
  for (let index = chances.length - 1; index >= 0 && (chances[index] ?? 0) <= bound; index--)
    from = beginOf(index);
  return from;
}
