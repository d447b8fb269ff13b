/** Counts what a piece of work does, so that a test of growth needs no clock. */

import { Session } from "node:inspector";
import { join } from "node:path";

const source = join(import.meta.dirname, "../../src/");

/**
 * Starts counting. `count` gives how often the blocks of code under src/ ran while `work` did: the same number on
 * every machine. `taken`: since the last count. `only`: the folder of src/ that is counted.
 */
export function startCounting(): {
  count(work: () => void): number;
  taken(only?: string): number;
  stop(): void;
} {
  const session = new Session();
  session.connect();
  session.post("Profiler.enable");
  session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  // Taking the counts sets them back.
  const taken = (only = ""): number => {
    let count = 0;
    session.post("Profiler.takePreciseCoverage", (error, { result }) => {
      if (error) throw error;
      const ours = result.filter(({ url }) => url.includes(source + only));
      const blocks = ours.flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges));
      count = blocks.reduce((sum, block) => sum + block.count, 0);
    });
    return count;
  };
  return {
    count(work) {
      taken();
      work();
      return taken();
    },
    taken,
    stop() {
      session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
    },
  };
}

/** The same log, and how many of its events were read: by copies of it, too. */
export function countedLog<T>(events: readonly T[]): { events: readonly T[]; reads(): number } {
  let reads = 0;
  const counted = new Proxy(events, {
    get(target, name, receiver) {
      if (typeof name === "string" && /^\d/.test(name)) reads += 1;
      return Reflect.get(target, name, receiver);
    },
  });
  return { events: counted, reads: () => reads };
}
