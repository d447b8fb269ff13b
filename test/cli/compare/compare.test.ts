/** `sawtooth batch compare`: two batches of the same tasks, pair by pair. */

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { batchWorkspace, shellScript, write, writeTasks } from "../batch/batch-workspace.ts";

type Line = { id: string; state?: string; hash?: string; cost?: number };

/** Results as a batch writes them; `folder` under the workspace. */
function writeResults(
  { cwd }: Workspace,
  folder: string,
  lines: readonly Line[],
  options: object = {},
): void {
  mkdirSync(join(cwd, folder), { recursive: true });
  writeFileSync(join(cwd, folder, "batch.json"), JSON.stringify({ version: 1, options }));
  const text = lines.map(({ id, state = "done", hash = "h", cost = 0.5 }, index) =>
    JSON.stringify({
      ...{ id, hash, state, exit_code: 0, errors: [], changed_files: [], run: `tasks/${id}/run-1` },
      ...{ num_turns: 10, total_cost_usd: cost, duration_ms: 1000, started_at: index },
    }),
  );
  writeFileSync(join(cwd, folder, "results.jsonl"), text.map((line) => `${line}\n`).join(""));
}

const compare = (workspace: Workspace, ...words: string[]) =>
  sawtooth(workspace, ["batch", "compare", ...words]);

async function comparison(workspace: Workspace, ...words: string[]) {
  const { stdout } = await compare(workspace, ...words, "--output-format", "json");
  return JSON.parse(stdout) as Record<string, number> & Record<"a" | "b", Record<string, number | null>>;
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => `t${index + 1}`);

