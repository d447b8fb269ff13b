/** The simulated bill: what is read, what is written, when a prefix is warm. */

import { describe, expect, test } from "vitest";
import {
  type Breakpoint,
  billRequest,
  type CacheState,
  emptyCache,
  layoutOf,
  type Prompt,
  type PromptMessage,
  promptTokens,
} from "../../src/core/prompt-cache.ts";

const text = (letters: string, bytes = 400) => ({
  type: "text",
  text: letters.repeat(bytes / letters.length),
});
const user = (...letters: string[]): PromptMessage => ({
  role: "user",
  content: letters.map((one) => text(one)),
});
const prompt = (messages: PromptMessage[], changes: Partial<Prompt> = {}): Prompt => ({
  model: "m",
  tools: [{ name: "bash" }, { name: "edit" }],
  system: [text("s")],
  messages,
  ...changes,
});

/** Bills a prompt with breakpoints after the system and after the first block of these messages. */
function bill(
  given: Prompt,
  after: (number | "system")[],
  cache: CacheState = emptyCache,
  now = 0,
  ttls: Breakpoint["ttl"][] = [],
) {
  const { blocks, systemEnd, messageStarts } = layoutOf(given);
  const breakpoints = after.map((workspace, index) => ({
    block: workspace === "system" ? systemEnd : (messageStarts[workspace] ?? -1),
    ttl: ttls[index] ?? "5m",
  }));
  return { ...billRequest({ blocks, breakpoints, minTokens: 50, now }, cache), blocks };
}

/** Reads, 5-minute writes, 1-hour writes, plain input. */
function counts({ usage }: ReturnType<typeof bill>): number[] {
  return [usage.cacheReadTokens, usage.cacheWrite5mTokens, usage.cacheWrite1hTokens, usage.inputTokens];
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0);
const [a, b, c] = [user("a"), user("b"), user("c")];

describe("breakpoints", () => {
  test("without any, everything is input", () => {
    const billed = bill(prompt([a]), []);
    expect(counts(billed)).toEqual([0, 0, 0, promptTokens(billed.blocks)]);
    expect(billed.cache.size).toBe(0);
  });

  test("what is up to the last one is written, the rest is input", () => {
    const billed = bill(prompt([a, b]), ["system", 0]);
    const rest = promptTokens(billed.blocks) - promptTokens(billed.blocks.slice(0, -1));
    expect(counts(billed)).toEqual([0, promptTokens(billed.blocks) - rest, 0, rest]);
    expect(billed.cache.size).toBe(2);
  });

  test("the longest prefix written before is read, and only the rest written", () => {
    const first = bill(prompt([a]), ["system", 0]);
    const second = bill(prompt([a, b]), ["system", 1], first.cache, 1);
    const written = promptTokens(second.blocks) - promptTokens(first.blocks);
    expect(counts(second)).toEqual([promptTokens(first.blocks), written, 0, 0]);
  });

  test("a prefix is found only where one ended: a longer one that is gone leaves its stem unread", () => {
    const first = bill(prompt([a, b]), [1]);
    expect(counts(bill(prompt([a, c]), [1], first.cache))[0]).toBe(0);
    const marked = bill(prompt([a, b]), [0, 1]);
    expect(counts(bill(prompt([a, c]), [1], marked.cache))[0]).toBe(
      promptTokens(layoutOf(prompt([a])).blocks),
    );
  });

  test("each part is written at the life of the breakpoint that ends it", () => {
    const billed = bill(prompt([a, b]), ["system", 1], emptyCache, 0, ["1h", "5m"]);
    const stem = promptTokens(billed.blocks.slice(0, 3));
    expect(counts(billed)).toEqual([0, promptTokens(billed.blocks) - stem, stem, 0]);
  });

  test("a prefix below the minimum is not cached", () => {
    const small = prompt([{ role: "user", content: [text("a", 40)] }], { system: [text("s", 40)] });
    const billed = bill(small, ["system", 0]);
    expect(counts(billed)).toEqual([0, 0, 0, promptTokens(billed.blocks)]);
  });
});

describe("the look-back", () => {
  const long = (count: number) =>
    prompt([a, { role: "user", content: Array.from({ length: count }, () => text("x")) }]);
  const readAfter = (given: Prompt, block: number) => {
    const { blocks } = layoutOf(given);
    const { cache } = bill(prompt([a]), [0]);
    const request = { blocks, breakpoints: [{ block, ttl: "5m" as const }], minTokens: 50, now: 1 };
    return billRequest(request, cache).usage.cacheReadTokens;
  };

  test("goes 20 positions and no further", () => {
    expect(readAfter(long(20), 3 + 20)).toBeGreaterThan(0);
    expect(readAfter(long(21), 3 + 21)).toBe(0);
  });

  test("counts a run of calls as one position, and a run of results", () => {
    const runs = (type: string) => ({ role: "user", content: Array.from({ length: 30 }, () => ({ type })) });
    const given = prompt([a, runs("tool_use"), runs("tool_result")]);
    expect(readAfter(given, 3 + 60)).toBeGreaterThan(0);
    expect(readAfter(prompt([a, runs("text")]), 3 + 30)).toBe(0);
  });
});

