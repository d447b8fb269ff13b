/** The rules that hold one request against the one before it, on random sessions under random edits; each can fail. */

import { describe, expect, test } from "vitest";
import { type Composed, composeRequest } from "../../../src/context/request/compose.ts";
import type { Violation } from "../../../src/context/rules/request.ts";
import { checkRequest, type PreviousRequest } from "../../../src/context/rules/sequence.ts";
import { viewReader } from "../../../src/context/view/view.ts";
import type { AssistantBlock, Message } from "../../../src/core/blocks.ts";
import type { ContextEdit, EventBody, LogEvent } from "../../../src/core/events.ts";
import type { CachePoint } from "../../../src/core/request.ts";
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
} from "../../support/logs.ts";
import { seededRandom } from "../../support/random.ts";

const histories = ["free", "prefix_bound"] as const;
const steps = 24;

/** Plays a session, edits between some steps, and holds every request to the rules; `spoil` may change what is sent. */
function play(
  seed: number,
  history: (typeof histories)[number],
  spoil: (composed: Composed, at: { step: number; edited: boolean }) => Composed = (composed) => composed,
): Violation[] {
  const random = seededRandom(seed);
  const log = memoryLog([started(testCard(history)), user("go")]);
  const broken: Violation[] = [];
  const reader = viewReader();
  let held: PreviousRequest | undefined;
  for (let step = 0; step < steps; step++) {
    const edit = random() < 0.3 ? randomEdit(random, log.events()) : undefined;
    if (edit) log.append(edited(edit));
    if (random() < 0.2) log.append(reminder(random() < 0.5));
    const view = reader.read(log.events());
    const composed = spoil(composeRequest(log.events(), view), { step, edited: edit !== undefined });
    const rules = checkRequest(composed, { events: log.events(), view }, held);
    // What is in the cache after failed requests cannot be known, so there a breakpoint may miss it.
    const counted = rules.broken.filter(({ kind }) => seed % 2 === 0 || kind !== "lookback");
    broken.push(...counted);
    log.append({
      type: "model_request",
      bodyHash: "",
      tokensEstimated: composed.estimated,
      cacheAfter: composed.request.cacheAfter,
    });
    // In every second session requests may fail: then nothing is written, and the next is held against the one before.
    // In the others some replies are longer than the cache looks back.
    if (random() > (seed % 2 ? 0.1 : 0)) {
      held = rules.current;
      const long = seed % 2 === 0 && random() < 0.1;
      for (const body of randomReply(random, log.events().length, long)) log.append(body);
    }
    if (random() < 0.2) log.append(withBlank(`and ${step}`));
    else if (log.events().at(-1)?.type === "assistant_message") log.append(user("go on"));
  }
  return broken;
}

function randomReply(random: () => number, seq: number, long: boolean): EventBody[] {
  const ids = Array.from({ length: Math.floor(random() * 4) }, (_, index) => `c${seq}-${index}`);
  const words: AssistantBlock[] = Array.from({ length: long ? 30 : 1 }, (_, at) => text(`w${at}`));
  const thought = random() < 0.7 ? [thinking(`thought ${seq};`)] : [];
  return [reply(...thought, ...words, ...ids.map((id) => call(id))), ...ids.map((id) => result(id))];
}

/** Beside the words a block of blanks, as a paste may leave it. */
function withBlank(words: string): EventBody {
  return {
    type: "user_message",
    content: [
      { type: "text", text: words },
      { type: "text", text: " \n" },
    ],
  };
}

function reminder(scoped: boolean): EventBody {
  return { type: "reminder", channel: scoped ? "turn_scoped" : "logged", text: "remember" };
}

function edited(edit: ContextEdit): EventBody {
  return { type: "context_edited", policy: "random", reason: "", edits: [edit], economics: {} };
}

