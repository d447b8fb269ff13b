/** The GitHub action and the CI examples: their steps, run in clean folders against the strict server. */

import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ScriptedReply } from "../../../src/models/playback/script.ts";
import type { Workspace } from "../../support/sawtooth.ts";
import { bash, serve } from "../../support/served.ts";
import { filesWorkspace, git, read, small, smallCheck } from "./fix-workspace.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
type Step = {
  name?: string;
  id?: string;
  run?: string;
  uses?: string;
  env?: Record<string, string>;
  "working-directory"?: string;
};
const action = parse(readFileSync(join(root, "action.yml"), "utf8")) as {
  inputs: Record<string, { default?: string; required?: boolean }>;
  outputs: Record<string, { value: string }>;
  runs: { using: string; steps: Step[] };
};

/** A checkout as the runner has it, built. */
let checkout = "";
beforeAll(async () => {
  checkout = mkdtempSync(join(tmpdir(), "sawtooth-action-"));
  for (const name of ["bin", "src", "prompts", "scripts", "package.json", "action.yml", "LICENSE"])
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(checkout, "node_modules"));
  const env = process.env as Record<string, string>;
  const built = await run(process.execPath, ["scripts/build.ts"], { cwd: checkout, env });
  if (built.code !== 0) throw new Error(built.output);
});
afterAll(() => rmSync(checkout, { recursive: true, force: true }));

const repairing: ScriptedReply[] = [{ calls: [bash("echo good > value.txt")] }, { text: "It is good now." }];

async function setUp(turns: ScriptedReply[], files: Record<string, string> = small): Promise<Workspace> {
  return (await serve(turns, {}, (url) => filesWorkspace(files, { url }))).workspace;
}

type Finished = { code: number | null; output: string };

