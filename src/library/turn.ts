/** A running turn of a program: a promise of its result, and what happens in it. */

import type { Happening } from "../core/ports.ts";
import type { Turn, TurnResult } from "./surface.ts";

type Follow = (listener: (happening: Happening) => void) => () => void;

/** Makes a turn of its result. What happens is kept only for those who iterate, until they take it. */
export function turnOf(result: Promise<TurnResult>, follow: Follow): Turn {
  return Object.assign(result, { [Symbol.asyncIterator]: () => happenings(result, follow) });
}

/** Yields what happens from now on to the end of the turn. Throws what the turn is rejected with. */
function happenings(result: Promise<TurnResult>, follow: Follow): AsyncIterator<Happening> {
  const waiting: Happening[] = [];
  let wake = Promise.withResolvers<void>();
  let over = false;
  const stop = follow((happening) => {
    waiting.push(happening);
    wake.resolve();
  });
  const end = () => {
    over = true;
    stop();
    wake.resolve();
  };
  result.then(end, end);
  return {
    async next() {
      for (;;) {
        const value = waiting.shift();
        if (value) return { value, done: false };
        if (over) {
          await result;
          return { value: undefined, done: true };
        }
        await wake.promise;
        wake = Promise.withResolvers<void>();
      }
    },
    async return() {
      waiting.length = 0;
      end();
      return { value: undefined, done: true };
    },
  };
}
