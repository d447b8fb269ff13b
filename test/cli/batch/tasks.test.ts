import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sawtooth } from "../../support/sawtooth.ts";
import { batchWorkspace, run, words, write, writeTasks } from "./batch-workspace.ts";

const fine = { id: "a", prompt: "Do it." };

describe("a file of tasks that cannot be run is refused before anything is, with line and remedy", () => {
  const cases: [title: string, text: string, message: string][] = [
    ["empty", "\n\n", "tasks.jsonl contains no tasks: write one JSON object per line"],
    ["no JSON", `${JSON.stringify(fine)}\n{"id": b}\n`, "tasks.jsonl line 2: invalid JSON ("],
    ["a list", "[1]\n", "line 1: a task must be a JSON object"],
    [
      "an unknown key",
      '{"id":"a","promt":"x"}',
      'line 1: unknown key "promt"; known keys: id, prompt, repo,',
    ],
    ["no id", '{"prompt":"x"}', "line 1: missing id: use up to 120 of"],
    ["an id that is a path", '{"id":"../a","prompt":"x"}', 'line 1: invalid id "../a"'],
    [
      "an id twice",
      `${JSON.stringify(fine)}\n\n${JSON.stringify(fine)}`,
      "line 3: duplicate id a, first used on line 1",
    ],
    ["nothing to do", '{"id":"a"}', "line 1: a task needs a prompt or a check"],
    ["a blank prompt", '{"id":"a","prompt":" "}', "line 1: the prompt is empty"],
    ["another type", '{"id":"a","prompt":"x","max_turns":"3"}', "line 1: max_turns must be a number"],
    ["a bad value", '{"id":"a","prompt":"x","max_turns":0}', "line 1: max_turns 0: must be a whole number"],
    ["a bad time", '{"id":"a","prompt":"x","max_time":"soon"}', "line 1: max_time soon: must be a time"],
    ["a missing folder", '{"id":"a","prompt":"x","repo":"nix"}', "line 1: repo nix: no such folder"],
    [
      "a way to run programs",
      '{"id":"a","prompt":"x","repo":"ext::sh -c x"}',
      "must be a folder, or an https",
    ],
    [
      "a flag as ref",
      '{"id":"a","prompt":"x","repo":"project","ref":"-x"}',
      "line 1: ref -x: not a valid name",
    ],
    ["ref alone", '{"id":"a","prompt":"x","ref":"v1"}', "line 1: ref works only together with repo"],
    ["fix's own", '{"id":"a","prompt":"x","max_attempts":2}', "max_attempts needs a check"],
    [
      "a schema with a check",
      '{"id":"a","check":"x","json_schema":{}}',
      "json_schema cannot be combined with check",
    ],
  ];
  test.each(cases)("%s", async (_, text, message) => {
    const workspace = batchWorkspace();
    write(workspace, "tasks.jsonl", text);
    const { code, stdout, stderr } = await run(workspace);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr.trim().split("\n")).toHaveLength(1);
  });
});

describe("a command line that makes no sense is refused", () => {
  test.each([
    [["batch"], "batch needs a task file"],
    [["batch", "tasks.jsonl"], "batch needs a folder for its results: --out results"],
    [["batch", "nix.jsonl", "--out", "out"], "cannot read nix.jsonl: ENOENT"],
    [[...words, "--shard", "3/2"], "--shard 3/2: must be part/parts"],
    [[...words, "--jobs", "65"], "--jobs 65: at most 64"],
    [[...words, "--continue"], "--continue is for a single session"],
    [[...words, "--output-format", "stream-json"], "read results.jsonl"],
    [[...words, "--check", "x"], "--check belongs to sawtooth fix"],
    [["batch", "--summary"], "--summary needs the folders with the results"],
    [["batch", "--summary", "project"], "contains no batch results"],
    [["batch", "--summary", "out", "--retry"], "--summary only reads results: remove --retry"],
    [["-p", "x", "--out", "out"], "--out belongs to sawtooth batch"],
    [["fix", "--check", "x", "--shard", "1/2"], "--shard belongs to sawtooth batch"],
  ])("%j", async (line, message) => {
    const workspace = batchWorkspace();
    writeTasks(workspace, [fine]);
    const { code, stderr } = await sawtooth(workspace, line);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
  });
});

describe("a folder for the results that is not this batch's", () => {
  test("one that cannot be made, under /proc too", async () => {
    const workspace = batchWorkspace();
    writeTasks(workspace, [fine]);
    const { code, stderr } = await sawtooth(workspace, ["batch", "tasks.jsonl", "--out", "/proc/none/out"]);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "sawtooth: --out /proc/none/out cannot be created (ENOENT): choose a writable folder\n",
    });
  });

  test("with other files", async () => {
    const workspace = batchWorkspace();
    writeTasks(workspace, [fine]);
    write(workspace, "out/notes.txt", "mine");
    const { code, stderr } = await run(workspace);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: "sawtooth: out contains other files: choose a new folder with --out\n",
    });
  });

  test("with other tasks, or with other options", async () => {
    const workspace = batchWorkspace();
    const model = ["--model", "scripted/none.json"];
    writeTasks(workspace, [fine]);
    await run(workspace, ...model);
    const other = await run(workspace, "--model", "scripted/other.json");
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/out was started with --model .*none/),
    });
    writeTasks(workspace, [{ ...fine, id: "b" }]);
    const another = await run(workspace, ...model);
    expect(another).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("out holds the results of another batch (with the task a)"),
    });
  });

  test("an empty folder will do", async () => {
    const workspace = batchWorkspace();
    writeTasks(workspace, [{ ...fine, model: "scripted/none.json" }]);
    mkdirSync(join(workspace.cwd, "out"));
    expect((await run(workspace)).code).toBe(1);
  });
});
