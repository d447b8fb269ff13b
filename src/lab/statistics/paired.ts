/** Exact statistics of paired yes-or-no outcomes: McNemar's test, the sign test, an interval for the difference. Pure. */

/**
 * Two-sided p of McNemar's exact test: of `onlyA + onlyB` pairs that differ, how unlikely a split at least this uneven
 * is if both were as good (McNemar 1947, in the exact form of the binomial test at 1/2). 1 where no pair differs. For
 * tasks that one side solves more often than the other it is the sign test.
 */
export function exactMcNemar(onlyA: number, onlyB: number): number {
  const differ = onlyA + onlyB;
  return Math.min(1, 2 * halfUpTo(Math.min(onlyA, onlyB), differ));
}

/** An interval of a difference of shares, -1 to 1. */
export type Interval = { low: number; high: number };

/** The normal distribution has 95 % within so many standard deviations. */
const z95 = 1.959963984540054;

/**
 * The interval of 95 % of the difference in success between b and a: Tango's score interval (Statistics in Medicine
 * 17:891, 1998), which also says how wide it is where few pairs differ, or none. -1 to 1 without any pair.
 */
export function differenceInterval(counts: PairCounts): Interval {
  if (counts.pairs === 0) return { low: -1, high: 1 };
  return {
    low: differenceWhere((difference) => scoreOf(counts, difference) > z95),
    high: differenceWhere((difference) => scoreOf(counts, difference) > -z95),
  };
}

/** `pairs`: all, those that do not differ among them. */
export type PairCounts = { onlyA: number; onlyB: number; pairs: number };

/** Standard deviations between what was found and what this difference makes likely; falls as the difference rises. */
function scoreOf({ onlyA, onlyB, pairs }: PairCounts, difference: number): number {
  const spread = difference * (1 - difference);
  // The likeliest chance that a alone solves a task, if the difference were this: the root of a quadratic.
  const linear = -onlyB - onlyA + (2 * pairs - onlyB + onlyA) * difference;
  const root = Math.sqrt(linear * linear + 8 * pairs * onlyA * spread);
  const variance = pairs * ((root - linear) / (2 * pairs) + spread);
  const distance = onlyB - onlyA - pairs * difference;
  return distance === 0 ? 0 : distance / Math.sqrt(Math.max(Number.MIN_VALUE, variance));
}

const halvings = 60;

/** The largest difference up to which `holds` is true, by halving. */
function differenceWhere(holds: (difference: number) => boolean): number {
  let [low, high] = [-1, 1];
  for (let turn = 0; turn < halvings; turn++) {
    const middle = (low + high) / 2;
    if (holds(middle)) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** The chance of at most `most` heads in so many tosses. Summed by logarithms, so that nothing overflows. */
function halfUpTo(most: number, tosses: number): number {
  let log = -tosses * Math.LN2;
  let sum = Math.exp(log);
  for (let heads = 1; heads <= most; heads++) {
    log += Math.log((tosses - heads + 1) / heads);
    sum += Math.exp(log);
  }
  return sum;
}
