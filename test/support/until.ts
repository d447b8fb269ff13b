/** Waiting for a state, never for a time. */

import { setTimeout as sleep } from "node:timers/promises";

/**
 * Milliseconds after which what is awaited never comes: a limit that a busy machine keeps, not an expectation of speed.
 * A test that waits for more has a limit of its own.
 */
export const patienceMs = 60_000;

/** Polls until `isTrue`. Throws when it is not in time. Never asks without a pause: that takes the processor from what is awaited. */
export async function until(
  isTrue: () => boolean | Promise<boolean>,
  what = "the awaited state",
  withinMs = patienceMs,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`${what} never came`);
    await sleep(20);
  }
}

/**
 * Runs with a time limit that passes on purpose, and again with a longer one while a busy machine left no time for what
 * has to come before it; gives the last result and its limit.
 */
export async function withLimit<T>(
  run: (seconds: number) => Promise<T>,
  hasBegun: (result: T) => boolean,
): Promise<{ result: T; seconds: number }> {
  for (let seconds = 0.3; ; seconds *= 10) {
    const result = await run(seconds);
    if (hasBegun(result) || seconds >= 30) return { result, seconds };
  }
}