/** A legal one: of results before the newest step, or of whole steps there. */
function randomEdit(random: () => number, events: readonly LogEvent[]): ContextEdit | undefined {
  const newest = events.findLast(({ type }) => type === "assistant_message")?.seq ?? 0;
  const results = events.filter(({ seq, type }) => type === "tool_result" && seq < newest);
  const target = results[Math.floor(random() * results.length)];
  if (!target) return undefined;
  if (random() < 0.2) return { type: "collapse", from: 2, to: target.seq, text: `folded ${target.seq}` };
  return { type: "replace", seq: target.seq, block: 0, text: `replaced ${target.seq}` };
}

const seeds = Array.from({ length: 60 }, (_, index) => index + 1);
const all = () => histories.flatMap((history) => seeds.flatMap((seed) => play(seed, history)));
const rulesIn = (broken: readonly Violation[]) => new Set(broken.map(({ rule }) => `rule ${rule}`));

test("120 random sessions of 24 requests, half of them bound, break no rule", () => {
  expect(all()).toEqual([]);
});

/** The same request with other messages. */
function withMessages(composed: Composed, change: (messages: Message[]) => Message[]): Composed {
  const messages = change(structuredClone(composed.request.messages));
  return { ...composed, request: { ...composed.request, messages } };
}

describe("what is spoiled is found", () => {
  const late = 12;
  const spoils: [what: string, rule: string, spoil: Parameters<typeof play>[2]][] = [
    [
      "a result goes missing",
      "rule 1",
      (composed) =>
        withMessages(composed, (messages) =>
          messages.map((message) => ({
            ...message,
            content: message.content.filter(
              (block) => block.type !== "tool_result" || !block.tool_use_id.endsWith("-1"),
            ),
          })),
        ),
    ],
    [
      "a text is empty",
      "rule 2",
      (composed) =>
        withMessages(composed, (all) => [...all, { role: "user", content: [{ type: "text", text: " " }] }]),
    ],
    [
      "a system message stands before the person's",
      "rule 2",
      (composed) =>
        withMessages(composed, ([first, ...rest]) => [first as Message, system(), user2(), ...rest]),
    ],
    ["it is larger than the window", "rule 4", (composed) => ({ ...composed, expected: 200_001 })],
    [
      "the first message is worded anew late in the session",
      "rule 7",
      (composed, { step }) =>
        step < late
          ? composed
          : withMessages(composed, ([first, ...rest]) => [
              { ...(first as Message), content: [{ type: "text", text: `at ${step}` }] },
              ...rest,
            ]),
    ],
    [
      "the tools change",
      "rule 7",
      (composed, { step }) => ({
        ...composed,
        request: { ...composed.request, tools: [], system: `s${step}` },
      }),
    ],
    ["there are five breakpoints", "rule 8", withPoints((points) => [...points, ...points])],
    ["breakpoints are out of order", "rule 8", withPoints((points) => points.toReversed())],
    [
      "a long life follows a short one",
      "rule 8",
      withPoints((points) =>
        points.map((point, at) => ({ ...point, ttl: at === points.length - 1 ? "1h" : "5m" })),
      ),
    ],
    ["only the newest block has a breakpoint", "rule 8", withPoints((points) => points.slice(-1))],
  ];

  test.each(spoils)("when %s: %s", (_what, rule, spoil) => {
    const found = seeds.some((seed) =>
      histories.some((history) => rulesIn(play(seed, history, spoil)).has(rule)),
    );
    expect(found).toBe(true);
  });

  function withPoints(change: (points: CachePoint[]) => CachePoint[]): Parameters<typeof play>[2] {
    return (composed) => ({
      ...composed,
      request: { ...composed.request, cacheAfter: change(composed.request.cacheAfter) },
    });
  }
  function system(): Message {
    return { role: "system", content: [{ type: "text", text: "hm" }] };
  }
  function user2(): Message {
    return { role: "user", content: [{ type: "text", text: "so" }] };
  }
});
