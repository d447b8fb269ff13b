/** Misses: what a reply quotes although an edit took it and nothing in the window holds it. */

import { expect, test } from "vitest";
import { missReader, rereadUsage } from "../../../src/context/reuse/misses.ts";
import { applyEvents } from "../../../src/context/view/view.ts";
import type { AssistantBlock } from "../../../src/core/blocks.ts";
import type { ContextEdit, EventBody } from "../../../src/core/events.ts";
import { costOf } from "../../../src/core/model-card.ts";
import {
  call,
  memoryLog,
  reply,
  result,
  started,
  testCard,
  text,
  thinking,
  user,
  withPurposes,
} from "../../support/logs.ts";

const line = "const answer = computeTheAnswer(42);";
const other = "export function somethingElse(): void {";

const read: EventBody[] = [
  reply(call("a", "bash", { command: "cat a.ts" })),
  result("a", `     1\t${line}\n     2\t${other}`),
];

function edited(...edits: ContextEdit[]): EventBody {
  return { type: "context_edited", policy: "masking", reason: "test", edits, economics: {} };
}

/** The misses of each reply of this log, by the seq of what it missed. */
function missesOf(bodies: readonly EventBody[], whole: Record<number, string> = {}) {
  const events = memoryLog(withPurposes([started(), user("go"), ...bodies])).events();
  const reader = missReader();
  const found: { step: number; seq: number; kind: string }[] = [];
  let step = 0;
  for (const event of events) {
    if (event.type === "assistant_message") {
      step += 1;
      const view = applyEvents(events.slice(0, event.seq));
      for (const { seq, kind } of reader.missed(event.content, view)) found.push({ step, seq, kind });
    }
    reader.take(event, whole[event.seq]);
  }
  return { found, carried: reader.carried() };
}

/** The result of `read` is event 3. */
const masked = (words = "[2 lines omitted]") => edited({ type: "replace", seq: 3, block: 0, text: words });
const says = (words: string) => reply(text(words));

test("quoting what an edit took is a miss, once until it is forgotten again", () => {
  const steps = [
    ...read,
    masked(),
    says(line),
    says(other),
    masked("[left out]"),
    says("nothing"),
    says(other),
  ];
  // The first edit behind the miss takes nothing as new as what was read again.
  expect(missesOf(steps).found).toEqual([{ step: 2, seq: 3, kind: "read" }]);
  const later: EventBody[] = [reply(call("b")), result("b"), says("go on")];
  const taken = edited({ type: "collapse", from: 2, to: 8, text: "[summary]" });
  const again = missesOf([...read, masked(), says(line), ...later, taken, says(other)]);
  expect(again.found.map(({ step, seq }) => [step, seq])).toEqual([
    [2, 3],
    [5, 3],
  ]);
});

test.each<[string, EventBody[]]>([
  ["it was never taken", [...read, says(line)]],
  ["it is read again before", [...read, masked(), reply(call("b")), result("b", line), says(line)]],
  ["the placeholder quotes it", [...read, masked(`[2 lines omitted: "${line}"]`), says(line)]],
  [
    "a summary holds it",
    [...read, edited({ type: "collapse", from: 2, to: 3, text: `Learned: ${line}` }), says(line)],
  ],
  ["the model said it in a sentence", [...read, says(`I saw \`${line}\` there.`), masked(), says(line)]],
  ["the model thought it", [...read, reply(thinking(line), text("so")), masked(), says(line)]],
  ["the person said it", [...read, user(line), masked(), says(line)]],
  ["another observation holds it", [...read, reply(call("b")), result("b", line), masked(), says(line)]],
  [
    "nothing that was observed is quoted",
    [...read, masked(), says("something that is only the model's own words")],
  ],
])("there is no miss where %s", (_, steps) => {
  expect(missesOf(steps).found).toEqual([]);
});

test("the model's own words hold nothing once they are folded away", () => {
  const fold = edited({ type: "collapse", from: 2, to: 4, text: "[a fold]" });
  expect(missesOf([...read, says(line), fold, says(line)]).found).toEqual([
    { step: 3, seq: 3, kind: "read" },
  ]);
});

test("what was cut before it was first sent is missed too", () => {
  const whole = { 3: `${line}\n${other}\n${"more of it\n".repeat(9)}` };
  const cut = [read[0] as EventBody, result("a", `${line}\n[the rest is left out]`), says(line), says(other)];
  expect(missesOf(cut, whole).found).toEqual([{ step: 3, seq: 3, kind: "read" }]);
});

test("what counts as read again is carried until an edit takes what is as new", () => {
  const { carried } = missesOf([...read, masked(), says(line)]);
  expect(carried).toBeGreaterThan(20);
  const gone = edited({ type: "collapse", from: 2, to: 6, text: "[summary]" });
  expect(missesOf([...read, masked(), says(line), user("next"), gone]).carried).toBe(0);
});

test("reading again costs the context once more, the call, and the result written", () => {
  const { contract, prices } = testCard();
  const usage = rereadUsage({ context: 100_000, call: 50, result: 2_000 }, contract);
  // Dollars for a million tokens: 0.2 read, 2.5 written, 10 output.
  expect(costOf(usage, prices)).toBeCloseTo((100_000 * 0.2 + 2_050 * 2.5 + 50 * 10) / 1e6, 12);
  const uncached = rereadUsage({ context: 100, call: 50, result: 10 }, contract);
  expect(uncached).toMatchObject({ inputTokens: 160, cacheReadTokens: 0 });
});

test("a reply of several blocks misses each thing once", () => {
  const blocks: AssistantBlock[] = [
    text(line),
    thinking(other),
    call("c", "bash", { command: `echo '${line}'\n${line}` }),
  ];
  expect(missesOf([...read, masked(), reply(...blocks)]).found).toHaveLength(1);
});
