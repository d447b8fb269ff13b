/** How much memory V8 sets aside for new objects. */

import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Bytes of the young generation at which it grows no more. V8 would go to 32 MB, and keep them. */
const largest = 4 * 1024 * 1024;

/**
 * Lets the young generation grow until it holds what a step makes, and then no further: three quarters of what V8
 * takes by itself is memory that a process at rest never gives back. A limit can be set by a flag of Node only before
 * it starts, so the growth is stopped while we run.
 */
export function limitYoungGeneration(): void {
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    if ((young?.space_size ?? 0) < largest) return;
    setFlagsFromString("--semi-space-growth-factor=1");
    observer.disconnect();
  });
  observer.observe({ entryTypes: ["gc"] });
}
