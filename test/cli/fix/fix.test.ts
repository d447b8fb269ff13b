import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { jsonLines, sawtooth, start } from "../../support/sawtooth.ts";
import { bash } from "../../support/served.ts";
import { inOneProcess } from "../../support/size.ts";
import { until } from "../../support/until.ts";
import {
  exampleWorkspace,
  type FixResult,
  filesWorkspace,
  fix,
  git,
  read,
  repairing,
  setUp,
  small,
  smallCheck,
} from "./fix-workspace.ts";

const check = ["--check", smallCheck];

describe("the three example projects", () => {
  const cases = [
    { name: "fix-js", command: "npm test", attempts: 1, refused: [], changed: ["src/parse.js"] },
    {
      name: "fix-python",
      command: "python3 -m unittest discover -s tests -t .",
      attempts: 2,
      refused: [],
      changed: ["billing/periods.py"],
    },
    {
      name: "fix-shell",
      command: "make check",
      attempts: 2,
      refused: [{ rule: "deleted-test", path: "test/names-with-spaces.test.sh" }],
      changed: ["bin/rotate.sh"],
    },
  ];
  test.each(cases)(
    "$name is repaired in $attempts",
    async ({ name, command, attempts, refused, changed }) => {
      const workspace = exampleWorkspace(name);
      onTestFinished(workspace.remove);
      const words = ["--check", command, "--model", workspace.model, "--patch", "out.diff"];
      const { code, result } = await fix(workspace, words, inOneProcess);
      expect(result.errors).toEqual([]);
      expect({ code, state: result.fix.state, attempts: result.fix.attempts.length }).toEqual({
        code: 0,
        state: "repaired",
        attempts,
      });
      expect(result.fix.attempts.flatMap((one) => one.refused)).toMatchObject(refused);
      expect(result.fix.changed).toEqual(changed);
      // The patch alone, on the project as it was, is the whole repair.
      git(workspace.cwd, "stash", "--quiet", "--", ...changed);
      git(workspace.cwd, "apply", "out.diff");
      expect(git(workspace.cwd, "diff", "--name-only").trim().split("\n")).toEqual(changed);
      expect(git(workspace.cwd, "diff", "--stat", "stash@{0}", "--", ...changed)).toBe("");
    },
  );
});

describe("a check that is green", () => {
  test("is left alone: exit 0, no model, no key, no session, nothing touched", async () => {
    const workspace = filesWorkspace({ ...small, "value.txt": "good\n" });
    onTestFinished(workspace.remove);
    const { code, result } = await fix(workspace, [...check, "--patch", "out.diff", "--report", "r.md"]);
    expect(code).toBe(0);
    expect(result).toMatchObject({
      subtype: "success",
      num_turns: 0,
      session_id: null,
      fix: { state: "green" },
    });
    expect(git(workspace.cwd, "status", "--short")).toBe("?? r.md\n");
    expect(existsSync(join(workspace.home, "sawtooth/state"))).toBe(false);
  });

  test("in stream-json: the check and one result", async () => {
    const workspace = filesWorkspace({ ...small, "value.txt": "good\n" });
    onTestFinished(workspace.remove);
    const { stdout } = await sawtooth(workspace, ["fix", ...check, "--output-format", "stream-json"]);
    expect(jsonLines(stdout).map((line) => line.type)).toEqual(["check", "result"]);
  });
});

describe("what the model is told", () => {
  test("the output of the failing check, and after a failed attempt what was tried and what fails now", async () => {
    const { workspace, server } = await setUp([
      { calls: [bash("echo better > value.txt")] },
      { text: "I tried better." },
      ...repairing,
    ]);
    const { code, result } = await fix(workspace, [
      ...check,
      "--prompt",
      "mind the value",
      "--max-attempts",
      "2",
    ]);
    expect({ code, attempts: result.fix.attempts.length }).toEqual({ code: 0, attempts: 2 });
    const texts = server.requests.map((request) => JSON.stringify(request.messages));
    expect(texts[0]).toContain("value is bad");
    expect(texts[0]).toContain("mind the value");
    expect(texts[2]).toContain("value is better");
    expect(texts[2]).toMatch(/1\. changed value\.txt; then `sh test\/value\.sh` failed.*I tried better/);
    expect(texts[2]).toContain("attempt 2 of 2");
  });

  test("long output comes shortened, with a file that holds the whole", async () => {
    const files = { ...small, "test/value.sh": `seq 1 200000; ${small["test/value.sh"]}` };
    const { workspace, server } = await setUp(repairing, { files });
    expect((await fix(workspace, check)).code).toBe(0);
    expect(server.rawBodies[0]?.length).toBeLessThan(60_000);
    const [, file] = /whole output: (\S+?\.txt)/.exec(server.rawBodies[0] ?? "") ?? [];
    expect(readFileSync(file ?? "", "utf8")).toContain("\n199999\n200000\nvalue is bad\n");
  });

  test("secrets of the environment are not in the check's environment, and not in what the model reads", async () => {
    const show = "env | grep -i canary\ncat ../home/leaked";
    const { workspace, server } = await setUp(repairing, {
      files: { ...small, "test/value.sh": `${show}\n${small["test/value.sh"]}` },
    });
    writeFileSync(join(workspace.home, "leaked"), "it was canary-value-1\n");
    await fix(workspace, check, { MY_PASSWORD: "canary-value-1" });
    expect(server.rawBodies.join("")).not.toContain("sk-canary-7f3a");
    expect(server.rawBodies.join("")).not.toContain("canary-value-1");
    expect(server.rawBodies[0]).toContain("it was [redacted:MY_PASSWORD]");
  });
});

