/** Limits the memory that V8 sets aside for new objects. */

import { PerformanceObserver } from "node:perf_hooks";
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

/** Bytes at which the young generation stops growing. V8 would go to 32 MB, and keep them. */
const largest = 4 * 1024 * 1024;

/**
 * Lets the young generation grow until it holds the objects of a step, and no further: otherwise three quarters of V8's
 * memory are never given back by a process without work. A flag of Node can set a limit only before it starts, so the
 * growth is stopped at run time.
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
