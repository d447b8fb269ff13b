import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, onTestFinished, test } from "vitest";
import { startMockServer } from "../../support/mock-server.ts";
import { sawtooth } from "../../support/sawtooth.ts";
import { git, small, smallCheck } from "../fix/fix-workspace.ts";
import {
  auto,
  batchWorkspace,
  patchOf,
  results,
  run,
  script,
  shellScript,
  states,
  words,
  writeTasks,
} from "./batch-workspace.ts";

describe("a batch", () => {
  test("runs each task in files of its own and says how each ended; run again it does nothing", async () => {
    const workspace = batchWorkspace({
      ...small,
      "a.txt": "one\n",
      ".env": "SERVICE_TOKEN=canary-7d1f0c9a3b52\n",
    });
    const quick = shellScript(workspace, "quick", "echo two > a.txt; git log --oneline --all; git remote");
    const fixed = script(workspace, "fixed", [
      { calls: [{ bash: { command: "echo good > value.txt" } }] },
      { text: "It is good." },
    ]);
    writeTasks(workspace, [
      { id: "said", ...auto, ...quick },
      { id: "fixed", repo: "project", check: smallCheck, ...fixed },
      { id: "failed", repo: "project", check: smallCheck, max_attempts: 1, ...quick },
      { id: "limited", ...auto, max_turns: 1, ...quick },
      { id: "blocked", repo: "project", prompt: "Do it.", ...quick },
      { id: "set-up", ...auto, setup: "echo no way $(cat .env); exit 3", ...quick },
      { id: "nowhere", ...auto, ref: "v9", ...quick },
    ]);
    const { code, stdout, stderr } = await run(workspace, "--jobs", "2");
    expect(states(workspace)).toEqual({
      said: "done",
      fixed: "done",
      failed: "failed",
      limited: "limit",
      blocked: "blocked",
      "set-up": "error",
      nowhere: "error",
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^said +done +2 +\$0\.\d{4} .*1 file changed$/m);
    expect(stdout).toMatch(/^set-up +error .*setup failed \(exit 3\): no/m);
    expect(stdout).toMatch(/^7 tasks: 2 done, .*; \d+ calls, \$0\.\d+/m);
    expect(stderr).toMatch(/^said: started, .*project at [0-9a-f]{10}$/m);
    // The value of a task's own .env is in no line, on the screen or in the file.
    const setUp = results(workspace).find(({ id }) => id === "set-up");
    expect(setUp?.errors[0]).toMatch(/no way SERVICE_TOKEN=\S+$/);
    expect(`${JSON.stringify(results(workspace))}${stdout}${stderr}`).not.toContain("canary-7d1f0c9a3b52");
    expect(patchOf(workspace, "fixed")).toContain("+good");
    expect(git(join(workspace.cwd, "project"), "status", "--short")).toBe("");
    expect(readFileSync(join(workspace.cwd, "project/a.txt"), "utf8")).toBe("one\n");
    const before = results(workspace).length;
    const again = await run(workspace, "--jobs", "2");
    expect(again.stderr).toMatch(/7 tasks, 5 already finished/);
    expect(results(workspace).length).toBe(before + 2);
  });

  test("lines of tasks and results are as their schemas say", async () => {
    const workspace = batchWorkspace();
    const quick = shellScript(workspace, "quick", "echo two > a.txt");
    const tasks = [
      { id: "a", ...auto, ...quick, allow: ["bash(ls:*)"], max_time: 60 },
      { id: "b", ...auto, ref: "v9", ...quick },
    ];
    writeTasks(workspace, tasks);
    await run(workspace);
    for (const [name, lines] of [
      ["tasks", tasks],
      ["results", results(workspace)],
    ] as const) {
      const { stdout } = await sawtooth(workspace, ["schema", name]);
      const check = new Ajv2020({ strict: false }).compile(JSON.parse(stdout) as object);
      for (const line of lines) expect(check(line), JSON.stringify(check.errors)).toBe(true);
      expect(check({ id: 3 })).toBe(false);
    }
  });

  test("a task that changed, and with --retry one that failed, is run again, and said", async () => {
    const workspace = batchWorkspace();
    const quick = shellScript(workspace, "quick", "true");
    const one = { id: "one", ...auto, ...quick };
    const two = { id: "two", ...auto, max_turns: 1, ...quick };
    writeTasks(workspace, [one, two]);
    await run(workspace);
    expect(states(workspace)).toEqual({ one: "done", two: "limit" });
    // Another order of keys is no change.
    writeTasks(workspace, [Object.fromEntries(Object.entries(one).reverse()), { ...two, max_turns: 9 }]);
    const changed = await run(workspace);
    expect(changed.stderr).toContain("two: running again (its line changed)");
    expect(changed.code).toBe(0);
    expect(
      results(workspace)
        .map(({ run: folder }) => folder)
        .toSorted(),
    ).toEqual(["tasks/one/run-1", "tasks/two/run-1", "tasks/two/run-2"]);
    writeTasks(workspace, [one, two]);
    await run(workspace);
    const retried = await run(workspace, "--retry");
    expect(retried.stderr).toContain("two: running again (limit: 1 of 1 model calls were made)");
    expect(results(workspace)).toHaveLength(5);
  });

  test("parts for several machines are disjoint, and --summary adds them up", async () => {
    const workspace = batchWorkspace();
    const quick = shellScript(workspace, "quick", "true");
    writeTasks(
      workspace,
      [1, 2, 3, 4, 5].map((n) => ({ id: `t${n}`, ...auto, ...quick })),
    );
    for (const part of ["1/2", "2/2"]) {
      const { code } = await sawtooth(workspace, [...words.slice(0, 3), `out${part[0]}`, "--shard", part]);
      expect(code).toBe(0);
    }
    const ids = (out: string) =>
      results(workspace, out)
        .map(({ id }) => id)
        .sort();
    expect([ids("out1"), ids("out2")]).toEqual([
      ["t1", "t3", "t5"],
      ["t2", "t4"],
    ]);
    const { stdout, code } = await sawtooth(workspace, [
      "batch",
      "--summary",
      "out1",
      "out2",
      "--output-format",
      "json",
    ]);
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 0,
      type: "batch",
      tasks: 5,
      done: 5,
      states: { done: 5 },
      num_turns: 10,
    });
  });
});