describe("chance", () => {
  const flaky = {
    ...small,
    "test/value.sh":
      'n=$(cat "$HOME/runs" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$HOME/runs"; [ $((n % 2)) = 0 ]\n',
  };

  test("a check that fails and passes with nothing changed is called flaky, and luck is no repair", async () => {
    const { workspace, server } = await setUp([{ text: "I changed nothing." }], { files: flaky });
    const { code, result } = await fix(workspace, [...check, "--max-attempts", "1"]);
    expect(code).toBe(1);
    expect(result.fix.checks[0]).toMatchObject({ flaky: true });
    expect(JSON.stringify(server.requests[0]?.messages)).toMatch(/passed in 1 of 3 runs/);
  });

  test("a check that passes once after the repair and fails again is not repaired", async () => {
    const late =
      'n=$(cat "$HOME/runs" 2>/dev/null || echo 0); n=$((n + 1)); echo $n > "$HOME/runs"; [ $n = 4 ]\n';
    const { workspace } = await setUp(repairing, { files: { ...small, "test/value.sh": late } });
    const { code, result } = await fix(workspace, [...check, "--max-attempts", "1"]);
    expect(code).toBe(1);
    expect(result.fix.checks[0]?.after).toMatchObject([
      { passed: true },
      { passed: false },
      { passed: false },
    ]);
  });
});

describe("being stopped", () => {
  test("a check that hangs is ended by the time limit, with what it started", async () => {
    const mark = `sleep 98${process.pid}`;
    const { workspace } = await setUp([], {
      files: { ...small, "test/value.sh": `setsid ${mark} & ${mark}\n` },
    });
    const { code, result } = await fix(workspace, [...check, "--max-time", "1s"]);
    expect({ code, subtype: result.subtype }).toEqual({ code: 3, subtype: "error_max_time" });
    expect(processes()).not.toContain(mark);
  });

  test("SIGTERM during a check: one result line, exit 143", async () => {
    const { workspace } = await setUp([], {
      files: { ...small, "test/value.sh": "touch begun; sleep 900\n" },
    });
    const run = start(workspace, ["fix", ...check, "--output-format", "stream-json"]);
    await until(() => existsSync(join(workspace.cwd, "begun")));
    run.child.kill("SIGTERM");
    const { code, stdout } = await run.ended;
    expect(code).toBe(143);
    expect(jsonLines(stdout).filter((line) => line.type === "result")).toMatchObject([
      { subtype: "error_interrupted" },
    ]);
  });
});

test("SIGTERM while the model works: exit 143, and what was done so far is kept as a patch", async () => {
  const { workspace } = await setUp([{ text: "now", calls: [bash("echo half > value.txt; sleep 900")] }]);
  const run = start(workspace, ["fix", ...check, "--output-format", "stream-json"]);
  await until(() => read(workspace, "value.txt") === "half\n");
  run.child.kill("SIGTERM");
  const { code, stdout } = await run.ended;
  const result = jsonLines(stdout).at(-1) as FixResult | undefined;
  expect({ code, state: result?.fix.state }).toEqual({ code: 143, state: "stopped" });
  expect(readFileSync(result?.fix.best_attempt?.file ?? "", "utf8")).toContain("+half\n");
});

describe("reports", () => {
  test("JUnit, SARIF and Markdown, on success and on failure", async () => {
    const { workspace } = await setUp([
      { calls: [bash("rm test/value.sh")] },
      { text: "a & b <c>" },
      ...repairing,
    ]);
    const reports = ["--report", "r/x.xml", "--report", "r/x.sarif", "--report", "r/x.md"];
    await fix(workspace, [...check, ...reports]);
    expect(read(workspace, "r/x.xml")).toMatch(
      /^<\?xml[\s\S]*<testsuite name="sawtooth fix" tests="2" failures="0"/,
    );
    const sarif = JSON.parse(read(workspace, "r/x.sarif"));
    expect(sarif.runs[0].results.map((one: { ruleId: string }) => one.ruleId)).toEqual([
      "refused-change",
      "refused-change",
      "repair",
    ]);
    expect(read(workspace, "r/x.md")).toMatch(/^## Repaired[\s\S]*refused and taken back[\s\S]*\+good/);
    git(workspace.cwd, "checkout", "--quiet", "value.txt");
    const failed = await fix(workspace, [
      ...check,
      ...reports,
      "--model",
      "scripted/none.yaml",
      "--max-time",
      "1ms",
    ]);
    expect(failed.code).toBe(3);
    expect(read(workspace, "r/x.xml")).toContain("<failure message=");
    expect(() => parse(read(workspace, "r/x.sarif"))).not.toThrow();
  });

  test("are written when the session cannot begin, and are not green", async () => {
    const workspace = filesWorkspace(small);
    const reports = ["--report", "x.xml", "--report", "x.sarif", "--report", "x.md"];
    const failed = await fix(workspace, [...check, ...reports], { ANTHROPIC_API_KEY: "" });
    expect(failed.code).toBe(4);
    const [error = ""] = failed.result.errors;
    expect(error).toContain("ANTHROPIC_API_KEY");
    expect(read(workspace, "x.xml")).toMatch(/failures="1" errors="1"[\s\S]*<error message="[^"]*KEY/);
    const [invocation] = JSON.parse(read(workspace, "x.sarif")).runs[0].invocations;
    expect(invocation).toEqual({
      executionSuccessful: false,
      exitCode: 4,
      toolExecutionNotifications: [{ level: "error", message: { text: error } }],
    });
    expect(read(workspace, "x.md")).toContain(error);
  });
});

/** The command lines of all running processes. */
function processes(): string {
  return execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
}
