/** Batches that share folders with others, and disks that fail them. */

import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { start, type Workspace } from "../../support/sawtooth.ts";
import { until } from "../../support/until.ts";
import { git } from "../fix/fix-workspace.ts";
import {
  auto,
  batchWorkspace,
  patchOf,
  results,
  run,
  shellScript,
  states,
  words,
  write,
  writeTasks,
} from "./batch-workspace.ts";

/** Two tasks on a repository by URL, at its commit. */
function byUrl(workspace: Workspace): string {
  const project = join(workspace.cwd, "project");
  const ref = git(project, "rev-parse", "HEAD").trim();
  const model = shellScript(workspace, "work", "echo two > a.txt");
  const task = { ...auto, repo: `file://${project}`, ref, ...model };
  writeTasks(
    workspace,
    ["a", "b"].map((id) => ({ id, ...task })),
  );
  return project;
}

test("a commit that is in the shared mirror is not asked for again, by any batch", async () => {
  const workspace = batchWorkspace();
  const project = byUrl(workspace);
  const part = (number: number) =>
    run(workspace, "--mirrors", "mirrors", "--out", `out-${number}`, "--shard", `${number}/2`);
  expect((await part(1)).code).toBe(0);
  renameSync(project, `${project}-gone`);
  expect((await part(2)).code).toBe(0);
  expect(results(workspace, "out-2").map(({ id, state }) => [id, state])).toEqual([["b", "done"]]);
  expect(readdirSync(join(workspace.cwd, "mirrors"))).toHaveLength(1);
  expect(existsSync(join(workspace.cwd, "out-2/repos"))).toBe(false);
});

test("a fetch that was killed leaves no lock that stops the next one", async () => {
  const workspace = batchWorkspace();
  byUrl(workspace);
  expect((await run(workspace, "--mirrors", "mirrors", "--shard", "1/2")).code).toBe(0);
  const [name = ""] = readdirSync(join(workspace.cwd, "mirrors"));
  const mirror = join(workspace.cwd, "mirrors", name, "repo.git");
  for (const file of [
    "HEAD.lock",
    "config.lock",
    "packed-refs.lock",
    "refs/heads/master.lock",
    "refs/heads/main.lock",
  ])
    writeFileSync(join(mirror, file), "");
  // Another commit: it must be fetched.
  const project = join(workspace.cwd, "project");
  git(project, "commit", "--quiet", "--allow-empty", "-m", "next");
  byUrl(workspace);
  expect((await run(workspace, "--mirrors", "mirrors")).code).toBe(0);
  expect(execFileSync("find", [mirror, "-name", "*.lock"], { encoding: "utf8" })).toBe("");
});

test("the files of tasks may lie elsewhere; nothing of them stays, not even what a killed batch left", async () => {
  const workspace = batchWorkspace();
  const trees = join(workspace.cwd, "trees");
  const place = shellScript(workspace, "place", "pwd > place.txt");
  writeTasks(workspace, [{ id: "one", ...auto, ...place }]);
  mkdirSync(trees);
  expect((await run(workspace, "--trees", "trees")).code).toBe(0);
  const [, machine] =
    /trees\/sawtooth-([0-9a-f]{12})\.\d+\.\d+\/one-run-1/.exec(patchOf(workspace, "one")) ?? [];
  expect(machine).toBeDefined();
  expect(readdirSync(trees)).toEqual([]);
  for (const name of [`sawtooth-${machine}.999999999.1`, `sawtooth-${"0".repeat(12)}.1.1`, "other"])
    mkdirSync(join(trees, name, "one-run-1"), { recursive: true });
  expect((await run(workspace, "--trees", "trees")).code).toBe(0);
  expect(readdirSync(trees).sort()).toEqual(["other", `sawtooth-${"0".repeat(12)}.1.1`]);
  const refused = await run(workspace, "--trees", "trees", "--keep-trees");
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("leave --trees away")]);
});

