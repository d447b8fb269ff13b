/** Examples of docs/batch.md and examples/batch/, run as far as they can be without their engines. */

import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { parseCommand } from "../../../src/cli/arguments/arguments.ts";
import { sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { inOneProcess } from "../../support/size.ts";
import { git } from "../fix/fix-workspace.ts";
import { batchWorkspace, results } from "./batch-workspace.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const examples = join(root, "examples/batch");
const text = (path: string) => readFileSync(join(root, path), "utf8");

type Container = {
  args: [string];
  env: { name: string; value?: string }[];
  volumeMounts: { mountPath: string }[];
};
type Job = {
  kind: string;
  spec: { completions: number; completionMode: string; template: { spec: { containers: [Container] } } };
};
type Step = { run?: string; uses?: string };
type Workflow = { jobs: Record<"part" | "together", { steps: Step[]; env: Record<string, string> }> };

const job = parseAllDocuments(text("examples/batch/job.yaml"))
  .map((one) => one.toJS() as Job)
  .find(({ kind }) => kind === "Job");
const workflow = parse(text("examples/batch/workflow.yml")) as Workflow;

/** A workspace with a program `sawtooth` on its path. */
function programWorkspace(): Workspace {
  const workspace = tempWorkspace();
  const programs = join(workspace.home, "bin");
  mkdirSync(programs);
  const program = `#!/bin/sh\nexec "${process.execPath}" "${root}dist/main.js" "$@"\n`;
  writeFileSync(join(programs, "sawtooth"), program, { mode: 0o755 });
  workspace.env.PATH = `${programs}:${workspace.env.PATH}`;
  return workspace;
}

function shell(workspace: Workspace, command: string, env: object = {}) {
  return spawnSync("bash", ["-ec", command], {
    cwd: workspace.cwd,
    env: { ...workspace.env, ...env },
    encoding: "utf8",
  });
}

/** The words of each `sawtooth` in a script, as a shell would split them. */
function commandsIn(script: string): string[][] {
  const joined = script.replaceAll(/\\\n/g, " ");
  return [...joined.matchAll(/(?:^|exec |\$ )sawtooth ((?:"[^"]*"|[^|>\n&])*)/gm)].map((match) =>
    (match[1]?.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', "")),
  );
}

test("the tasks of examples/batch run for real, all are done, and a second run does nothing", {
  timeout: 300_000,
}, async () => {
  const workspace = tempWorkspace();
  const run = () =>
    sawtooth(workspace, ["batch", join(examples, "tasks.jsonl"), "--out", "out", "--jobs", "2"], {
      env: inOneProcess,
    });
  const { code, stdout } = await run();
  expect(stdout).toMatch(/^4 tasks: 4 done;/m);
  expect(code).toBe(0);
  expect((await run()).stderr).toContain("4 tasks, 4 already finished");
  expect(results(workspace)).toHaveLength(4);
  expect(git(root, "status", "--short", "examples")).not.toContain("out");
});

test("every command that is shown is one that the program takes", () => {
  const shown = [
    text("docs/batch.md"),
    text("examples/batch/swebench.py").replaceAll(/^ +/gm, ""),
    text("examples/batch/slurm.sh"),
    text("examples/batch/summary.yaml")
      .replaceAll(/ \|\| test.*/g, "")
      .replaceAll('args: ["', "exec "),
    ...Object.values(workflow.jobs).flatMap(({ steps }) => steps.map(({ run = "" }) => run)),
    job?.spec.template.spec.containers[0].args[0] ?? "",
  ].flatMap(commandsIn);
  expect(shown.length).toBeGreaterThan(6);
  for (const words of shown) {
    const filled = words.map((word) =>
      word.replaceAll(/\$\(\(.*\)\)\/\$SHARDS|\$SHARD|\$part/g, "1/4").replace("$SLURM_CPUS_PER_TASK", "2"),
    );
    expect(() => parseCommand(filled), words.join(" ")).not.toThrow();
  }
});

describe("the parts", () => {
  /** The example's tasks that need no tools but node's. */
  function tasksIn(workspace: Workspace, folder: string): void {
    const tasks = ["a", "b"].map((id) => ({ id, prompt: "Do it.", model: "scripted/s.json" }));
    mkdirSync(join(workspace.cwd, folder), { recursive: true });
    const lines = tasks.map((task) => JSON.stringify(task)).join("\n");
    writeFileSync(join(workspace.cwd, folder, "tasks.jsonl"), lines);
    writeFileSync(join(workspace.cwd, folder, "s.json"), JSON.stringify({ turns: [{ text: "Done." }] }));
  }

  test("of the Job: an index runs its part, and there are as many as it divides by", () => {
    const container = job?.spec.template.spec.containers[0];
    const shards = container?.env.find(({ name }) => name === "SHARDS")?.value;
    expect(String(job?.spec.completions)).toBe(shards);
    expect(job?.spec.completionMode).toBe("Indexed");
    const workspace = programWorkspace();
    tasksIn(workspace, ".");
    const command = (container?.args[0] ?? "").replaceAll("/results", "results");
    for (const index of ["0", "1"]) {
      const { status, stderr } = shell(workspace, command, { JOB_COMPLETION_INDEX: index, SHARDS: "2" });
      expect({ status, stderr }).toMatchObject({ status: 0 });
    }
    const ids = ["results/part-0", "results/part-1"].map((out) =>
      results(workspace, out).map(({ id }) => id),
    );
    expect(ids).toEqual([["a"], ["b"]]);
  });

  test("of the workflow: each is run, and the last job puts them together", () => {
    const workspace = programWorkspace();
    tasksIn(workspace, "examples/batch");
    const command = workflow.jobs.part.steps.find(({ run }) => run?.startsWith("sawtooth batch"))?.run;
    for (const part of ["1/2", "2/2"]) {
      const { status, stderr } = shell(workspace, command ?? "false", {
        SHARD: part,
        OUT: `parts/part-${part[0]}`,
      });
      expect({ status, stderr }).toMatchObject({ status: 0 });
    }
    const together = workflow.jobs.together.steps.find(({ run }) => run?.includes("--summary"))?.run;
    const { status, stdout } = shell(workspace, together ?? "false", { GITHUB_STEP_SUMMARY: "summary.md" });
    expect({ status, stdout }).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("2 tasks: 2 done"),
    });
    expect(results(workspace, ".").map(({ id }) => id)).toEqual(["a", "b"]);
  });
});

/** Python itself, without the scripts that may stand before it on the path and cost more than its start. */
const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).stdout?.trim();

describe.runIf(Boolean(python))("SWE-bench by batch alone", () => {
  test("instances become tasks, and patches become predictions", async () => {
    const workspace = batchWorkspace();
    const url = `file://${workspace.cwd}/project`;
    const commit = git(join(workspace.cwd, "project"), "rev-parse", "HEAD").trim();
    const row = {
      instance_id: "a__b-1",
      repo: "a/b",
      base_commit: commit,
      problem_statement: "It is wrong.",
    };
    writeFileSync(join(workspace.cwd, "instances.jsonl"), JSON.stringify(row));
    const program = join(examples, "swebench.py");
    const made = execFileSync(python, [program, "tasks", "instances.jsonl"], { cwd: workspace.cwd });
    const task = JSON.parse(String(made)) as { repo: string; ref: string };
    expect(task).toMatchObject({ id: "a__b-1", repo: "https://github.com/a/b.git", ref: commit });
    writeFileSync(join(workspace.cwd, "tasks.jsonl"), JSON.stringify({ ...task, repo: url }));
    const turns = [{ text: "x", calls: [{ bash: { command: "echo two > a.txt" } }] }, { text: "Done." }];
    writeFileSync(join(workspace.cwd, "s.json"), JSON.stringify({ turns }));
    const words = ["batch", "tasks.jsonl", "--out", "out", "--permission-mode", "auto"];
    await sawtooth(workspace, [...words, "--model", "scripted/s.json"]);
    const told = execFileSync(python, [program, "predictions", "out"], { cwd: workspace.cwd });
    expect(JSON.parse(String(told))).toEqual({
      instance_id: "a__b-1",
      model_name_or_path: expect.stringContaining("sawtooth scripted/"),
      model_patch: expect.stringContaining("+two\n"),
    });
  });

  const instance = { instance_id: "a", repo: "a/b", base_commit: "c", problem_statement: "It is wrong." };
  const result = { id: "a", model: "m", patch: null };
  const { repo: _, ...withoutRepo } = instance;
  const whole = JSON.stringify(instance);
  test.each([
    ["tasks", `${whole}\n${whole.slice(0, 40)}`, "in, line 2: not complete JSON; is the file cut off?"],
    ["tasks", `\n${whole}\n[1]\n`, "in, line 3: not a JSON object"],
    ["tasks", JSON.stringify(withoutRepo), "in, line 1: there is no repo"],
    ["tasks", JSON.stringify({ ...instance, base_commit: 7 }), "in, line 1: base_commit is not a text"],
    ["tasks", Buffer.from([0xff, 0x0a]), "cannot read in: it is not UTF-8"],
    ["tasks", undefined, "cannot read in: No such file or directory"],
    [
      "predictions",
      `${JSON.stringify(result)}\n{"id":`,
      "in/results.jsonl, line 2: not complete JSON; is the file cut off?",
    ],
    ["predictions", '{"id":"a","model":null}', "in/results.jsonl, line 1: there is no patch"],
    [
      "predictions",
      JSON.stringify({ ...result, patch: 3 }),
      "in/results.jsonl, line 1: patch is not a text or null",
    ],
    [
      "predictions",
      JSON.stringify({ ...result, patch: "gone.patch" }),
      "in/results.jsonl, line 1: cannot read its patch in/gone.patch: No such file or directory",
    ],
    ["predictions", undefined, "cannot read in/results.jsonl: No such file or directory"],
  ])("%s: a line or file that cannot be used is named in one line (%#)", (command, content, said) => {
    const workspace = programWorkspace();
    const file = join(workspace.cwd, command === "tasks" ? "in" : "in/results.jsonl");
    mkdirSync(dirname(file), { recursive: true });
    if (content !== undefined) writeFileSync(file, content);
    const { status, stderr } = swebench(workspace, command, "in");
    expect({ status, stderr }).toEqual({ status: 2, stderr: `swebench.py: ${said}\n` });
  });

  test.each([[], ["tasks"], ["tasks", "a", "b"], ["predictions"], ["nonsense", "x"]])(
    "words that make no sense get the usage in one line (%#)",
    (...words) => {
      const { status, stderr } = swebench(programWorkspace(), ...words);
      expect(status).toBe(2);
      expect(stderr).toMatch(/^swebench\.py: usage: .*\n$/);
    },
  );

  function swebench(workspace: Workspace, ...words: string[]) {
    const program = join(examples, "swebench.py");
    return spawnSync(python, [program, ...words], { cwd: workspace.cwd, encoding: "utf8" });
  }
});

/** Harbor's classes as far as the adapter uses them: commands are run here, and files are uploaded to here. */
const harborStub = `
import shutil, subprocess
def with_prompt_template(function): return function
class BaseInstalledAgent:
    def __init__(self, logs_dir, model_name): self.logs_dir, self.model_name = logs_dir, model_name
    async def exec_as_root(self, environment, command, env=None): environment.run(command, env)
    async def exec_as_agent(self, environment, command, env=None): environment.run(command, env)
`;
const trial = `
import asyncio, json, os, pathlib, subprocess, sys, types
sys.path[:0] = [os.getcwd(), sys.argv[1]]
from sawtooth_agent import SawtoothAgent
class Environment:
    async def upload_file(self, source, target): self.uploaded = (source, target)
    def run(self, command, env):
        if "tar -xzf" in command: return
        subprocess.run(["bash", "-c", command], check=True, env={**os.environ, **(env or {})})
environment, context = Environment(), types.SimpleNamespace()
agent = SawtoothAgent(pathlib.Path("logs"), "scripted/s.json")
agent.logs = "logs"
async def main():
    await agent.install(environment)
    await agent.run("Say 'hello'; it's $HOME.", environment, context)
    agent.populate_context_post_run(context)
asyncio.run(main())
print(json.dumps(vars(context)))
`;

import { tempWorkspace } from "../../support/served.ts";

describe.runIf(Boolean(python))("the agent of Harbor", () => {
  test("runs the task, and gives tokens, dollars and the way it ended", () => {
    const workspace = programWorkspace();
    const turns = [{ expect: ["Say 'hello'; it's \\$HOME\\."], text: "Hello." }];
    writeFileSync(join(workspace.cwd, "s.json"), JSON.stringify({ turns }));
    const folder = join(workspace.cwd, "harbor/agents/installed");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "base.py"), harborStub);
    const { status, stdout, stderr } = spawnSync(python, ["-B", "-c", trial, join(examples, "harbor")], {
      cwd: workspace.cwd,
      env: { ...workspace.env, SAWTOOTH_BUNDLE: "sawtooth.tar.gz" },
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      n_input_tokens: expect.any(Number),
      n_output_tokens: expect.any(Number),
      cost_usd: expect.any(Number),
      metadata: { subtype: "success", num_turns: 1 },
    });
    expect(readdirSync(join(workspace.cwd, "logs/sessions"))).toHaveLength(1);
  });
});
