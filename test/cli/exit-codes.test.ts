import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { schemaText } from "../../src/cli/schema/schema.ts";
import type { Turns } from "../../src/models/playback/script.ts";
import { entry } from "../support/entry.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, makeWorkspace, sawtooth, start } from "../support/sawtooth.ts";
import { bash, type Served, serve, tempWorkspace } from "../support/served.ts";
import { until } from "../support/until.ts";
import { filesWorkspace, small, smallCheck } from "./fix/fix-workspace.ts";

const fits = new Ajv2020({ allErrors: true }).compile(JSON.parse(schemaText(["events"])));

/** Every line is one of the schema's; `result` is there once, and last. */
function checkLines(stdout: string): Record<string, unknown> {
  const lines = jsonLines(stdout);
  for (const line of lines)
    if (!fits(line)) throw new Error(`${JSON.stringify(line)}: ${JSON.stringify(fits.errors)}`);
  expect(lines.filter((line) => line.type === "result")).toHaveLength(1);
  expect(lines.at(-1)?.type).toBe("result");
  return lines.at(-1) ?? {};
}

function setUp(turns: Turns<WireBody>, files?: Record<string, string>): Promise<Served> {
  return serve(turns, {}, (url) => (files ? filesWorkspace(files, { url }) : makeWorkspace(url)));
}

const prompt = ["-p", "go", "--output-format", "stream-json"];
const auto = [...prompt, "--permission-mode", "auto"];
const endless: Turns<WireBody> = () => ({ text: "more", calls: [bash("echo $RANDOM")] });
const fixing = ["fix", "--check", smallCheck, "--output-format", "stream-json"];
const again = { headers: { "retry-after-ms": "1" } };

type Case = {
  title: string;
  code: number;
  turns: Turns<WireBody>;
  words: string[];
  subtype: string;
  reason?: string;
  env?: Record<string, string>;
  files?: Record<string, string>;
};

const cases: Case[] = [
  { title: "done", code: 0, turns: [{ text: "ok" }], words: prompt, subtype: "success", reason: "completed" },
  {
    title: "fix: green at once",
    code: 0,
    turns: [],
    words: fixing,
    files: { ...small, "value.txt": "good\n" },
    subtype: "success",
    reason: "green",
  },
  {
    title: "fix: repaired",
    code: 0,
    turns: [{ calls: [bash("echo good > value.txt")] }, { text: "ok" }],
    words: fixing,
    files: small,
    subtype: "success",
    reason: "repaired",
  },
  {
    title: "the model refuses",
    code: 1,
    turns: [{ text: "no", stop: "refusal" }],
    words: prompt,
    subtype: "error_during_execution",
    reason: "refusal",
  },
  {
    title: "the answer does not fit the schema",
    code: 1,
    turns: [{ text: "no", repeat: 4 }],
    words: [...prompt, "--json-schema", '{"type":"integer"}'],
    subtype: "error_during_execution",
    reason: "schema",
  },
  {
    title: "replies cut again and again",
    code: 1,
    turns: [{ text: "long", stop: "max_tokens", repeat: 9 }],
    words: prompt,
    subtype: "error_during_execution",
    reason: "output_limit",
  },
  {
    title: "fix: not repaired",
    code: 1,
    turns: [{ text: "no idea", repeat: 9 }],
    words: fixing,
    files: small,
    subtype: "error_during_execution",
    reason: "not_repaired",
  },
  {
    title: "a usage error after the format is known",
    code: 2,
    turns: [],
    words: [...prompt, "--context", "magic"],
    subtype: "error_during_execution",
    reason: "not_started",
  },
  {
    title: "--max-turns",
    code: 3,
    turns: endless,
    words: [...auto, "--max-turns", "2"],
    subtype: "error_max_turns",
    reason: "max_turns",
  },
  {
    title: "--max-budget-usd",
    code: 3,
    turns: endless,
    words: [...auto, "--max-budget-usd", "0.02"],
    subtype: "error_max_budget",
    reason: "max_budget",
  },
  {
    title: "--max-time",
    code: 3,
    turns: [{ calls: [bash("sleep 60")] }],
    words: [...auto, "--max-time", "2s"],
    subtype: "error_max_time",
    reason: "max_time",
  },
  {
    title: "the same call without end",
    code: 3,
    turns: () => ({ calls: [bash("echo same")] }),
    words: auto,
    subtype: "error_during_execution",
    reason: "loop",
  },
  {
    title: "fix: --max-turns",
    code: 3,
    turns: endless,
    words: [...fixing, "--max-turns", "2"],
    files: small,
    subtype: "error_max_turns",
    reason: "max_turns",
  },
  {
    title: "no key",
    code: 4,
    turns: [],
    words: prompt,
    env: { ANTHROPIC_API_KEY: "" },
    subtype: "error_during_execution",
    reason: "not_started",
  },
  {
    title: "401",
    code: 4,
    turns: [{ fault: { status: 401 } }],
    words: prompt,
    subtype: "error_model",
    reason: "model_error",
  },
  {
    title: "403",
    code: 4,
    turns: [{ fault: { status: 403 } }],
    words: prompt,
    subtype: "error_model",
    reason: "model_error",
  },
  {
    title: "fix: 401",
    code: 4,
    turns: [{ fault: { status: 401 } }],
    words: fixing,
    files: small,
    subtype: "error_model",
    reason: "model_error",
  },
  {
    title: "blocked by permissions",
    code: 5,
    turns: [{ calls: [bash("touch x")] }, { text: "may not" }],
    words: prompt,
    subtype: "error_permission",
    reason: "completed",
  },
  {
    title: "fix: blocked by permissions",
    code: 5,
    turns: [{ calls: [bash("touch x")] }, { text: "may not" }],
    words: [...fixing, "--permission-mode", "ask", "--max-attempts", "1"],
    files: small,
    subtype: "error_permission",
    reason: "completed",
  },
  {
    title: "400",
    code: 6,
    turns: [{ fault: { status: 400 } }],
    words: prompt,
    subtype: "error_model",
    reason: "model_error",
  },
  {
    title: "500 six times",
    code: 6,
    turns: [{ fault: { status: 500, ...again }, repeat: 6 }],
    words: prompt,
    subtype: "error_model",
    reason: "model_error",
  },
];

