/** Growth of a cost with the size of its input, for tests that must not depend on how fast or busy a machine is. */

/**
 * How many times the CPU time of `work(size)` that of `work(4 * size)` is: about 4 when the cost is linear, 16 when it
 * is quadratic. Of this thread alone, so that a busy machine changes little; and the least of twelve comparisons, as
 * garbage collection and compilation can spoil some of them. Those after the first below `limit` are not made.
 */
export function growthOver4(work: (size: number) => unknown, size: number, limit: number): number {
  work(size);
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 12 && least >= limit; round++) {
    // Less than a millisecond is noise.
    least = Math.min(least, cost(work, 4 * size) / Math.max(cost(work, size), 1000));
  }
  return least;
}

function cost(work: (size: number) => unknown, size: number): number {
  return Math.min(...[1, 2, 3].map(() => cpuTimeOf(() => work(size))));
}

/** In microseconds. */
function cpuTimeOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