describe("the life of an entry", () => {
  const minute = 60_000;
  const readAt = (
    now: number,
    ttl: Breakpoint["ttl"] = "5m",
    cache = bill(prompt([a]), [0], emptyCache, 0, [ttl]).cache,
  ) => counts(bill(prompt([a]), [0], cache, now))[0];

  test("is five minutes or an hour from the start of the request", () => {
    expect([readAt(5 * minute - 1), readAt(5 * minute)]).toEqual([expect.any(Number), 0]);
    expect(readAt(5 * minute - 1)).toBeGreaterThan(0);
    expect(readAt(60 * minute - 1, "1h")).toBeGreaterThan(0);
    expect(readAt(60 * minute, "1h")).toBe(0);
  });

  test("begins anew with each read", () => {
    const written = bill(prompt([a]), [0]);
    const read = bill(prompt([a]), [0], written.cache, 4 * minute);
    expect(readAt(8 * minute, "5m", read.cache)).toBeGreaterThan(0);
    expect(readAt(8 * minute, "5m", written.cache)).toBe(0);
  });

  test("leaves the cache that was passed in as it was", () => {
    const { cache } = bill(prompt([a]), [0]);
    const before = [...cache];
    bill(prompt([a, b]), [1], cache, 10 * minute);
    expect([...cache]).toEqual(before);
  });
});

describe("a change", () => {
  const base = prompt([a, b], { settings: "low" });
  const written = bill(base, ["system", 0, 1]);
  const stem = promptTokens(written.blocks.slice(0, 3));
  const image = { type: "image", source: { data: "AAAA" } };

  test.each<[string, Partial<Prompt>, number]>([
    ["of nothing reads all", {}, promptTokens(written.blocks)],
    ["of a message reads what is before it", { messages: [a, c] }, promptTokens(written.blocks.slice(0, 4))],
    ["of the settings reads tools and system", { settings: "high" }, stem],
    [
      "to a prompt with images reads tools and system",
      { messages: [a, b, { role: "user", content: [image] }] },
      stem,
    ],
    ["of the system reads nothing", { system: [text("t")] }, 0],
    ["of a tool reads nothing", { tools: [{ name: "bash" }, { name: "sh" }] }, 0],
    ["of the order of tools reads nothing", { tools: [...base.tools].reverse() }, 0],
    ["of the model reads nothing", { model: "n" }, 0],
    ["of a role reads what is before it", { messages: [{ ...a, role: "assistant" }, b] }, stem],
  ])("%s", (_title, changes, read) => {
    const given = { ...base, ...changes };
    const billed = bill(given, ["system", 0, given.messages.length - 1], written.cache, 1);
    expect(counts(billed)[0]).toBe(read);
    expect(sum(counts(billed))).toBe(promptTokens(billed.blocks));
  });
});

test("tokens are bytes over four, an image 1,600 whatever its encoding takes", () => {
  const tokens = (content: { type: string }[]) => {
    const blocks = layoutOf({
      model: "m",
      tools: [],
      system: [],
      messages: [{ role: "user", content }],
    }).blocks;
    return promptTokens(blocks);
  };
  const bytes = (block: object) => Math.ceil(Buffer.byteLength(JSON.stringify(block)) / 4);
  const strange = { type: "text", text: "é🟢€\n" };
  expect(tokens([strange])).toBe(bytes(strange));
  const image = (length: number) => ({ type: "image", source: { data: "A".repeat(length) } });
  expect(tokens([image(8000)])).toBe(1600 + bytes(image(0)));
  expect(
    tokens([{ type: "tool_result", content: [image(9), image(9)] } as { type: string }]),
  ).toBeGreaterThan(3200);
});

test("a cleared reminder is neither billed nor in the way", () => {
  const reminder: PromptMessage = { role: "system", content: [text("r")], clear_at: "next_user_message" };
  const shown = bill(prompt([a, reminder]), [0]);
  const cleared = bill(prompt([a, reminder, b]), [2], shown.cache);
  const never = bill(prompt([a, b]), [1], shown.cache);
  expect(counts(shown)[3]).toBeGreaterThan(90);
  expect(counts(cleared)).toEqual(counts(never));
  expect(counts(cleared)[0]).toBeGreaterThan(0);
  expect(counts(bill(prompt([a, b]), [1], cleared.cache))[0]).toBe(promptTokens(never.blocks));
});