describe("ceilings of a batch", () => {
  const task = { permission_mode: "auto", prompt: "Do it." };

  test("dollars: a task that could pass them is not begun, and with more of them it goes on", async () => {
    const workspace = batchWorkspace();
    const quick = shellScript(workspace, "quick", "true");
    writeTasks(
      workspace,
      [1, 2, 3, 4].map((n) => ({ id: `t${n}`, ...task, ...quick })),
    );
    // A run costs about half a cent: two fit, whatever runs beside them.
    const limits = ["--task-budget-usd", "0.02", "--max-budget-usd"];
    const { code, stdout, stderr } = await run(workspace, ...limits, "0.0275", "--jobs", "4");
    expect(code).toBe(3);
    expect(stdout).toMatch(/^4 tasks: 2 done, 2 not run/m);
    expect(stderr).toContain("the next task could exceed --max-budget-usd; 2 tasks not started");
    expect((await run(workspace, ...limits, "1")).code).toBe(0);
  });

  test("dollars need a ceiling for each task", async () => {
    const workspace = batchWorkspace();
    writeTasks(workspace, [
      { id: "a", ...task, max_budget_usd: 1 },
      { id: "b", ...task },
    ]);
    const { code, stderr } = await run(workspace, "--max-budget-usd", "5");
    expect(code).toBe(2);
    expect(stderr).toContain("tasks.jsonl line 2: with --max-budget-usd each task needs a ceiling");
  });

  test("a key that is refused ends the batch, exit 4", async () => {
    const server = await startMockServer({ turns: [] });
    onTestFinished(() => server.close());
    const workspace = batchWorkspace({ "a.txt": "one\n" }, server.url);
    writeTasks(
      workspace,
      [1, 2, 3].map((n) => ({ id: `t${n}`, ...task })),
    );
    const { ANTHROPIC_API_KEY: _, ...env } = workspace.env;
    const { code, stderr } = await sawtooth({ ...workspace, env }, [...words, "--jobs", "1"]);
    expect(code).toBe(4);
    expect(stderr).toContain("2 tasks not started");
    expect(results(workspace).map(({ state }) => state)).toEqual(["credentials"]);
  });
});
