/** Waiting for a state, never for a time. */

import { setTimeout as sleep } from "node:timers/promises";

/** Polls until `isTrue`. Throws after some minutes: a limit that no busy machine meets, not an expectation of speed. */
export async function until(isTrue: () => boolean, what = "the awaited state"): Promise<void> {
  const deadline = performance.now() + 280_000;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`${what} never came`);
    await sleep(20);
  }
}
