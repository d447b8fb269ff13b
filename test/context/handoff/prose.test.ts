/** Which prose of a model is let into a handoff, and what is mended of it. */

import { describe, expect, test } from "vitest";
import { judgeProse, proseOf } from "../../../src/context/handoff/prose.ts";
import type { AssistantBlock } from "../../../src/core/blocks.ts";
import type { EventBody } from "../../../src/core/events.ts";
import { call, memoryLog, reply, result, started, text, thinking, user } from "../../support/logs.ts";

const earlier: EventBody[] = [
  { type: "warning", text: "no /no/one.ts" },
  reply(call("a", "bash", { command: "cat /etc/conf.d/x" })),
  result("a"),
];
const events = memoryLog([started(), user("look at /w/app/main.ts"), ...earlier]).events();

function judge(
  words: string | AssistantBlock[],
  { replaced = 1000, stopReason = "end_turn", exists = "" } = {},
) {
  const content = typeof words === "string" ? [text(words)] : words;
  return judgeProse({ content, stopReason }, { replaced, events, exists: (path) => path === exists });
}

describe("prose is refused", () => {
  test("when it calls a tool, even with words beside it", () => {
    expect(judge([text("fine"), call("x")])).toEqual({ rejected: "it called a tool" });
  });

  test("when it is empty, or thinking alone, or a refusal", () => {
    expect(judge([])).toEqual({ rejected: "it was empty" });
    expect(judge([thinking("hm"), text(" \n")])).toEqual({ rejected: "it was empty" });
    expect(judge("I will not.", { stopReason: "refusal" })).toEqual({ rejected: "the model refused" });
  });

  test("when it is not a quarter shorter than what it replaces", () => {
    expect(judge("x".repeat(300), { replaced: 100 })).toEqual({ prose: "x".repeat(300) });
    expect(judge("x".repeat(301), { replaced: 100 })).toEqual({
      rejected: "it was not at least a quarter shorter than what it replaces",
    });
  });

  test("when no paragraph of it was whole before its length cut it off", () => {
    expect(judge("Decisions: we wi", { stopReason: "max_tokens" })).toEqual({
      rejected: "it was cut off by its length before a paragraph was whole",
    });
  });

  test("when every line names paths from nowhere, of which three are told", () => {
    expect(judge("/no/one.ts /no/two.ts\n\n/no/three.ts /no/four.ts.")).toEqual({
      rejected:
        "it has only lines that named paths which never existed: /no/one.ts, /no/two.ts, /no/three.ts",
    });
  });
});

describe("prose is corrections", () => {
  test("when its length cut it off: it ends with its last whole paragraph, or its last whole line", () => {
    const corrections = "cut off by its length, so it ends with its last whole paragraph";
    for (const stopReason of ["max_tokens", "model_context_window_exceeded"]) {
      expect(judge("One.\nTwo.\n\nThree.\nFour", { stopReason })).toEqual({
        prose: "One.\nTwo.",
        corrections,
      });
      expect(judge("One.\nTwo.\nThr", { stopReason })).toEqual({ prose: "One.\nTwo.", corrections });
    }
  });

  test("when a line names a path that never was: the line is struck, and that is said, without the path", () => {
    expect(judge("Facts: a.\nIt is in /no/one.ts.\nSee /w/app/main.ts.")).toEqual({
      prose:
        "Facts: a.\nSee /w/app/main.ts.\n[1 of its lines named paths that never existed and were struck.]",
      corrections: "without a line that named paths which never existed: /no/one.ts",
    });
  });

  test("but a path that is on the disk is left, though the log never named it", () => {
    const words = "It is in /no/one.ts.";
    expect(judge(words, { exists: "/no/one.ts" })).toEqual({ prose: words });
  });

  test("and so is one that the question named", () => {
    const around = { replaced: 1000, events, question: "Mind /no/one.ts", exists: () => false };
    const content = [text("It is in /no/one.ts.")];
    expect(judgeProse({ content, stopReason: "end_turn" }, around)).toEqual({
      prose: "It is in /no/one.ts.",
    });
  });

  test("and so are paths that did occur, ends of sentences, relative paths, addresses and fractions", () => {
    const words =
      "It is in /etc/conf.d/x. See /w/app/main.ts, src/a/b.ts, ~/a/b, https://a.b/c/d, and/or 1/2.";
    expect(judge(words)).toEqual({ prose: words });
  });
});

test("text blocks are joined; thinking is no part of the prose", () => {
  expect(proseOf([thinking("t"), text(" a"), text("b\n")])).toBe("a\nb");
});
