/** SWE-bench from its file to a verdict: three instances of two repositories, whose tests really run. */

import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { sawtooth, type Workspace } from "../../support/sawtooth.ts";
import { tempWorkspace } from "../../support/served.ts";
import { git } from "../fix/fix-workspace.ts";

const program = fileURLToPath(new URL("../../../examples/batch/swebench.py", import.meta.url));
const python = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], {
  encoding: "utf8",
}).stdout?.trim();

/** A word that only the tests of the answer hold. */
const secret = "onlyInTheTestPatch";

type Instance = {
  instance_id: string;
  repo: string;
  base_commit: string;
  problem_statement: string;
  patch: string;
  test_patch: string;
  FAIL_TO_PASS: string[];
  PASS_TO_PASS: string[];
};
type Step = { file: string; wrong: string; right: string; tests: string; name: string };

function write(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

const testsOf = (lines: string[]) =>
  `import unittest\nimport code_here\n\n\nclass Tests(unittest.TestCase):\n${lines.join("\n\n")}\n`;
const testOf = (name: string, body: string) =>
  `    def test_${name}(self):\n        self.assertEqual(${body})`;

/** Makes a repository in which each step has a commit with the error, and a later one with the answer and its tests. */
function repositoryOf(folder: string, name: string, steps: Step[]): Instance[] {
  const root = join(folder, `${name}.git`);
  const kept = [testOf("old", "code_here.old(), 1")];
  write(root, "code_here.py", "def old():\n    return 1\n");
  write(root, "test_code.py", testsOf(kept));
  git(root, "init", "--quiet");
  const commit = (message: string) => {
    git(root, "add", "--all");
    git(root, "commit", "--quiet", "-m", message);
    return git(root, "rev-parse", "HEAD").trim();
  };
  commit("start");
  return steps.map((step, index) => {
    appendFileSync(join(root, step.file), step.wrong);
    const base = commit(`step ${index}`);
    const text = readFileSync(join(root, step.file), "utf8");
    writeFileSync(join(root, step.file), text.replace(step.wrong, step.right));
    kept.push(`${testOf(step.name, step.tests)}  # ${secret}-${step.name}`);
    write(root, "test_code.py", testsOf(kept));
    const answer = commit(`answer ${index}`);
    return {
      instance_id: `${name.replace("/", "__")}-${index + 1}`,
      repo: name,
      base_commit: base,
      problem_statement: `${step.name} gives a wrong result.`,
      patch: git(root, "diff", base, answer, "--", step.file),
      test_patch: git(root, "diff", base, answer, "--", "test_code.py"),
      FAIL_TO_PASS: [`test_code.Tests.test_${step.name}`],
      PASS_TO_PASS: ["test_code.Tests.test_old"],
    };
  });
}

function swebench(workspace: Workspace, ...words: string[]): string {
  return execFileSync(python ?? "", [program, ...words], { cwd: workspace.cwd, encoding: "utf8" });
}

/** Does what the grader does: the commit, the prediction, the tests of the answer, and each test by its name. */
function grade(folder: string, instance: Instance, patch: string): Record<string, boolean> {
  const root = join(folder, `graded-${instance.instance_id}`);
  git(folder, "clone", "--quiet", join(folder, `${instance.repo}.git`), root);
  git(root, "checkout", "--quiet", instance.base_commit);
  for (const diff of [patch, instance.test_patch])
    if (diff !== "") execFileSync("git", ["apply", "-"], { cwd: root, input: diff });
  return Object.fromEntries(
    [...instance.FAIL_TO_PASS, ...instance.PASS_TO_PASS].map((name) => {
      const { status } = spawnSync(python ?? "", ["-B", "-m", "unittest", name], { cwd: root });
      return [name, status === 0];
    }),
  );
}

/** Three instances of two repositories. */
function threeInstances(folder: string): Instance[] {
  const add = (name: string, wrong: string, right: string): Step => ({
    ...{ name, file: "code_here.py", tests: `code_here.${name}(2, 3), 5` },
    wrong: `\n\ndef ${name}(a, b):\n    return ${wrong}\n`,
    right: `\n\ndef ${name}(a, b):\n    return ${right}\n`,
  });
  return [
    ...repositoryOf(folder, "own/calc", [add("plus", "a - b", "a + b"), add("largest", "5 - a", "a + b")]),
    ...repositoryOf(folder, "own/other", [add("sum_of", "a", "a + b")]),
  ];
}

/** Writes the tasks with a model for each: it looks for the answer, and repairs the first two. */
function writeScripted(folder: string, tasks: string): void {
  const look = `grep -r ${secret} . ; git log --all --oneline; git grep ${secret} $(git rev-list --all); echo searched`;
  const repairs = ["sed -i 's/a - b/a + b/' code_here.py", "sed -i 's/5 - a/a + b/' code_here.py", "true"];
  const lines = tasks
    .trim()
    .split("\n")
    .map((line, index) => {
      const task = JSON.parse(line) as { id: string };
      const turns = [
        { text: "I look.", calls: [{ bash: { command: look } }] },
        { text: "I repair.", calls: [{ bash: { command: repairs[index] } }] },
        { text: "Done." },
      ];
      writeFileSync(join(folder, `${task.id}.json`), JSON.stringify({ turns }));
      return JSON.stringify({ ...task, model: `scripted/${task.id}.json` });
    });
  writeFileSync(join(folder, "tasks.jsonl"), lines.join("\n"));
}

describe.runIf(Boolean(python))("SWE-bench from its file to a verdict", () => {
  test("tasks, predictions, and tests that fail before and pass after; the test patch reaches no agent", {
    timeout: 300_000,
  }, async () => {
    const workspace = tempWorkspace();
    const folder = workspace.cwd;
    const instances = threeInstances(folder);
    // The third one is not solved: its prediction is empty.
    const lines = instances.map((one) =>
      JSON.stringify({ ...one, FAIL_TO_PASS: JSON.stringify(one.FAIL_TO_PASS) }),
    );
    writeFileSync(join(folder, "instances.jsonl"), lines.join("\n"));
    // Git's own way to take repositories from elsewhere.
    const elsewhere = `[url "file://${folder}/"]\n\tinsteadOf = https://github.com/\n`;
    writeFileSync(join(workspace.home, ".gitconfig"), elsewhere);

    const tasks = swebench(workspace, "tasks", "instances.jsonl");
    expect(tasks).not.toContain(secret);
    for (const name of ["test_patch", "FAIL_TO_PASS", "PASS_TO_PASS", '"patch"'])
      expect(tasks).not.toContain(name);
    writeScripted(folder, tasks);
    const words = ["batch", "tasks.jsonl", "--out", "out", "--permission-mode", "auto"];
    const { code, stderr } = await sawtooth(workspace, words);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const streams = instances.map(({ instance_id: id }) =>
      readFileSync(join(folder, "out/tasks", id, "run-1/stream.jsonl"), "utf8"),
    );
    for (const [index, stream] of streams.entries()) {
      expect(stream).toContain("searched");
      const own = instances[index]?.FAIL_TO_PASS[0]?.replace(/.*test_/, "");
      expect(stream).not.toContain(`${secret}-${own}`);
      expect(stream).not.toContain("answer 1");
    }

    const told = swebench(workspace, "predictions", "out").trim().split("\n");
    const predictions = told.map(
      (line) => JSON.parse(line) as { instance_id: string; model_name_or_path: string; model_patch: string },
    );
    const verdicts = instances.map((instance) => {
      const prediction = predictions.find(({ instance_id }) => instance_id === instance.instance_id);
      expect(Object.keys(prediction ?? {}).sort()).toEqual([
        "instance_id",
        "model_name_or_path",
        "model_patch",
      ]);
      const before = Object.values(
        grade(join(folder), { ...instance, instance_id: `${instance.instance_id}-before` }, ""),
      );
      expect(before).toEqual([false, true]);
      return Object.values(grade(folder, instance, prediction?.model_patch ?? ""));
    });
    expect(verdicts).toEqual([
      [true, true],
      [true, true],
      [false, true],
    ]);
  });
});
