/** Plays recordings: which things stood before each reply, and which of them the reply used. Pure. */

import { freshReplies, type Thing } from "../../context/value/chance.ts";
import { fileTimes, newestOf } from "../../context/value/files.ts";
import type { Lift } from "../../context/value/table.ts";
import { type Held, thingReader } from "../../context/value/things.ts";
import type { LogEvent } from "../../core/events.ts";

/** One thing before one reply. `age`: replies since it was shown or last used, from 1. */
export type Exposure = { thing: Thing; age: number; used: boolean };

/** Calls `expose` for everything before each reply. Returns the number of things before the last one, and of replies. */
export function exposures(events: readonly LogEvent[], expose: (exposure: Exposure) => void) {
  const take = thingReader();
  const before: LogEvent[] = [];
  let [count, replies] = [0, 0];
  for (const event of events) {
    const answered = take(event);
    for (const held of answered?.things ?? []) {
      const { kind, tokens } = held;
      const thing = { kind, tokens, lift: liftOf(held, answered?.step ?? 0, before) };
      expose({ thing, age: (answered?.step ?? 0) - held.since, used: answered?.used.has(held) ?? false });
    }
    if (answered) [count, replies] = [answered.things.length, answered.step];
    before.push(event);
  }
  return { things: count, replies };
}

/** Tells what speaks for a thing as the reply `next` is made; `before`: the log until then. */
function liftOf({ kind, read, step, failed }: Held, next: number, before: readonly LogEvent[]): Lift {
  if (kind !== "read" || read.length === 0) return failed && kind !== "read" ? "failed" : "none";
  const times = fileTimes(before);
  const [seen, wrote] = [newestOf(times.read, read), newestOf(times.wrote, read)];
  if (next - Math.max(seen, wrote) <= freshReplies) return "fresh";
  return wrote >= step && seen > step ? "renewed" : "none";
}
