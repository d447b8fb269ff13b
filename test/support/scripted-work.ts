/**
 * A long scripted session without a fold: of ten steps four search, four read a file, one reads a log and one makes a
 * small edit. The model quotes as often and as late as the models of recordings do.
 */

import type { LogEvent } from "../../src/core/events.ts";
import { costOf, type Prices } from "../../src/core/model-card.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { commandPurpose } from "../../src/permissions/bash/purpose.ts";
import { fakeTool } from "./agents.ts";

type Kind = "search" | "read" | "log" | "edit";

const rhythm: readonly Kind[] = [
  "search",
  "read",
  "search",
  "read",
  "log",
  "search",
  "read",
  "search",
  "read",
  "edit",
];

/** Lines that each kind prints: such that the stack `turns` is billed at 1.93 million tokens at (.1, 1.25). */
const printed: Readonly<Record<Kind, number>> = { search: 40, read: 170, log: 700, edit: 0 };

/** Characters of a result that the tool passes on: 8,000 tokens. */
const longest = 32_000;

/**
 * Which of twenty things of a kind are quoted, and how many steps later. Of files 45 % (15 % after more than 3 steps, 10 %
 * after more than 10, 5 % after more than 30), of searches 10 % (5, 5 and 0 %): docs/evidence.md has 48 (17, 11, 6) and
 * 11 (5, 3, 1). Nobody quotes a log or an edit.
 */
const quoted: Readonly<Partial<Record<Kind, ReadonlyMap<number, number>>>> = {
  read: new Map([
    [0, 1],
    [2, 2],
    [4, 1],
    [6, 3],
    [8, 1],
    [10, 2],
    [13, 6],
    [15, 20],
    [17, 40],
  ]),
  search: new Map([
    [3, 2],
    [11, 15],
  ]),
};

type Thing = { kind: Kind; number: number };

function thingOf(step: number): Thing {
  const kind = rhythm[step % rhythm.length] as Kind;
  const inRhythm = (end: number) => rhythm.slice(0, end).filter((each) => each === kind).length;
  const number = Math.floor(step / rhythm.length) * inRhythm(rhythm.length) + inRhythm(step % rhythm.length);
  return { kind, number };
}

function commandOf({ kind, number }: Thing): string {
  if (kind === "search") return `grep -rn handler_${number} src`;
  if (kind === "read") return `cat src/module_${number}.ts`;
  if (kind === "log") return `npm test -- --run part_${number}`;
  return `sed -i s/makeHandler/newHandler/ src/module_${4 * number + 3}.ts`;
}

/** One line of what the command of a thing prints; no other has it. */
function lineOf({ kind, number }: Thing, line: number): string {
  if (kind === "search")
    return `src/user_${line}.ts:${line}: import { handler_${number} } from "./module_${number}.ts"; // as number ${line}`;
  if (kind === "read")
    return `export const handler_${number}_${line} = makeHandler(options, context, registry, ${line});`;
  return `ok ${line} part_${number} does what it should`;
}

/** The step with this number, from 0: a thought, quotes of earlier results, and a call of bash. */
export function workStep(step: number): ScriptedReply {
  const thinking = `Step ${step}: the cause may lie in module ${step % 17}. `.repeat(4);
  const quotes = Array.from({ length: step }, (_, index) => thingOf(index)).flatMap((thing, index) =>
    quoted[thing.kind]?.get(thing.number % 20) === step - index ? [lineOf(thing, 7)] : [],
  );
  const text = quotes.length > 0 ? { text: ["It says:", ...quotes].join("\n") } : {};
  return { thinking, ...text, calls: [{ bash: { command: commandOf(thingOf(step)) } }] };
}

/** A bash that prints what the commands of `steps` steps would, and records what they are for as the real one does. */
export function workTool(steps: number) {
  const things = Array.from({ length: steps }, (_, step) => thingOf(step));
  const byCommand = new Map(things.map((thing) => [commandOf(thing), thing]));
  return fakeTool("bash", ({ command }) => {
    const thing = byCommand.get(String(command));
    const lines = thing ? Array.from({ length: printed[thing.kind] }, (_, line) => lineOf(thing, line)) : [];
    const stats = { purpose: commandPurpose(String(command), "/w"), exitCode: 0 };
    return { content: lines.join("\n").slice(0, longest) || "(no output)", stats };
  });
}

/** Returns what the input of a session is billed at, in tokens at the input price: a token that is read from the cache at a tenth of it counts .1. */
export function atInputPrice(events: readonly LogEvent[], prices: Prices): number {
  const dollars = allOf(events, "assistant_message").reduce(
    (sum, { usage }) => sum + costOf({ ...usage, outputTokens: 0 }, prices),
    0,
  );
  return (dollars / prices.input) * 1e6;
}
