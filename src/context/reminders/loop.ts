/** Detects loops (context-engine §10): the same calls with the same results, over and over. Pure. */

import type { LogEvent } from "../../core/events.ts";
import { touchesOf } from "../../core/tool-calls.ts";
import { signatureOf } from "../view/turns.ts";
import { isFreshStart, isSameOutcome, newestSteps, type Ran, type Step, shortLine } from "./steps.ts";

/** `repeats`: times in a row. `since`: seq of the reply that began it. */
export type Loop = { repeats: number; since: number; what: string };

/** Repeats at which the model is told, and at which its turn ends. */
export const reportAt = 3;
export const stopAt = 5;
/** Most steps of a cycle: A, B, A, B … has two. */
const longestCycle = 4;
const horizon = stopAt * longestCycle;

/** Returns the loop that the newest step is in, from its third repetition. */
export function runningLoop(events: readonly LogEvent[]): Loop | undefined {
  const steps = newestSteps(events, horizon, isFreshStart);
  return cycle(steps) ?? failingEdit(steps) ?? sameWords(events);
}

function cycle(steps: readonly Step[]): Loop | undefined {
  for (let length = 1; length <= longestCycle; length++) {
    let same = 0;
    while (isSameStep(steps[same], steps[same + length])) same++;
    const repeats = 1 + Math.floor(same / length);
    if (repeats < reportAt) continue;
    const calls = steps.slice(0, length).flatMap((step) => step.ran.map(({ call }) => shortLine(call)));
    return { repeats, since: sinceOf(steps, same + length), what: calls.reverse().join(", then ") };
  }
  return undefined;
}

/** Results count as well: a poll that sees something new is no loop. */
function isSameStep(step: Step | undefined, other: Step | undefined): boolean {
  if (!step || !other || step.ran.length === 0 || step.ran.length !== other.ran.length) return false;
  return step.ran.every((ran, index) => isSameRun(ran, other.ran[index]));
}

function isSameRun(call: Ran, other: Ran | undefined): boolean {
  if (!other || call.call.name !== other.call.name || !isSameOutcome(call.result, other.result)) return false;
  return signatureOf(call.call) === signatureOf(other.call);
}

/** Finds an edit that keeps failing, whatever was read in between. */
function failingEdit(steps: readonly Step[]): Loop | undefined {
  const newest = steps[0]?.ran.find(
    ({ call, result }) => result.isError && touchesOf(call, result.call).paths.length > 0,
  );
  if (!newest) return undefined;
  const same = steps.filter((step) => step.ran.some((ran) => isSameRun(newest, ran)));
  if (same.length < reportAt) return undefined;
  return { repeats: same.length, since: sinceOf(same, same.length), what: shortLine(newest.call) };
}

/** Finds a reply without calls that repeats, even between new user messages. */
function sameWords(events: readonly LogEvent[]): Loop | undefined {
  const steps = newestSteps(events, stopAt, (event) => event.type === "turn_ended");
  const words = steps[0] && wordsOf(steps[0]);
  if (!words) return undefined;
  const other = steps.findIndex((step) => wordsOf(step) !== words);
  const repeats = other < 0 ? steps.length : other;
  return repeats < reportAt ? undefined : { repeats, since: sinceOf(steps, repeats), what: "the same reply" };
}

/** Returns the text of a reply; "" for one with calls or one cut off by its length, which has its own limit. */
function wordsOf({ reply }: Step): string {
  const done = reply.content.some((block) => block.type === "tool_use") || reply.stopReason === "max_tokens";
  return done ? "" : reply.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function sinceOf(steps: readonly Step[], count: number): number {
  return steps[count - 1]?.reply.seq ?? 0;
}