function run(
  command: string,
  words: string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<Finished> {
  const child = spawn(command, words, { ...options, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  return new Promise((done) => child.on("close", (code) => done({ code, output })));
}

/**
 * Runs the steps of the action one after the other, as a runner does. Steps that use another action are passed over.
 */
async function runAction(workspace: Workspace, given: Record<string, string>) {
  const temp = join(workspace.home, "runner");
  mkdirSync(temp);
  const [outputs, summary] = [join(temp, "output"), join(temp, "summary")];
  for (const file of [outputs, summary]) writeFileSync(file, "");
  const found: Record<string, string> = {};
  const value = (expression: string): string => {
    const [, kind = "", name = ""] =
      /^(inputs|github|runner|steps\.fix\.outputs)\.([\w-]+)$/.exec(expression) ?? [];
    if (kind === "inputs") return given[name] ?? action.inputs[name]?.default ?? "";
    if (kind === "github") return checkout;
    return kind === "runner" ? temp : (found[name] ?? "");
  };
  const fill = (text: string) =>
    text.replace(/\$\{\{\s*([^}]+?)\s*\}\}/g, (_, expression: string) => value(expression));
  let last: Finished = { code: 0, output: "" };
  for (const step of action.runs.steps.filter((one) => one.run !== undefined)) {
    const env = Object.fromEntries(Object.entries(step.env ?? {}).map(([name, text]) => [name, fill(text)]));
    const cwd = join(workspace.cwd, fill(step["working-directory"] ?? "."));
    // What a runner does for `shell: bash`.
    last = await run("bash", ["--noprofile", "--norc", "-eo", "pipefail", "-c", step.run ?? ""], {
      cwd,
      env: {
        ...workspace.env,
        ...env,
        GITHUB_OUTPUT: outputs,
        GITHUB_STEP_SUMMARY: summary,
        GITHUB_TOKEN: "ghs_canary",
      },
    });
    for (const line of readFileSync(outputs, "utf8").split("\n").filter(Boolean)) {
      const [name = "", ...rest] = line.split("=");
      found[name] = rest.join("=");
    }
    if (last.code !== 0) break;
  }
  return { ...last, outputs: found, out: join(temp, "sawtooth-fix"), summary: readFileSync(summary, "utf8") };
}

describe("the action", () => {
  test("a failing check is repaired: patch, reports, outputs, and exit 0", async () => {
    const workspace = await setUp(repairing);
    const { code, output, outputs, out, summary } = await runAction(workspace, { check: smallCheck });
    expect({ code, state: outputs.state }, output).toEqual({ code: 0, state: "repaired" });
    expect(readFileSync(outputs.patch ?? "", "utf8")).toContain("-bad\n+good");
    for (const name of [
      "repair.diff",
      "report.md",
      "report.xml",
      "report.sarif",
      "report.html",
      "result.json",
    ])
      expect(existsSync(join(out, name)), name).toBe(true);
    expect(existsSync(join(out, "sessions"))).toBe(false);
    expect(summary).toContain("## Repaired");
    expect(readFileSync(join(out, "report.html"), "utf8")).not.toContain("sk-canary-7f3a");
  });

  test("a green check: nothing is asked of a model, and there is no patch", async () => {
    const workspace = await setUp([], { ...small, "value.txt": "good\n" });
    const { code, outputs } = await runAction(workspace, { check: `${smallCheck}\ntrue` });
    expect({ code, state: outputs.state, patch: outputs.patch }).toEqual({
      code: 0,
      state: "green",
      patch: "",
    });
  });

  test("not repaired: the verdict fails the job with the code of fix, and the reports are there", async () => {
    const workspace = await setUp([{ text: "no idea", repeat: 5 }]);
    const { code, outputs, out } = await runAction(workspace, { check: smallCheck, "max-attempts": "2" });
    expect({ code, state: outputs.state }).toEqual({ code: 1, state: "failed" });
    expect(readFileSync(join(out, "report.md"), "utf8")).toContain("Not repaired");
  });

  test("without a key: exit 4, and the job says so", async () => {
    const workspace = await setUp([]);
    workspace.env.ANTHROPIC_API_KEY = "";
    const { code } = await runAction(workspace, { check: smallCheck });
    expect(code).toBe(4);
  });

  test("inputs are data: what stands in them is not run, and none stands in a script", async () => {
    const workspace = await setUp(repairing);
    const evil = '$(touch pwned)"; touch pwned; `touch pwned` #';
    const { code } = await runAction(workspace, {
      check: smallCheck,
      prompt: evil,
      "allow-paths": `value.txt\n${evil}`,
    });
    expect(code).toBe(0);
    expect(existsSync(join(workspace.cwd, "pwned"))).toBe(false);
    expect(action.runs.steps.filter((step) => step.run?.includes("${{"))).toEqual([]);
  });

  test("every input and output is declared where it is used", () => {
    const text = readFileSync(join(root, "action.yml"), "utf8");
    const used = [...text.matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map((match) => match[1] ?? "");
    expect([...new Set(used)].sort()).toEqual(Object.keys(action.inputs).sort());
    for (const { value } of Object.values(action.outputs)) expect(value).toMatch(/steps\.fix\.outputs\./);
  });
});

describe("the examples", () => {
  type Workflow = {
    on: Record<string, unknown>;
    permissions: Record<string, string>;
    jobs: Record<string, { permissions?: Record<string, string>; if?: string; steps: Step[] }>;
  };
  const workflow = parse(readFileSync(join(root, "examples/ci/github.yml"), "utf8")) as Workflow;

  test("GitHub: no trigger that gives secrets to a fork, and no write access beside the key", () => {
    expect(Object.keys(workflow.on)).toEqual(["push", "pull_request"]);
    expect(workflow.permissions).toEqual({ contents: "read" });
    const { repair, propose } = workflow.jobs;
    expect(repair?.permissions).toEqual({ contents: "read" });
    expect(repair?.if).toContain("head.repo.full_name == github.repository");
    expect(JSON.stringify(propose)).not.toContain("secrets.");
    expect(JSON.stringify(propose?.steps)).not.toMatch(/npm |node /);
  });

  test("GitHub: the steps that propose the repair work on a fresh clone", async () => {
    const workspace = await setUp(repairing);
    const { outputs, out } = await runAction(workspace, { check: smallCheck });
    const fresh = join(workspace.home, "fresh");
    const remote = join(workspace.home, "remote.git");
    git(workspace.cwd, "stash", "--quiet");
    git(workspace.home, "clone", "--quiet", "--bare", workspace.cwd, remote);
    git(workspace.home, "clone", "--quiet", remote, fresh);
    const programs = join(workspace.home, "bin");
    mkdirSync(programs);
    writeFileSync(join(programs, "gh"), '#!/bin/sh\nprintf "%s\\n" "$@" > "$HOME/gh-words"\n', {
      mode: 0o755,
    });
    const script = workflow.jobs.propose?.steps.find((step) => step.run)?.run ?? "";
    const env = {
      ...workspace.env,
      PATH: `${programs}:${workspace.env.PATH}`,
      FIX: out,
      BRANCH: "sawtooth/fix-1",
      BASE: "main",
    };
    const { code, output } = await run("bash", ["-eo", "pipefail", "-c", script], { cwd: fresh, env });
    expect({ code, state: outputs.state }, output).toEqual({ code: 0, state: "repaired" });
    expect(git(remote, "show", "sawtooth/fix-1:value.txt")).toBe("good\n");
    expect(readFileSync(join(workspace.home, "gh-words"), "utf8")).toContain("--body-file");
  });

  test("GitLab: valid YAML whose command is one that fix takes", () => {
    const { repair } = parse(readFileSync(join(root, "examples/ci/gitlab-ci.yml"), "utf8"));
    expect(repair.rules[0]).toMatchObject({ when: "never" });
    expect(repair.script[1]).toMatch(
      /^npx --yes sawtooth fix --check "npm test" .*--patch fix\/repair\.diff/,
    );
  });

  test.each([
    ["repaired", repairing, small, 0, "repaired: git apply"],
    ["green", [], { ...small, "value.txt": "good\n" }, 0, "nothing to repair"],
    ["failed", [{ text: "no", repeat: 5 }], small, 1, "not repaired (exit 1)"],
  ])("the shell script: %s", async (_, turns, files, code, says) => {
    const workspace = await setUp(turns as ScriptedReply[], files);
    const programs = join(workspace.home, "bin");
    mkdirSync(programs);
    const program = `#!/bin/sh\nexec "${process.execPath}" "${checkout}/bin/sawtooth.js" "$@"\n`;
    writeFileSync(join(programs, "sawtooth"), program, { mode: 0o755 });
    const env = { ...workspace.env, PATH: `${programs}:${workspace.env.PATH}` };
    const ended = await run("sh", [join(root, "examples/ci/fix.sh"), smallCheck, "out"], {
      cwd: workspace.cwd,
      env,
    });
    expect(ended.code, ended.output).toBe(code);
    expect(ended.output).toContain(says);
    expect(JSON.parse(read(workspace, "out/result.json"))).toMatchObject({ type: "result" });
  });
});