describe("every way out has its code, and a complete result", () => {
  test.each(cases)("$code: $title", async ({ code, turns, words, subtype, reason, env, files }) => {
    const { workspace } = await setUp(turns, files);
    const run = await sawtooth(workspace, words, env ? { env } : {});
    const result = checkLines(run.stdout);
    expect({ code: run.code, subtype: result.subtype, reason: result.terminal_reason }).toEqual({
      code,
      subtype,
      reason,
    });
    expect(result.is_error).toBe(code !== 0);
    expect((result.errors as string[]).length > 0).toBe(code !== 0);
    const stopped = String(result.terminal_reason).startsWith("max_");
    if (stopped)
      expect(result).toMatchObject({
        limit: result.terminal_reason,
        resume: expect.stringContaining(String(result.session_id)),
      });
  });

  test("2: an unknown flag, without any output", async () => {
    const { workspace } = await setUp([]);
    expect(await sawtooth(workspace, ["-p", "x", "--fly"])).toMatchObject({ code: 2, stdout: "" });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)(
    "%s: %i, a complete result, and the process is gone though its command is deaf",
    async (signal, code) => {
      const { workspace } = await setUp([
        { text: "I begin", calls: [bash("trap '' INT TERM HUP; touch deaf; sleep 900")] },
      ]);
      const run = start(workspace, auto);
      await until(() => existsSync(join(workspace.cwd, "deaf")));
      run.child.kill(signal);
      const ended = await run.ended;
      expect(ended.code).toBe(code);
      expect(checkLines(ended.stdout)).toMatchObject({ subtype: "error_interrupted", result: "I begin" });
    },
  );
});

describe("the result says", () => {
  test("which files were changed, what came last and how to go on, when a limit ends the run", async () => {
    const create = { command: "create", path: "new.txt", file_text: "x\n" };
    const { workspace } = await setUp((_, index) =>
      index === 0
        ? { text: "first", calls: [{ str_replace_editor: create }] }
        : { calls: [bash("echo $RANDOM")] },
    );
    const result = checkLines((await sawtooth(workspace, [...auto, "--max-turns", "3"])).stdout);
    expect(result).toMatchObject({
      result: "first",
      changed_files: [join(workspace.cwd, "new.txt")],
      resume: `sawtooth -p -r ${result.session_id} "continue"`,
      limit: "max_turns",
      num_turns: 3,
    });
    expect(existsSync(join(workspace.cwd, "new.txt"))).toBe(true);
  });
});

test.each(["-p x", "doctor", "sessions"])(
  "a start in a folder that was removed says so in one line: %s",
  (words) => {
    const workspace = tempWorkspace();
    const start = `mkdir gone; cd gone; rmdir ../gone; exec "$0" "$1" ${words}`;
    const ended = spawnSync("sh", ["-c", start, process.execPath, entry], {
      ...{ cwd: workspace.cwd, env: workspace.env, encoding: "utf8" },
    });
    expect({ code: ended.status, stderr: ended.stderr }).toEqual({
      code: 2,
      stderr: "sawtooth: the folder that this was started in was removed: cd to another one first\n",
    });
  },
);
