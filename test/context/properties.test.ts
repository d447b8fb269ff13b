/** Properties of every log and every stack of edits, tried on random ones. A failure names its seed. */

import { describe, expect, test } from "vitest";
import { composeRequest } from "../../src/context/request/compose.ts";
import { brokenRules } from "../../src/context/rules/request.ts";
import { blocksTokens } from "../../src/context/view/tokens.ts";
import { applyEvents, missingUserMessages, type View, viewReader } from "../../src/context/view/view.ts";
import type { AssistantBlock } from "../../src/core/blocks.ts";
import type { ContextEdit, EventBody, EventOf, LogEvent } from "../../src/core/events.ts";
import { call, memoryLog, reply, result, started, testCard, text, thinking, user } from "../support/logs.ts";
import { seededRandom } from "../support/random.ts";
import { sized } from "../support/size.ts";

type Dice = { upTo(most: number): number; chance(share: number): boolean };

function diceOf(seed: number): Dice {
  const random = seededRandom(seed);
  const upTo = (most: number) => Math.floor(random() * (most + 1));
  return { upTo, chance: (share) => random() < share };
}

/** Odd seeds have a prefix-bound history. */
const historyOf = (seed: number) => (seed % 2 === 1 ? "prefix_bound" : "free");

/** A session of up to 14 steps with edits between them; it ends when the user speaks, so that a request follows. */
function randomLog(seed: number): readonly LogEvent[] {
  const dice = diceOf(seed);
  const log = memoryLog([started(testCard(historyOf(seed))), user("said 1;")]);
  const steps = 3 + dice.upTo(11);
  for (let step = 0; step < steps; step++) {
    const newest = log.events().length;
    for (const body of randomStep(dice, newest)) log.append(body);
    if (dice.chance(0.4)) log.append(randomEdits(dice, log.events(), newest));
    if (dice.chance(0.2)) log.append(user(`said ${log.events().length};`));
  }
  log.append(user(`said ${log.events().length};`));
  return log.events();
}

/** `seq`: that of the reply. Results may be missing (a crash) or in another order than their calls. */
function randomStep(dice: Dice, seq: number): EventBody[] {
  const calls = Array.from({ length: dice.upTo(3) }, (_, index) => `c${seq}-${index}`);
  const content: AssistantBlock[] = [
    ...(dice.chance(0.7) ? [thinking(`thought ${seq};`)] : []),
    ...(dice.chance(0.3) ? [text(dice.chance(0.2) ? " " : `words ${seq}`)] : []),
    ...calls.map((id) => randomCall(dice, id)),
  ];
  const answered = calls.filter(() => dice.chance(0.9));
  const results = answered.map((id) => {
    const made = result(id, dice.chance(0.1) ? "" : `output of ${id} 😀`);
    return /[05]-0$/.test(id) ? { ...result(id, `rule of ${id};`), instructions: [`/w/${id}`] } : made;
  });
  if (dice.chance(0.3)) results.reverse();
  if (dice.chance(0.1)) results.splice(dice.upTo(results.length), 0, user(`said ${seq} amid results;`));
  return [reply(...content), ...results, ...(dice.chance(0.2) ? [randomReminder(dice)] : [])];
}

function randomCall(dice: Dice, id: string): AssistantBlock {
  if (dice.chance(0.5)) return call(id);
  return call(id, "str_replace_editor", { command: "create", path: `/w/${id}`, file_text: "y".repeat(300) });
}

function randomReminder(dice: Dice): EventBody {
  const channels = ["turn_scoped", "tail", "logged"] as const;
  return { type: "reminder", channel: channels[dice.upTo(2)] ?? "tail", text: "remember" };
}

/** One to three edits before the newest step. None of them names a word of the user, though a collapse may span it. */
function randomEdits(dice: Dice, events: readonly LogEvent[], newest: number): EventBody {
  const targets = events.filter(
    ({ seq, type }) => seq < newest && (type === "tool_result" || type === "assistant_message"),
  );
  const edits = Array.from({ length: 1 + dice.upTo(2) }, () => randomEdit(dice, targets, newest));
  const found = edits.filter((edit) => edit !== undefined);
  return { type: "context_edited", policy: "random", reason: "", edits: found, economics: {} };
}

function randomEdit(dice: Dice, targets: readonly LogEvent[], newest: number): ContextEdit | undefined {
  const target = targets[dice.upTo(Math.max(0, targets.length - 1))];
  if (!target) return undefined;
  const { seq } = target;
  const end = seq + dice.upTo(newest - 1 - seq);
  switch (dice.upTo(4)) {
    case 0:
      return { type: "collapse", from: seq, to: end, text: `folded ${seq}` };
    case 1:
      return { type: "drop_thinking", to: end };
    default: {
      if (target.type === "tool_result" && target.instructions) return undefined;
      const last = target.type === "assistant_message" ? target.content.length - 1 : 0;
      return { type: "replace", seq, block: dice.upTo(Math.max(0, last)), text: `replaced ${seq}` };
    }
  }
}

/** Returns true when the call of this result was collapsed and the result was not. */
function isCutOff({ entries }: View, { seq, toolUseId }: EventOf<"tool_result">): boolean {
  const isResult = entries.some((entry) => entry.seq === seq && entry.blocks[0]?.type === "tool_result");
  const isCalled = entries.some(({ blocks }) =>
    blocks.some((block) => block.type === "tool_use" && block.id === toolUseId),
  );
  return isResult && !isCalled;
}

const seeds = Array.from({ length: sized(1000, 10_000) }, (_, index) => index + 1);

