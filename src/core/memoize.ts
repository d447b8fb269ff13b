/** Memoized reducers over the append-only log: each call reads only the events added since the last. */

import type { LogEvent } from "./events.ts";

/**
 * Returns a function that reduces a log with `add`, from `start`. A log only grows at its end, so events already
 * read from the same array are not read again. `add` may change its state in place only if callers cannot see that.
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

/** Returns the function with its results cached by object. For immutable objects: events, blocks. */
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
