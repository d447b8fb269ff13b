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

describe("a reply that goes round in circles", () => {
  test.each([
    ["a token", "so ", 2_000],
    ["a phrase", "I will check that again. ", 340],
    ["a paragraph", `${"Wait, let me think about this from the beginning once more. ".repeat(6)}So:\n`, 24],
    ["a character of three bytes", "嗯", 2_900],
  ])("is noticed at about 2,000 tokens of %s", (_, sequence, rounds) => {
    const found = heard(prose + sequence.repeat(5_000));
    const repeated = (found?.after ?? 0) - prose.length;
    expect(repeated).toBeGreaterThan(0.6 * rounds * sequence.length);
    expect(repeated).toBeLessThan(1.2 * rounds * sequence.length + 300);
  });

  test("is named by what it repeats, whatever the pieces it comes in", () => {
    for (const piece of [1, 24, 100_000]) {
      const sequence = heard("so what ".repeat(5_000), piece)?.sequence ?? "";
      expect([..."so what "].sort()).toEqual([...sequence].sort());
    }
  });
});

describe("a reply that does not", () => {
  test.each([
    ["prose", prose],
    ["a table rule", `| a | b |\n${"-".repeat(3_000)}\n| 1 | 2 |\n`],
    ["short repetitions with something new between them", `${"ha ".repeat(900)}${prose}`.repeat(3)],
    ["a numbered list", Array.from({ length: 5_000 }, (_, index) => `${index}. same\n`).join("")],
  ])("is left alone: %s", (_, text) => {
    expect(heard(text)).toBeUndefined();
  });

  test("is left alone: random words of a small vocabulary", () => {
    const random = seededRandom(7);
    const words = Array.from({ length: 20_000 }, () => ["yes", "no", "so"][Math.floor(random() * 3)]);
    expect(heard(words.join(" "), 50)).toBeUndefined();
  });
});