test("a result that cannot be written is kept until it can: it may be all that is left of much money", async () => {
  const workspace = batchWorkspace();
  const file = join(workspace.cwd, "out/results.jsonl");
  const block = shellScript(workspace, "block", `echo two > a.txt; mkdir ${file}`);
  writeTasks(workspace, [{ id: "one", ...auto, ...block }]);
  const { ended, stderr } = start(workspace, words);
  await until(() => stderr().includes("trying again for"));
  rmdirSync(file);
  expect((await ended).code).toBe(0);
  expect(states(workspace)).toEqual({ one: "done" });
  expect(results(workspace)).toHaveLength(1);
});

test("a task that had ended when its batch was killed is not run again", async () => {
  const workspace = batchWorkspace();
  const file = join(workspace.cwd, "out/results.jsonl");
  const block = shellScript(
    workspace,
    "block",
    `echo run >> ${workspace.cwd}/runs; echo two > a.txt; mkdir ${file}`,
  );
  writeTasks(workspace, [{ id: "one", ...auto, ...block }]);
  const { child, ended, stderr } = start(workspace, words);
  await until(() => stderr().includes("trying again for"));
  child.kill("SIGKILL");
  await ended;
  rmdirSync(file);
  expect((await run(workspace)).code).toBe(0);
  expect(results(workspace)).toMatchObject([
    { id: "one", state: "done", changed_files: ["a.txt"], num_turns: 2 },
  ]);
  expect(patchOf(workspace, "one")).toContain("+two");
  expect(readFileSync(join(workspace.cwd, "runs"), "utf8")).toBe("run\n");
});

test("a task whose agent had ended when its batch was killed is not run again: its patch is taken then", async () => {
  const workspace = batchWorkspace();
  const { cwd } = workspace;
  // This git stands still where the files are compared.
  write(
    workspace,
    "bin/git",
    `#!/bin/sh\ncase "$GIT_INDEX_FILE" in *.states/*) [ ! -e ${cwd}/hold ] || { touch ${cwd}/held; sleep 60; };; esac\nPATH=${process.env.PATH} exec git "$@"\n`,
  );
  chmodSync(join(cwd, "bin/git"), 0o755);
  const model = shellScript(
    workspace,
    "work",
    `echo run >> ${cwd}/runs; echo two > a.txt; touch ${cwd}/hold`,
  );
  writeTasks(workspace, [{ id: "one", ...auto, ...model }]);
  const env = { PATH: `${join(cwd, "bin")}:${process.env.PATH}` };
  const { child, ended } = start(workspace, words, { env });
  await until(() => existsSync(join(cwd, "held")));
  child.kill("SIGKILL");
  await ended;
  rmSync(join(cwd, "hold"));
  expect((await run(workspace)).code).toBe(0);
  expect(results(workspace)).toMatchObject([
    { id: "one", state: "done", changed_files: ["a.txt"], num_turns: 2, exit_code: 0 },
  ]);
  expect(patchOf(workspace, "one")).toContain("+two");
  expect(readFileSync(join(cwd, "runs"), "utf8")).toBe("run\n");
  expect(readdirSync(join(cwd, "out/tasks/one/run-1")).sort()).toEqual([
    "patch.diff",
    "session",
    "stderr.txt",
    "stream.jsonl",
  ]);
});

test("a batch that another machine took over writes nothing more", async () => {
  const workspace = batchWorkspace();
  const out = join(workspace.cwd, "out");
  const steal = shellScript(workspace, "steal", `echo two > a.txt; rm ${out}/claim.*`);
  writeTasks(workspace, [
    { id: "one", ...auto, ...steal },
    { id: "two", ...auto, ...steal },
  ]);
  const { code, stderr } = await run(workspace, "--jobs", "1");
  expect([code, stderr]).toEqual([1, expect.stringContaining("another machine took its folder")]);
  expect(existsSync(join(out, "results.jsonl")) && readFileSync(join(out, "results.jsonl"), "utf8")).toBe(
    false,
  );
  expect(readdirSync(join(out, "tasks"))).toEqual(["one"]);
  rmSync(out, { recursive: true });
});
