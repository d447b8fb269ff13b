/** Growth of a cost with the size of its input, for tests that must not depend on how fast or busy a machine is. */

/**
 * How many times the CPU time of `work(size)` that of `work(4 * size)` is: about 4 when the cost is linear, 16 when it
 * is quadratic. The least of three tries each, of this thread alone, so that a busy machine changes little.
 */
export function growthOver4(work: (size: number) => unknown, size: number): number {
  work(size);
  const cost = (at: number) => Math.min(...[1, 2, 3].map(() => cpuTimeOf(() => work(at))));
  // Less than a millisecond is noise. Garbage collection can spoil one comparison, hardly all of them.
  const ratios = [1, 2, 3].map(() => cost(4 * size) / Math.max(cost(size), 1000));
  return Math.min(...ratios);
}

/** In microseconds. */
function cpuTimeOf(work: () => unknown): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}
