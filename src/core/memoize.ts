/** Answers that are remembered: of a growing log only what is new is read. Pure to whoever asks. */

import type { LogEvent } from "./events.ts";

/**
 * The question whose answer is `add` over all events, beginning with `start`. A log only grows at its end, so what
 * was read of the same array is not read again. `add` may change its state in place only when no answer shows it.
 */
export function memoizedReduce<S>(
  start: () => S,
  add: (state: S, event: LogEvent) => S,
): (events: readonly LogEvent[]) => S {
  const known = new WeakMap<readonly LogEvent[], { state: S; read: number; newest: LogEvent | undefined }>();
  return (events) => {
    let reading = known.get(events);
    // An array that was cut, or filled anew, is another log.
    if (!reading || reading.read > events.length || events[reading.read - 1] !== reading.newest) {
      reading = { state: start(), read: 0, newest: undefined };
      known.set(events, reading);
    }
    while (reading.read < events.length) {
      reading.newest = events[reading.read++] as LogEvent;
      reading.state = add(reading.state, reading.newest);
    }
    return reading.state;
  };
}

/** The same function, asked once for each object. For objects that do not change: events, blocks. */
export function memoizeBy<K extends object, V>(answer: (key: K) => V): (key: K) => V {
  const known = new WeakMap<K, V>();
  return (key) => {
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const made = answer(key);
    known.set(key, made);
    return made;
  };
}
