/**
 * Catches the errors that no code caught: thrown on a timer, an emitter or a stream, or a rejection without a handler.
 */

import type { Agent } from "../agent/agent.ts";

/** How long a failed call may take to end by its signal, so that the next one does not meet it in the shell. */
const graceMs = 2000;

/** `guard`: as in `Agent`. `close` ends the watch. */
export type UncaughtWatch = { guard: Agent["guard"]; close(): void };

/**
 * `guard`: as in `Agent`. Nothing says which call an error belongs to: it fails all that run. When none runs it is a
 * bug outside of the tools, and `die` is called. `close` ends the watch.
 */
export function watchUncaught(die: (error: unknown) => void): UncaughtWatch {
  const running = new Set<AbortController>();
  const onError = (error: unknown) => {
    if (running.size === 0) die(error);
    for (const call of running) call.abort(error);
  };
  // Node raises a rejection that nothing handles as an uncaught exception.
  process.on("uncaughtException", onError);
  return {
    async guard(signal, call) {
      const failed = new AbortController();
      const late = Promise.withResolvers<never>();
      failed.signal.addEventListener("abort", () => setTimeout(late.reject, graceMs).unref());
      running.add(failed);
      try {
        const output = await Promise.race([call(AbortSignal.any([signal, failed.signal])), late.promise]);
        failed.signal.throwIfAborted();
        return output;
      } catch (error) {
        throw failed.signal.aborted ? failed.signal.reason : error;
      } finally {
        running.delete(failed);
      }
    },
    close: () => process.off("uncaughtException", onError),
  };
}
