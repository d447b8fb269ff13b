import { appendFileSync, existsSync, readdirSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { start, type Workspace } from "../../support/sawtooth.ts";
import { until } from "../../support/until.ts";
import {
  auto,
  batchWorkspace,
  family,
  patchOf,
  results,
  run,
  shellScript,
  six,
  states,
  waiting,
  words,
  write,
  writeTasks,
} from "./batch-workspace.ts";

describe("a batch that is stopped", () => {
  test("by Ctrl-C: nothing of it runs on, results are kept, exit 130, and it can be resumed", async () => {
    const workspace = batchWorkspace();
    six(workspace);
    const { child, ended, stderr } = start(workspace, [...words, "--jobs", "2"]);
    await until(waiting(workspace));
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    expect(code).toBe(130);
    expect(family(workspace)).toEqual([]);
    expect(stdout).toMatch(/^6 tasks: 2 interrupted, 1 done, 3 not run/m);
    expect(stderr()).toContain(
      "stopped by SIGINT; 3 tasks not started (resume with: sawtooth batch tasks.jsonl --out out --jobs 2)",
    );
    await goOn(workspace, 8);
  });

  test("by kill -9: its tasks end too, what they cost counts, and it can be resumed", async () => {
    const workspace = batchWorkspace();
    six(workspace);
    const { child, ended } = start(workspace, [...words, "--jobs", "2"]);
    await until(waiting(workspace));
    child.kill("SIGKILL");
    await ended;
    await until(() => family(workspace).length === 0);
    expect(states(workspace)).toEqual({ t2: "done" });
    // As a power cut would leave it.
    appendFileSync(join(workspace.cwd, "out/results.jsonl"), '{"id":"t9","ha');
    await goOn(workspace, 8);
    const killed = results(workspace).filter(({ errors }) => errors[0] === "the batch was killed");
    expect(killed.map(({ id, num_turns }) => [id, num_turns])).toEqual([
      ["t1", 1],
      ["t3", 1],
    ]);
  });

  /** Runs the rest; `runs`: how many there are at the end. */
  async function goOn(workspace: Workspace, runs: number): Promise<void> {
    rmSync(join(workspace.cwd, "hold"));
    const { code, stderr } = await run(workspace, "--jobs", "2");
    expect(stderr).toMatch(/^t1: running again \(interrupted/m);
    expect(code).toBe(0);
    expect(Object.values(states(workspace))).toEqual(Array(6).fill("done"));
    expect(results(workspace)).toHaveLength(runs);
    for (const id of ["t1", "t6"]) expect(patchOf(workspace, id)).toContain("+b");
    expect(readdirSync(join(workspace.cwd, "out/tasks/t1"))).toEqual(["run-1", "run-2"]);
    for (const name of ["run-1", "run-2"])
      expect(existsSync(join(workspace.cwd, "out/tasks/t1", name, "tree"))).toBe(false);
  }

  test("a second one in the same folder is refused while the first runs", async () => {
    const workspace = batchWorkspace();
    six(workspace);
    const { child, ended } = start(workspace, [...words, "--jobs", "2"]);
    await until(waiting(workspace));
    const { code, stderr } = await run(workspace);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `sawtooth: out is in use by process ${child.pid} on ${hostname()}: wait for it to end, or choose another --out\n`,
    });
    child.kill("SIGTERM");
    expect((await ended).code).toBe(143);
  });

  test("a task whose process is killed costs only itself", async () => {
    const workspace = batchWorkspace();
    const quick = shellScript(workspace, "quick", "true");
    const deadly = shellScript(workspace, "deadly", "kill -9 $PPID; sleep 5");
    writeTasks(workspace, [
      { id: "deadly", ...auto, ...deadly },
      { id: "fine", ...auto, ...quick },
    ]);
    const { code } = await run(workspace, "--jobs", "1");
    expect(code).toBe(1);
    expect(states(workspace)).toEqual({ deadly: "error", fine: "done" });
    expect(results(workspace)[0]?.errors[0]).toContain(
      "the process ended without a result (killed by SIGKILL)",
    );
    expect(results(workspace)[0]?.num_turns).toBe(1);
    expect(family(workspace)).toEqual([]);
  });

  test("time: what runs is stopped, and it can be resumed", async () => {
    const workspace = batchWorkspace();
    six(workspace);
    // Its hours have passed at a signal.
    write(
      workspace,
      "hours.mjs",
      `const later = globalThis.setTimeout;
      globalThis.setTimeout = (run, ms, ...given) => {
        if (ms > 8 * 3_600_000) process.on("SIGUSR2", () => run(...given));
        return later(run, ms, ...given);
      };`,
    );
    const env = { NODE_OPTIONS: `--import=${join(workspace.cwd, "hours.mjs")}` };
    const { child, ended } = start(workspace, [...words, "--jobs", "2", "--max-time", "9h"], { env });
    await until(waiting(workspace));
    child.kill("SIGUSR2");
    const { code, stderr } = await ended;
    expect(code).toBe(3);
    expect(stderr).toContain("the batch reached its time limit");
    expect(states(workspace).t1).toBe("interrupted");
    expect(family(workspace)).toEqual([]);
  });
});
