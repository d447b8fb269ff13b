/** The time of a call without an answer and without progress. */

export type Patience = {
  /** Aborted by the person, or when the time is over. */
  signal: AbortSignal;
  /** Begins the time anew. */
  renew(): void;
  isOver(): boolean;
  end(): void;
};

/** Starts the time of a call. `pausedBy`: the time stands still while it returns true. */
export function patienceFor(ms: number, signal: AbortSignal, pausedBy: () => boolean): Patience {
  const limit = new AbortController();
  const timer = setTimeout(() => (pausedBy() ? timer.refresh() : limit.abort()), ms);
  return {
    signal: AbortSignal.any([signal, limit.signal]),
    renew: () => void timer.refresh(),
    isOver: () => limit.signal.aborted,
    end: () => clearTimeout(timer),
  };
}
