import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { watchRepetition } from "../../../src/context/reminders/repetition.ts";
import { seededRandom } from "../../support/random.ts";

/** Characters heard before the watch spoke up, and what it said; undefined when it stayed quiet. */
function heard(text: string, piece = 7): { after: number; sequence: string } | undefined {
  const watch = watchRepetition();
  for (let at = 0; at < text.length; at += piece) {
    const sequence = watch.feed(text.slice(at, at + piece));
    if (sequence !== undefined) return { after: at + piece, sequence };
  }
  return undefined;
}

const prose = Array.from({ length: 900 }, (_, index) => `Line ${index} says something else. `).join("");

/** Pieces of a real reply, as they streamed: TinyLlama 1.1B, 900 tokens, asked for a plan. */
const recorded = JSON.parse(
  readFileSync(new URL("../../fixtures/nearly-the-same.json", import.meta.url), "utf8"),
) as string[];

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("\n");

describe("a reply that goes round in circles", () => {
  test.each([
    ["a token", "so ", 1_070],
    ["a phrase", "I will check that again. ", 130],
    ["a paragraph", `${"Wait, let me think about this from the beginning once more. ".repeat(6)}So:\n`, 10],
    ["a character of three bytes", "嗯", 1_070],
  ])("is noticed at about 1,000 tokens of %s", (_, sequence, rounds) => {
    const found = heard(prose + sequence.repeat(5_000));
    const repeated = (found?.after ?? 0) - prose.length;
    expect(repeated).toBeGreaterThan(0.6 * rounds * sequence.length);
    expect(repeated).toBeLessThan(1.2 * rounds * sequence.length + 300);
  });

  test.each([
    ["signs without words", "=-=-\n"],
    ["one endless word", "ab"],
  ])("is noticed at 8,000 bytes at most of %s", (_, sequence) => {
    const found = heard(prose + sequence.repeat(8_000));
    expect((found?.after ?? 0) - prose.length).toBeLessThan(8_300);
  });

  test("is noticed within 900 recorded tokens of a small model", () => {
    const watch = watchRepetition();
    const noticed = recorded.findIndex((piece) => watch.feed(piece) !== undefined);
    expect(noticed).toBeGreaterThan(500);
    expect(noticed).toBeLessThan(recorded.length);
  });

  const colours = ["red", "green", "blue", "old", "new", "small", "large", "main"];
  test.each([
    [
      "a word",
      (random: () => number) => () =>
        `I check the ${pick(colours, random)} file again, since the test failed.`,
    ],
    [
      "the number of the line",
      () => (index: number) => `${index + 1}. Run the tests again and look at the output.`,
    ],
    [
      "a word, in text without spaces",
      (random: () => number) => () =>
        `我会再检查一遍${pick("红绿蓝新旧".split(""), random)}文件因为测试又失败了。`,
    ],
  ])("is noticed where its lines differ in %s", (_, lineOf) => {
    const found = heard(prose + lines(500, lineOf(seededRandom(7))));
    expect((found?.after ?? Number.POSITIVE_INFINITY) - prose.length).toBeLessThan(5_000);
  });

  test("is named by what it repeats, whatever the pieces it comes in", () => {
    for (const piece of [1, 24, 100_000]) {
      const sequence = heard("so what ".repeat(5_000), piece)?.sequence ?? "";
      expect([..."so what "].sort()).toEqual([...sequence].sort());
    }
  });
});

function pick(words: readonly string[], random: () => number): string {
  return words[Math.floor(random() * words.length)] ?? "";
}

describe("a reply that does not", () => {
  test.each([
    ["prose", prose],
    ["a table rule", `| a | b |\n${"-".repeat(3_000)}\n| 1 | 2 |\n`],
    ["short repetitions with something new between them", `${"ha ".repeat(900)}${prose}`.repeat(3)],
    ["a list of names", lines(5_000, (index) => `${index}. name${index}`)],
    ["a text quoted twice", prose.slice(0, 4_000).repeat(2)],
    [
      "a table",
      lines(400, (index) => `| worker ${index} | ${index % 3} | ready | none | no errors were found |`),
    ],
    [
      "a list of what changed",
      lines(400, (index) => `- \`src/part${index}.ts\`: updated the import path to the new module`),
    ],
    [
      "a log",
      lines(
        400,
        (index) =>
          `10:${index % 60}:${(index * 7) % 60} INFO worker: a heartbeat was sent, all is well and nothing is due`,
      ),
    ],
    ["results of tests", lines(400, (index) => `✓ case ${index} of the parser passes without a warning`)],
    [
      "JSON in many lines",
      JSON.stringify(
        Array.from({ length: 300 }, (_, id) => ({ id, state: "ready", tags: [], owner: null })),
        null,
        2,
      ),
    ],
    [
      "JSON in lines",
      lines(300, (id) => JSON.stringify({ id, state: "ready", tags: [], owner: "nobody", active: true })),
    ],
    [
      "statements",
      lines(300, (id) => `INSERT INTO users (id, name, active) VALUES (${id}, 'user${id}', true);`),
    ],
  ])("is left alone: %s", (_, text) => {
    expect(heard(text)).toBeUndefined();
  });

  test("is left alone: random words of a small vocabulary", () => {
    const random = seededRandom(7);
    const words = Array.from({ length: 20_000 }, () => ["yes", "no", "so"][Math.floor(random() * 3)]);
    expect(heard(words.join(" "), 50)).toBeUndefined();
  });
});
