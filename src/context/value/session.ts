/** The use a session makes of what it has: when, and how much against what the recordings let expect. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { memoizedReduce } from "../../core/memoize.ts";
import { ageClasses, type Chances, chancesOf, classOf } from "./chance.ts";
import { type Answered, type Held, thingReader } from "./things.ts";

/** Uses that count as seen and expected before the first: a few surprises do not decide. */
const weight = 4;
/** The newest things are about to be used in any session: what is compared is what comes later. */
const leastAge = 4;

type State = {
  take(event: LogEvent): Answered | undefined;
  chances: Map<Held, Chances>;
  /** Things whose chance still changes; the number of things seen so far; the sum of the chances of the others. */
  open: Held[];
  seen: number;
  settled: number;
  used: number;
  expected: number;
  replies: number;
  /** By event: the newest reply that used a result or what a reply wrote, else its own. */
  since: Map<number, number>;
};

/**
 * Returns the factor on all chances: below 1 in a session that uses less than the recordings did, and never above, since
 * a session that uses more finds the price of a re-read weighed several times already.
 */
export function sessionFactor(events: readonly LogEvent[]): number {
  const { used, expected } = counted(events);
  return Math.min(1, (used + weight) / (expected + weight));
}

/** Returns for each result and each reply, by its event, the newest reply that used it, else its own; counted from 1. */
export function newestUses(events: readonly LogEvent[]): ReadonlyMap<number, number> {
  return counted(events).since;
}

const counted = memoizedReduce<State>(
  () => ({
    ...{ take: thingReader(), chances: new Map(), open: [], seen: 0, settled: 0 },
    ...{ used: 0, expected: 0, replies: 0, since: new Map() },
  }),
  (state, event) => {
    const answered = state.take(event);
    if (answered) state.replies = answered.step;
    if (answered || event.type === "tool_result") state.since.set(event.seq, state.replies);
    if (!answered) return state;
    const { step, things, used } = answered;
    for (const thing of used) {
      if (step - thing.step >= leastAge) state.used += 1;
      state.since.set(thing.seq, step);
    }
    state.open.push(...things.slice(state.seen));
    state.seen = things.length;
    state.expected += state.settled;
    state.open = state.open.filter((thing) => step - thing.step < leastAge || isOpen(thing, step, state));
    return state;
  },
);

/** Adds the chance of a thing; returns false once it is so old that its chance is taken to stay as it is. */
function isOpen(thing: Held, step: number, state: State): boolean {
  const known = state.chances.get(thing) ?? chancesOf({ ...thing, lift: "none" });
  state.chances.set(thing, known);
  const ageClass = classOf(ageClasses, step - thing.since);
  const next = known.next[ageClass] ?? 0;
  state.expected += next;
  if (ageClass < ageClasses.length) return true;
  state.settled += next;
  state.chances.delete(thing);
  return false;
}
