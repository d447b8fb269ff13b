/** The text that stands for a summarised span, and which prose of a model is let into it. */

import { describe, expect, test } from "vitest";
import { handoffText, proseOf, rejectProse } from "../../src/context/handoff.ts";
import { textTokens } from "../../src/context/tokens.ts";
import type { AssistantBlock } from "../../src/core/blocks.ts";
import type { EventBody } from "../../src/core/events.ts";
import { call, memoryLog, reply, result, started, text, thinking, user } from "../support/logs.ts";

function handoff(bodies: EventBody[], prose = ""): string {
  return handoffText(memoryLog([started(), user("go"), ...bodies]).events(), prose);
}

/** The text under a heading, up to the next. */
function section(handed: string, title: string): string | undefined {
  return handed
    .split(/^## /m)
    .find((part) => part.startsWith(`${title}\n`))
    ?.slice(title.length + 1)
    .trim();
}

function fold(policy: string, ...texts: string[]): EventBody {
  const edits = texts.map((words) => ({ type: "collapse" as const, from: 2, to: 3, text: words }));
  return { type: "context_edited", policy, reason: "", edits, economics: {} };
}

function failed(id: string, command: string, output: string): EventBody[] {
  return [reply(call(id, "bash", { command })), result(id, output, "bash", true)];
}

describe("the handoff", () => {
  test("names the whole history, and has no section that would be empty", () => {
    expect(handoff([])).toBe(
      "[Handoff: earlier steps are folded into this. Full history: /s/1/events.jsonl]\n\n",
    );
    expect(handoff([], "do b next")).toMatch(/\n\n## What you wrote\ndo b next$/);
  });

  test("holds what every closed focus learned, also those before an earlier summary, and no summary's text", () => {
    const log = [fold("focus", "one"), fold("summary", "[Handoff] old"), fold("focus", "two")];
    expect(section(handoff(log), "Knowledge")).toBe("one\n\ntwo");
  });

  test("holds the list, the changed files once each, and how the newest command ended", () => {
    const wrote = { wrote: ["/w/a", "/w/b"] };
    const log = [
      { ...result("t", "- [ ] fix it\n(0 of 1 done)", "todo") },
      { ...result("w", "ok", "str_replace_editor"), stats: wrote },
      { ...result("v", "ok", "str_replace_editor"), stats: { wrote: ["/w/b"] } },
      reply(call("x", "bash", { command: "npm test\nmore" })),
      { ...result("x"), stats: { exitCode: 1 } },
      result("later", "no command", "str_replace_editor"),
    ] as EventBody[];
    const handed = handoff(log);
    expect(section(handed, "Task list (true as of now)")).toBe("- [ ] fix it");
    expect(section(handed, "Files changed")).toBe("/w/a\n/w/b");
    expect(section(handed, "Last check")).toBe("bash: npm test → exit 1");
  });
});

describe("failed attempts", () => {
  const ledger = (bodies: EventBody[]) => section(handoff(bodies), "Failed attempts");

  test("are the command and its last line, the newest last, each once", () => {
    const log = [
      ...failed("a", "make", "warning\nmake: no rule"),
      reply(call("b")),
      result("b", "fine"),
      ...failed("c", "npm test", "3 failed\n"),
      ...failed("d", "npm test", "3 failed"),
    ];
    expect(ledger(log)).toBe("- bash: make → make: no rule\n- bash: npm test → 3 failed");
  });

  test("stay within 1,000 tokens: the oldest are left out", () => {
    const log = Array.from({ length: 40 }, (_, index) =>
      failed(`f${index}`, `attempt ${index}`, `E${index} ${"y".repeat(180)}`),
    ).flat();
    const lines = ledger(log)?.split("\n") ?? [];
    expect(lines.at(-1)).toContain("attempt 39 ");
    expect(textTokens(lines.join("\n"))).toBeLessThanOrEqual(1000);
    // As many as fit: one more would be too many.
    expect(lines.reduce((sum, line) => sum + textTokens(line), 0)).toBeGreaterThan(1000 - 60);
  });

  test("are cut at 200 characters a side", () => {
    const log = failed("a", "c".repeat(300), "e".repeat(300));
    expect(ledger(log)).toBe(`- bash: ${"c".repeat(200)} → ${"e".repeat(200)}`);
  });
});

describe("prose of a model is refused", () => {
  const events = memoryLog([
    started(),
    user("look at /w/app/main.ts"),
    ...failed("a", "cat /etc/conf.d/x", "no"),
  ]).events();
  const judge = (content: AssistantBlock[], replaced = 1000, stopReason = "end_turn") =>
    rejectProse({ content, stopReason }, replaced, events);

  test("when it calls a tool, even with words beside it", () => {
    expect(judge([text("fine"), call("x")])).toBe("it called a tool");
  });

  test("when it is empty, or thinking alone", () => {
    expect(judge([])).toBe("it was empty");
    expect(judge([thinking("hm"), text(" \n")])).toBe("it was empty");
  });

  test("when its length cut it off", () => {
    expect(judge([text("fine")], 1000, "max_tokens")).toBe("it was cut off by its length");
  });

  test("when it is not a quarter shorter than what it replaces", () => {
    expect(judge([text("x".repeat(300))], 100)).toBeUndefined();
    expect(judge([text("x".repeat(301))], 100)).toBe(
      "it was not at least a quarter shorter than what it replaces",
    );
  });

  test("when it names paths that never occurred, of which three are told", () => {
    expect(judge([text("see /w/app/main.ts, and /no/one.ts /no/two.ts /no/three.ts /no/four.ts")])).toBe(
      "it names paths that never occurred: /no/one.ts, /no/two.ts, /no/three.ts",
    );
  });

  test("but not for paths that did occur, ends of sentences, relative paths, addresses or fractions", () => {
    const words =
      "It is in /etc/conf.d/x. See /w/app/main.ts, src/a/b.ts, ~/a/b, https://a.b/c/d, and/or 1/2.";
    expect(judge([text(words)])).toBeUndefined();
  });

  test("its text blocks are joined, its thinking is no part of it", () => {
    expect(proseOf([thinking("t"), text(" a"), text("b\n")])).toBe("a\nb");
  });
});