describe("sawtooth batch compare", () => {
  test("takes the check of each task as its verdict: models of known success under two contexts", async () => {
    const workspace = batchWorkspace();
    const tasks = [1, 2, 3, 4].map((number) => ({
      ...{ id: `t${number}`, repo: "project", check: "test -e ok", permission_mode: "auto", max_attempts: 1 },
      ...(number > 2 ? { setup: "touch hard" } : {}),
    }));
    writeTasks(workspace, tasks);
    const weak = shellScript(workspace, "weak", "test -e hard || touch ok").model;
    const strong = shellScript(workspace, "strong", "touch ok").model;
    const batch = (model: string, context: string, out: string) =>
      sawtooth(workspace, ["batch", "tasks.jsonl", "--out", out, "--model", model, "--context", context]);
    await batch(weak, "raw", "a");
    await batch(strong, "economist", "b");
    const { code, stdout } = await compare(workspace, "a", "b");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^context +raw +economist$/m);
    expect(stdout).toMatch(/^solved +2 \(50 %\) +4 \(100 %\)$/m);
    expect(stdout).toContain("4 tasks, 1 time each: 4 pairs; both solved 2, neither 0");
    expect(stdout).toContain("McNemar's exact test over 2 pairs that differ: p = 0.5000");
    const found = await comparison(workspace, "a", "b");
    expect(found).toMatchObject({ pairs: 4, only_a: 0, only_b: 2, difference: 0.5, mcnemar_p: 0.5 });
    expect(found.a.cost_per_solved_usd).toBeCloseTo(Number(found.a.total_cost_usd) / 2, 12);
  }, 60_000);

  test("pairs repetitions in the order of their names, and tests by task too", async () => {
    const workspace = batchWorkspace();
    for (const round of [1, 2, 10]) {
      const b = ids(8).map((id, index) => ({ id, cost: 0.25, ...(index < 6 ? {} : { state: "limit" }) }));
      writeResults(
        workspace,
        `a/${round}`,
        ids(8).map((id) => ({ id, state: "failed" })),
      );
      writeResults(workspace, `b/${round}`, b);
    }
    const found = await comparison(workspace, "a", "b");
    expect(found).toMatchObject({ tasks: 8, pairs: 24, only_b: 18, neither: 6, tasks_more_often_b: 6 });
    expect(found.mcnemar_p).toBeCloseTo(2 / 2 ** 18, 12);
    expect(found.sign_test_p).toBeCloseTo(0.03125, 12);
    expect(found.a).toMatchObject({ solved: 0, total_cost_usd: 12, cost_per_solved_usd: null });
    expect(found.b.cost_per_solved_usd).toBeCloseTo(6 / 18, 12);
    const { stdout } = await compare(workspace, "a", "b");
    expect(stdout).toContain("8 tasks, 3 times each: 24 pairs");
    expect(stdout).toContain("By task: 0 solved more often in a, 6 in b; sign test p = 0.0313");
  });

  test("leaves out what says nothing of the task, and takes the newest result of each", async () => {
    const workspace = batchWorkspace();
    const again: Line[] = [{ id: "t1", state: "error", cost: 1 }, { id: "t1" }, { id: "t2" }, { id: "t3" }];
    writeResults(workspace, "a", again);
    writeResults(workspace, "b", [
      { id: "t1" },
      { id: "t2", state: "model" },
      { id: "t3", state: "blocked" },
    ]);
    const found = await comparison(workspace, "a/results.jsonl", "b");
    expect(found).toMatchObject({ pairs: 2, without_verdict: 1, both: 1, only_a: 1 });
    expect(found.a.total_cost_usd).toBe(2);
    expect((await compare(workspace, "a", "b")).stdout).toContain("Left out: 1 pair that the API");
  });

  test("reads parts of a batch as one", async () => {
    const workspace = batchWorkspace();
    for (const [part, id] of ids(3).entries()) writeResults(workspace, `a/part-${part}`, [{ id }]);
    writeResults(
      workspace,
      "b",
      ids(3).map((id) => ({ id })),
    );
    expect(await comparison(workspace, "a", "b")).toMatchObject({
      tasks: 3,
      pairs: 3,
      both: 3,
      mcnemar_p: 1,
    });
  });

  test("refuses what cannot be paired, in one sentence each", async () => {
    const workspace = batchWorkspace();
    writeResults(
      workspace,
      "a",
      ids(9).map((id) => ({ id })),
    );
    writeResults(workspace, "b", [{ id: "t1" }]);
    writeResults(
      workspace,
      "other",
      ids(9).map((id) => ({ id, hash: "x" })),
    );
    writeResults(
      workspace,
      "down",
      ids(9).map((id) => ({ id, state: "model" })),
    );
    writeResults(
      workspace,
      "twice/1",
      ids(9).map((id) => ({ id })),
    );
    writeResults(
      workspace,
      "twice/2",
      ids(9).map((id) => ({ id })),
    );
    writeResults(workspace, "empty", []);
    write(workspace, "none/readme.md", "no results");
    const cases: [string[], string][] = [
      [["a", "b"], "b has no result of t2, t3, t4, t5, t6 and 3 more, which a has"],
      [["a", "other"], "task t1 is not the same line everywhere: use one file of tasks"],
      [["a", "down"], "no pair of results has a verdict (done, model)"],
      [["a", "twice"], "task t1 has 1 results in a and 2 in twice: repeat both as often"],
      [["a", "empty"], "empty has no result of a task yet: run the batch first"],
      [["a", "gone"], "gone does not exist"],
      [["a", "none"], "none contains no batch results"],
      [["a"], "batch compare takes two batches"],
      [["a", "b", "a"], "batch compare takes two batches"],
      [["a", "b", "--retry"], "batch compare only reads results: remove --retry"],
    ];
    for (const [words, sentence] of cases) {
      const { code, stderr } = await compare(workspace, ...words);
      expect(stderr).toContain(sentence);
      expect(code).toBe(2);
    }
  }, 60_000);

  test("leaves out lines that are no result, says so, and says it too where nothing is left", async () => {
    const workspace = batchWorkspace();
    const both = ids(2).map((id) => ({ id }));
    for (const folder of ["a", "b", "none"]) writeResults(workspace, folder, folder === "none" ? [] : both);
    const strange = ['{"id":"t3","run":"r"}', '{"id":"t1","ru', "[]", '{"id":"t2","total_cost_usd":"x"}'];
    const add = (folder: string, lines: readonly string[]) =>
      appendFileSync(join(workspace.cwd, folder, "results.jsonl"), `${lines.join("\n")}\n`);
    add("b", [...strange, `{"id":"t3","run":"${"x".repeat(40_000_000)}"}`]);
    add("none", strange);
    const { code, stdout, stderr } = await compare(workspace, "a", "b");
    expect(code).toBe(0);
    expect(stdout).toContain("2 tasks, 1 time each: 2 pairs");
    const said = stderr.match(/results\.jsonl line \d is damaged and does not count/g);
    expect(said?.map((words) => words.slice(19, 20))).toEqual(["3", "4", "5", "6", "7"]);
    expect((await compare(workspace, "a", "none")).stderr).toMatch(
      /^sawtooth: none has no result of a task: \S+ line 1 is damaged and does not count\n$/,
    );
    writeResults(workspace, "b", [{ id: "t1" }]);
    add("b", strange.slice(1, 2));
    expect((await compare(workspace, "a", "b")).stderr).toMatch(
      /^sawtooth: \S+ line 2 is damaged and does not count\nsawtooth: b has no result of t2, .*\n$/,
    );
  });
});
