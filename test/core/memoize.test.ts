/** Incremental questions must answer what a walk over the whole log answers, however the log came to be. */

import { expect, test } from "vitest";
import { calibration } from "../../src/context/view/tokens.ts";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import { memoizedReduce } from "../../src/core/memoize.ts";
import { lastOf, openFocus, spending } from "../../src/core/questions.ts";
import { knownTasks } from "../../src/core/task-list.ts";
import { call, listed, memoryLog, reply, result, started, testCard, text, user } from "../support/logs.ts";
import { seededRandom } from "../support/random.ts";

/** Events that the questions ask about, in any order: also in orders that no session would have. */
const kinds: ((seq: number) => EventBody[])[] = [
  (seq) => [user(`said ${seq}`)],
  (seq) => [
    { type: "model_request", bodyHash: "", tokensEstimated: 10 * seq, cacheAfter: [], deferredTokens: seq },
    reply(text(`words ${seq}`)),
  ],
  (seq) => [
    reply(call(`f${seq}`, "start_focus", { objective: `find ${seq}` })),
    result(`f${seq}`, "opened", "start_focus", seq % 5 === 0),
  ],
  (seq) => [reply(call(`c${seq}`, "complete_focus", {})), result(`c${seq}`, "closed", "complete_focus")],
  (seq) => [listed(`t${seq}`, { text: `task ${seq}`, status: "open" })],
  (seq) => [{ type: "reminder", channel: "logged", text: "changed", todo: `- [x] task ${seq}` }],
  (seq) => [{ type: "model_changed", model: { ...testCard(), id: `other/${seq}` } }],
  (seq) => [
    { type: "context_edited", policy: "masking", reason: "", edits: [], economics: {} },
    user(`${seq}`),
  ],
];

function randomSession(seed: number): readonly LogEvent[] {
  const random = seededRandom(seed);
  const log = memoryLog([started(), user("go")]);
  while (log.events().length < 60)
    for (const body of kinds[Math.floor(random() * kinds.length)]?.(log.events().length) ?? [])
      log.append(body);
  return log.events();
}

const questions: Record<string, (events: readonly LogEvent[]) => unknown> = {
  spending,
  openFocus,
  calibration,
  knownTasks,
  lastRequest: (events) => lastOf(events, "model_request"),
  lastChange: (events) => lastOf(events, "model_changed"),
};

test("a question asked after each event answers as if it were asked for the first time", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const whole = randomSession(seed);
    const growing: LogEvent[] = [];
    for (const event of whole) {
      growing.push(event);
      for (const [name, ask] of Object.entries(questions))
        expect(ask(growing), `${name}, seed ${seed}, event ${event.seq}`).toEqual(ask([...growing]));
    }
  }
});

test("an event is read once, and an array that was cut and filled anew is read from its start", () => {
  let reads = 0;
  const seqs = memoizedReduce<number[]>(
    () => [],
    (all, { seq }) => {
      reads += 1;
      return [...all, seq];
    },
  );
  const [first, second, third] = randomSession(1);
  if (!first || !second || !third) throw new Error("the session is too short");
  const events = [first, second];
  expect(seqs(events)).toEqual([first.seq, second.seq]);
  events.push(third);
  expect(seqs(events)).toEqual([first.seq, second.seq, third.seq]);
  expect(reads).toBe(3);
  events.length = 1;
  events.push(third);
  expect(seqs(events)).toEqual([first.seq, third.seq]);
});
