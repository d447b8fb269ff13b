/** Tests the words about an edit: what leaves the context, why, and at what price. */

import { describe, expect, test } from "vitest";
import { editWords, sentenceOf } from "../../../src/context/view/edit-words.ts";
import type { ContextEdit, Economics, EventBody, EventOf } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, user } from "../../support/logs.ts";

/** Events 2 to 7: three steps of a call and its result. */
const steps = ["a", "b", "c"].flatMap((id) => [reply(call(id)), result(id, "out")]);
const replaced = (seq: number): ContextEdit => ({ type: "replace", seq, block: 0, text: "[out]" });
const span: ContextEdit = { type: "collapse", from: 2, to: 5, text: "short" };

function wordsOf(edits: ContextEdit[], economics: Economics = {}, more: object = {}) {
  const body = { type: "context_edited", policy: "p", reason: "r", edits, economics, ...more } as EventBody;
  const events = memoryLog([started(), user("go"), ...steps, body]).events();
  return editWords(events.at(-1) as EventOf<"context_edited">, events);
}

describe("what leaves", () => {
  test("is counted in results, steps, inputs and thinking", () => {
    expect(wordsOf([replaced(3)]).what).toBe("left out: 1 result");
    expect(wordsOf([replaced(3), replaced(5), replaced(6)]).what).toBe("left out: 2 results, 1 large input");
    expect(wordsOf([{ ...span, lines: true }, replaced(7)]).what).toBe(
      "left out: 1 result, 2 steps down to a line for each call",
    );
    expect(wordsOf([span]).what).toBe("left out: 2 steps for which a summary stands");
    expect(wordsOf([{ type: "drop_thinking", to: 6 }]).what).toBe("left out: earlier thinking");
  });

  test("has its size in tokens and the objective of its focus, where the policy tells them", () => {
    const folded = wordsOf([span], { removedTokens: 12_340 }, { fold: { objective: "find it" } });
    expect(sentenceOf(folded)).toBe("12k tokens leave the context: 2 steps folded, “find it”");
  });
});

describe("why and at what price", () => {
  const sums = { removedTokens: 5_000, afterTokens: 7_000, expectedSavingUsd: 0.25 };
  const paid = "2.0k tokens are written again, $0.2500 saved if it goes on as long again";

  test("a policy that compares prices says both", () => {
    for (const [reason, cause, why, price] of [
      ["break-even", "it pays", "carrying them costs more", paid],
      ["pressure", "nearly full", "the context is nearly full", paid],
      ["cliff", "price tier near", "a longer request has a higher price", paid],
      ["cold", "not cached", "the cache no longer has it", "$0.2500 saved"],
    ] as const) {
      const words = wordsOf([replaced(3)], { ...sums, reason });
      expect(words.cause).toBe(cause);
      expect(words.why.startsWith(why)).toBe(true);
      expect(words.price.startsWith(price)).toBe(true);
    }
  });

  test("a loss is called one, and the sentence of another policy stays", () => {
    const lost = wordsOf([replaced(3)], { ...sums, reason: "pressure", expectedSavingUsd: -0.1 });
    expect(lost.price).toContain("$0.1000 lost if");
    expect(wordsOf([replaced(3)])).toMatchObject({ cause: "r", why: "r", price: "" });
  });
});
