/** The evals in small: under the default stack nothing is lost, and each way to break the engine is caught. */

import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { evaluations } from "../../../src/lab/evals/evals.ts";
import { nextAction } from "../../../src/lab/evals/scripted-reader.ts";
import { evalTable } from "../../../src/lab/evals/table.ts";
import { runEval } from "../../support/evals.ts";
import { sized } from "../../support/size.ts";

const free = "anthropic/claude-sonnet-4-6";
const bound = "anthropic/claude-sonnet-5-5";

function evaluationOf(name: string) {
  const found = evaluations.find((evaluation) => evaluation.name === name);
  if (!found) throw new Error(`there is no eval ${name}`);
  return found;
}

describe("under the default stack", () => {
  test.each([
    ["needle", free],
    ["needle", bound],
    ["objective", free],
    ["todo", bound],
    ["redone", free],
    ["drift", bound],
    ["errors", free],
  ])("%s loses nothing on %s, though much was forgotten", async (name, model) => {
    const result = await runEval({ evaluation: evaluationOf(name), stack: "economist", model });
    expect(result.lost).toEqual([]);
    expect(result.edits).toBeGreaterThan(1);
    expect(result.summaries).toBeGreaterThan(0);
  });
});

describe("an engine that is broken", () => {
  test.each([
    ["pointers", "needle", "masking", /^NEEDLE-\d+: the answer was "It is lost/],
    ["pointers", "needle", "summary", /^NEEDLE-\d+: the answer was "It is lost/],
    ["tasks", "todo", "summary", /^that part 1 is done$/],
    ["tasks", "redone", "summary", /^that part alpha was done$/],
    ["errors", "errors", "economist", /^E-\d+: the answer was "unknown"$/],
    ["words", "objective", "masking", /^the code word of the first message$/],
    ["words", "drift", "economist", /^ORDER-\d+$/],
  ])("in its %s is caught by %s under %s", async (broken, name, stack, lost) => {
    const { lost: found } = await runEval({ evaluation: evaluationOf(name), stack, model: free, broken });
    expect(found[0]).toMatch(lost);
  });
});

test("the reader knows nothing but the request: without a pointer it cannot find the needle", () => {
  const question = { role: "user", content: [{ type: "text", text: "NEXT: QUESTION: which code?" }] };
  const { answer } = evaluationOf("needle");
  expect(nextAction([question], answer).text).toContain("It is lost");
  const handoff = { type: "text", text: "[Handoff: … Full history: /s/1/events.jsonl]" };
  const pointed = { role: "user", content: [handoff, ...question.content] };
  expect(JSON.stringify(nextAction([pointed], answer).calls)).toContain("/s/1/events.jsonl");
});

test("the table shows each stack and eval, and what was lost", () => {
  const result = { name: "needle", stack: "raw", model: free, lost: [], edits: 2, summaries: 1, steps: 9 };
  const table = evalTable([result, { ...result, model: bound, lost: ["NEEDLE-1", "more"], edits: 3 }]);
  expect(table).toMatch(/^raw +ok LOST +- - .* 2\.5 +1\.0$/m);
  expect(table).toContain(`  raw, needle, ${bound}: NEEDLE-1; more\n`);
});

describe("npm run evals", () => {
  const evals = (...words: string[]) =>
    spawnSync(process.execPath, ["scripts/evals.ts", ...words], {
      encoding: "utf8",
      env: { PATH: process.env.PATH ?? "", NODE_NO_WARNINGS: "1" },
    });

  test("says which key a real model needs", () => {
    const { stderr, status } = evals("--model", "anthropic/claude-sonnet-5-5");
    expect([status, stderr]).toEqual([
      2,
      "evals: --model anthropic/claude-sonnet-5-5 asks the real model: set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, or leave --model out\n",
    ]);
  });

  test("names what can be broken", () => {
    const { stderr, status } = evals("--break", "all");
    expect([status, stderr]).toEqual([
      2,
      "evals: --break all: must be one of pointers, tasks, errors, words\n",
    ]);
  });

  test("exits with 1 when the default stack loses something", () => {
    const { stdout, status } = evals(
      "--break",
      "words",
      "--context",
      "economist",
      ...sized(["--eval", "needle,objective"], []),
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(/^economist +ok ok +LOST LOST/m);
  });
});
