/** The text that stands for a summarised span: what the log says, around what a model wrote. */

import { describe, expect, test } from "vitest";
import { handoffText } from "../../../src/context/handoff/handoff.ts";
import { textTokens } from "../../../src/context/view/tokens.ts";
import type { EventBody, Task } from "../../../src/core/events.ts";
import { call, listed, memoryLog, reply, result, started, user } from "../../support/logs.ts";

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
      "[Handoff: earlier steps are folded into this. Full history: /s/1/events.jsonl]",
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
      listed("t", { text: "fix it", status: "open" }),
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

describe("prose that contradicts the log", () => {
  const list: Task[] = [
    { text: "write the parser", status: "done" },
    { text: "run it", status: "done" },
    { text: "mend it", status: "active" },
    { text: "tell them", status: "open" },
  ];
  const log = [
    listed("t", ...list),
    reply(call("x", "bash", { command: "npm test" })),
    { ...result("x"), stats: { exitCode: 1 } },
  ] as EventBody[];
  const errors = (prose: string) => /It does: (.*)\.\]/.exec(handoff(log, prose))?.[1];

  test("stands before the facts, which are said to be right", () => {
    const handed = handoff(log, "Item 2 is open.");
    const order = ["What you wrote", "from the log itself", "[x] run it", "npm test → exit 1"];
    const at = order.map((words) => handed.indexOf(words));
    expect(at).toEqual(at.toSorted((a, b) => a - b));
    expect(at).not.toContain(-1);
  });

  test.each([
    ["Next steps: item 2 is open.", 'item 2, "run it", is done'],
    ["The list: - [ ] write the parser", 'item 1, "write the parser", is done'],
    ["Still to do: write the parser, which is not done", 'item 1, "write the parser", is done'],
    ["Everything but the end: mend it (done)", 'item 3, "mend it", is not done'],
    ["Facts: npm test passes now", "`npm test` ended with exit 1 when it ran last"],
    ["The last check was green.", "`npm test` ended with exit 1 when it ran last"],
  ])("%s", (prose, told) => {
    expect(errors(prose)).toBe(told);
  });

  test.each([
    "Item 2 is done, item 4 is open.",
    "npm test fails with exit 1",
    "We parse ports. Port 8123 is open.",
  ])("but of true words nothing is said: %s", (prose) => {
    expect(errors(prose)).toBeUndefined();
    expect(handoff(log, prose)).toContain("says otherwise, this is right.]");
  });
});

test("a focus that is still open is named, with its objective", () => {
  const open = [
    reply(call("f", "start_focus", { objective: "find the leak" })),
    result("f", "ok", "start_focus"),
  ];
  expect(section(handoff(open), "Open focus (still running)")).toBe("find the leak");
  expect(handoff([...open, result("g", "ok", "complete_focus")])).not.toContain("Open focus");
});

test("of more than 200 changed files the newest are named", () => {
  const wrote = Array.from({ length: 205 }, (_, index) => `/w/${index}`);
  const files = section(handoff([{ ...result("w"), stats: { wrote } } as EventBody]), "Files changed")?.split(
    "\n",
  );
  expect([files?.[0], files?.[1], files?.length]).toEqual(["(5 earlier ones)", "/w/5", 201]);
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
    expect(ledger(log)).toBe(`- bash: ${"c".repeat(200)}… → ${"e".repeat(200)}`);
  });
});
