/** Retries transient failures of a model: waits, then sends the same bytes again. Wraps any model. */

import type { ModelErrorKind } from "../../core/events.ts";
import { type Model, ModelError } from "../../core/ports.ts";

export type RetryOptions = {
  /** Resolves after `ms`, or as soon as the signal is aborted; a rejection then is fine too. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
  /** Default 6: the first attempt and five more. */
  maxAttempts?: number;
};

const passing: readonly ModelErrorKind[] = [
  "rate_limit",
  "overloaded",
  "server",
  "network",
  "idle",
  "incomplete",
];
const firstWaitMs = 1000;
const longestBackoffMs = 32_000;
/** Longer waits requested by a server are reported as errors. */
const longestWaitMs = 600_000;

/**
 * The same model, tried again after passing failures; each failed attempt is told to `onPart` as `attempt_failed`.
 * Throws the last attempt's error, any other kind at once, and "aborted" when the signal comes during a wait.
 */
export function withRetry(model: Model, { sleep, random, maxAttempts = 6 }: RetryOptions): Model {
  return {
    ...model,
    async send(request, body, onPart, signal) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await model.send(request, body, onPart, signal);
        } catch (error) {
          if (!(error instanceof ModelError) || !passing.includes(error.kind)) throw error;
          if (attempt >= maxAttempts) throw error;
          const waitMs = error.retryAfterMs || backoff(attempt, random());
          if (waitMs > longestWaitMs) throw tooLong(error, waitMs);
          onPart({ type: "attempt_failed", kind: error.kind, message: error.message, attempt, waitMs });
          await waitFor(sleep(waitMs, signal), signal);
        }
      }
    },
  };
}

/** Doubles with each attempt; the jitter keeps many agents from coming back at the same moment. */
function backoff(attempt: number, luck: number): number {
  return Math.round(Math.min(longestBackoffMs, firstWaitMs * 2 ** (attempt - 1)) * (0.5 + luck / 2));
}

async function waitFor(wait: Promise<void>, signal: AbortSignal): Promise<void> {
  try {
    await wait;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  if (signal.aborted) throw new ModelError("aborted", "interrupted");
}

function tooLong({ kind, message, status, retryAfterMs }: ModelError, waitMs: number): ModelError {
  const minutes = Math.ceil(waitMs / 60_000);
  return new ModelError(kind, `${message} (the server asks to wait ${minutes} minutes)`, {
    ...(status === undefined ? {} : { status }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}
