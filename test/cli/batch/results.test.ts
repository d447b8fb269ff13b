import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { merged, openResults, type ResultLine, readResults } from "../../../src/cli/batch/results.ts";
import { summaryOf } from "../../../src/cli/batch/summary.ts";
import { blank } from "../../../src/cli/batch/task-run.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "sawtooth-results-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

function line(id: string, more: Partial<ResultLine> = {}): ResultLine {
  return { ...blank({ id, hash: "h" }, `tasks/${id}/run-1`, 1), state: "done", ...more };
}

/** Characters of all that is reachable from the tallies. */
function kept(results: { tallies: ReturnType<typeof openResults>["tallies"] }): number {
  return JSON.stringify([...results.tallies]).length;
}

describe("the results of a batch", () => {
  test("what is kept of a result does not grow with what the model said, written or read", () => {
    const workspace = folder();
    const results = openResults(begun(workspace));
    const long = {
      result: "r".repeat(4000),
      errors: ["e".repeat(4000), "e"],
      changed_files: ["a".repeat(999)],
    };
    for (let index = 0; index < 50; index++) results.append(line(`t${index}`, long));
    expect(results.tallies.size).toBe(50);
    expect(kept(results)).toBeLessThan(50 * 600);
    expect(kept(readResults(workspace))).toBe(kept(results));
  });

  test("lines longer than a piece of the file, and those cut off, are read as they stand", () => {
    const workspace = begun(folder());
    const said = "ä€😀".repeat(30_000);
    const lines = [line("a", { errors: [said] }), line("b", { changed_files: [said, said] }), line("a")];
    writeFileSync(
      join(workspace, "results.jsonl"),
      `${lines.map((one) => JSON.stringify(one)).join("\n\n")}\n{"id":"c","ru`,
    );
    const { tallies, warnings } = readResults(workspace);
    expect([...tallies.values()].map(({ id, runs }) => [id, runs.length])).toEqual([
      ["a", 2],
      ["b", 1],
    ]);
    expect(tallies.get("b")?.last.changedFiles).toBe(2);
    expect(warnings).toEqual([expect.stringMatching(/results\.jsonl line 6 is damaged/)]);
  });

  test("of folders taken together the run that began last is a task's newest, and all runs are paid", () => {
    const [first, second] = [openResults(begun(folder())), openResults(begun(folder()))];
    first.append(line("a", { started_at: 30, total_cost_usd: 1, num_turns: 1 }));
    second.append(line("b", { started_at: 10, total_cost_usd: 2, num_turns: 2 }));
    second.append(line("a", { started_at: 20, state: "failed", total_cost_usd: 4, num_turns: 4 }));
    const tallies = merged([first.tallies, second.tallies]);
    expect([...tallies.keys()]).toEqual(["b", "a"]);
    expect(tallies.get("a")?.last.state).toBe("done");
    expect(summaryOf({ tallies, tasks: [...tallies.values()] })).toMatchObject({
      tasks: 2,
      done: 2,
      runs: 3,
      num_turns: 7,
      total_cost_usd: 7,
    });
  });
});

function begun(workspace: string): string {
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, "batch.json"), "{}");
  return workspace;
}