/** The seeds for which `holds` is not true. */
function failing(holds: (events: readonly LogEvent[], seed: number) => boolean): number[] {
  return seeds.filter((seed) => !holds(randomLog(seed), seed));
}

function bytesOf(events: readonly LogEvent[], view = applyEvents(events)): string {
  return JSON.stringify(composeRequest(events, view));
}

/** Seqs of the replies whose thinking some edit of the log took. */
function spentThinking(events: readonly LogEvent[], bound: boolean): number[] {
  return events.flatMap((event) => {
    if (event.type !== "context_edited") return [];
    const earlier = events.filter(({ seq, type }) => type === "assistant_message" && seq < event.seq);
    return earlier
      .map(({ seq }) => seq)
      .filter((seq) => event.edits.some((edit) => takesThinking(edit, seq, bound)));
  });
}

/** Checks that the span of a collapse is gone on every history, on a bound one also what follows the place of an edit. */
function takesThinking(edit: ContextEdit, seq: number, bound: boolean): boolean {
  switch (edit.type) {
    case "drop_thinking":
      return seq <= edit.to;
    case "collapse":
      return seq >= edit.from && (bound || seq <= edit.to);
    case "replace":
      return bound && seq > edit.seq;
  }
}

describe(`for ${seeds.length} random logs, half of them with a prefix-bound history`, () => {
  test("there is something to try: edits of every kind, lost results, thinking that stays", () => {
    const logs = seeds.map(randomLog);
    const edits = logs
      .flat()
      .flatMap((event) => (event.type === "context_edited" ? event.edits : []))
      .map(({ type }) => type);
    for (const type of ["replace", "collapse", "drop_thinking"] as const)
      expect(edits.filter((each) => each === type).length).toBeGreaterThan(100);
    const bodies = logs.map((events) => bytesOf(events));
    expect(bodies.filter((body) => body.includes("[interrupted]")).length).toBeGreaterThan(50);
    expect(bodies.filter((body) => body.includes("thought")).length).toBeGreaterThan(100);
    expect(bodies.filter((body) => body.includes("drop_block")).length).toBeGreaterThan(50);
  });

  test("no request breaks a rule", () => {
    expect(
      failing((events) => brokenRules(composeRequest(events, applyEvents(events)).request).length === 0),
    ).toEqual([]);
  });

  test("no message of the user is lost or said twice", () => {
    const said = (events: readonly LogEvent[]) =>
      events.flatMap((event) => (event.type === "user_message" ? event.content : []));
    const holds = (events: readonly LogEvent[]) => {
      const body = bytesOf(events);
      const once = said(events).every((block) => body.split(JSON.stringify(block)).length === 2);
      return once && missingUserMessages(events, applyEvents(events)) === 0;
    };
    expect(failing(holds)).toEqual([]);
  });

  test("every instruction that was read is in the request, and no collapse says it twice", () => {
    let survived = 0;
    const holds = (events: readonly LogEvent[]) => {
      const body = bytesOf(events);
      const view = applyEvents(events);
      return events.every((event) => {
        if (event.type !== "tool_result" || !event.instructions) return true;
        // A random collapse may end between a call and its result; those of policies never do.
        if (isCutOff(view, event)) return true;
        const held = view.entries.filter(({ seq, standing }) => seq === event.seq && standing);
        if (held[0]?.blocks[0]?.type === "text") survived += 1;
        return held.length === 1 && body.split(`${event.content}`).length === 2;
      });
    };
    expect(failing(holds)).toEqual([]);
    expect(survived).toBeGreaterThan(20);
  });

  test("composing changes nothing: twice gives the same bytes, and the log keeps its own", () => {
    const holds = (events: readonly LogEvent[]) => {
      const before = JSON.stringify(events);
      const view = applyEvents(events);
      const once = bytesOf(events, view);
      return once === bytesOf(events, view) && once === bytesOf(events) && before === JSON.stringify(events);
    };
    expect(failing(holds)).toEqual([]);
  });

  test("folding event by event gives what folding at once gives", () => {
    const holds = (events: readonly LogEvent[]) => {
      const reader = viewReader();
      for (let count = 1; count < events.length; count++) reader.read(events.slice(0, count));
      const whole = { ...applyEvents(events), unchanged: 0 };
      return JSON.stringify({ ...reader.read(events), unchanged: 0 }) === JSON.stringify(whole);
    };
    expect(failing(holds)).toEqual([]);
  });

  test("a view stays as it is when the log goes on", () => {
    const holds = (events: readonly LogEvent[]) => {
      const growing = events.slice(0, events.length >> 1);
      const view = applyEvents(growing);
      const before = JSON.stringify(view);
      growing.push(...events.slice(growing.length));
      applyEvents(growing);
      return JSON.stringify(view) === before;
    };
    expect(failing(holds)).toEqual([]);
  });

  test("the view's tokens are the sum of what its blocks come to", () => {
    const holds = (events: readonly LogEvent[]) => {
      const { entries, tokens } = applyEvents(events);
      const exact = entries.every((entry) => entry.tokens === blocksTokens(entry.blocks));
      return exact && tokens === entries.reduce((sum, entry) => sum + entry.tokens, 0);
    };
    expect(failing(holds)).toEqual([]);
  });

  test("thinking that an edit took, or on a bound history came after one, is gone for good", () => {
    const holds = (events: readonly LogEvent[], seed: number) => {
      const body = bytesOf(events);
      return spentThinking(events, historyOf(seed) === "prefix_bound").every(
        (seq) => !body.includes(`thought ${seq};`),
      );
    };
    expect(failing(holds)).toEqual([]);
  });
});
