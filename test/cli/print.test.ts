import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Turns } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";

async function setUp(
  turns: Turns<WireBody> = [{ text: "hello there" }],
): Promise<{ workspace: Workspace; server: MockServer }> {
  const { server, workspace } = await serve(turns);
  return { workspace, server };
}

const lastUserText = (server: MockServer) => JSON.stringify(server.requests.at(-1)?.messages.at(-1));

describe("output", () => {
  test("text: the answer and nothing else on stdout", async () => {
    const { workspace } = await setUp();
    expect(await sawtooth(workspace, ["-p", "hi"])).toMatchObject({
      code: 0,
      stdout: "hello there\n",
      stderr: "",
    });
  });

  test("json: exactly the result object", async () => {
    const { workspace } = await setUp();
    const { stdout, code } = await sawtooth(workspace, ["-p", "hi", "--output-format", "json"]);
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      type: "result",
      subtype: "success",
      result: "hello there",
      num_turns: 1,
    });
  });

  test("a run that goes on and fails does not give the answer of the turn before as its own", async () => {
    const { workspace } = await setUp([{ text: "hello there" }, { fault: { status: 400 } }]);
    await sawtooth(workspace, ["-p", "hi"]);
    const { code, stdout } = await sawtooth(workspace, ["-p", "more", "-c", "--output-format", "json"]);
    expect({ code, result: JSON.parse(stdout).result }).toEqual({ code: 6, result: "" });
  });

  test("stream-json: init first, one result last, calls and results between", async () => {
    const { workspace } = await setUp([{ calls: [bash("echo out")] }, { text: "done" }]);
    const words = ["-p", "go", "--output-format", "stream-json", "--permission-mode", "auto"];
    const lines = jsonLines((await sawtooth(workspace, words)).stdout);
    const types = lines.map((line) => line.type);
    expect(types).toEqual(["system", "assistant", "permission", "user", "assistant", "result"]);
    expect(JSON.stringify(lines[3])).toContain("out");
    expect(lines.at(-1)).toMatchObject({ subtype: "success", total_cost_usd: expect.any(Number) });
  });

  test("a reader that goes away is no error that anybody hears of", async () => {
    const { workspace } = await setUp([{ calls: [bash("sleep 1")] }, { text: "done" }]);
    const run = start(workspace, ["-p", "x", "--output-format", "stream-json", "--permission-mode", "auto"]);
    run.child.stdout?.once("data", () => run.child.stdout?.destroy());
    expect((await run.ended).stderr).toBe("");
  });
});

describe("input", () => {
  test("the prompt and piped text are one message", async () => {
    const { workspace, server } = await setUp();
    await sawtooth(workspace, ["-p", "explain"], { input: "some log\n" });
    expect(lastUserText(server)).toContain("explain\\n\\n<stdin>\\nsome log\\n\\n</stdin>");
  });

  test("a pipe that nobody writes does not hold the run", async () => {
    const { workspace, server } = await setUp();
    const run = start(workspace, ["-p", "hi"], { input: "open" });
    const { code, stderr } = await run.ended;
    expect(code).toBe(0);
    expect(server.requests).toHaveLength(1);
    expect(stderr).toContain("standard input stayed open");
  });

  test("piped text without -p is the prompt", async () => {
    const { workspace, server } = await setUp();
    expect((await sawtooth(workspace, [], { input: "what is this\n" })).code).toBe(0);
    expect(lastUserText(server)).toContain("what is this");
  });

  test("ten megabytes of piped text go to a file, and their head to the model", async () => {
    const { workspace, server } = await setUp();
    const { code } = await sawtooth(workspace, ["-p", "look"], {
      input: "0123456789abcdef\n".repeat(600_000),
    });
    expect(code).toBe(0);
    expect(server.rawBodies[0]?.length).toBeLessThan(100_000);
    expect(lastUserText(server)).toMatch(/more characters: the whole text is in .*artifacts/);
  });
});

describe("mistakes are one line and the right code", () => {
  const cases: [string, string[], number, RegExp][] = [
    ["unknown flag", ["--fly"], 2, /unknown option '--fly'/i],
    ["empty prompt", ["-p", "  "], 2, /prompt is empty/],
    ["no prompt", ["-p"], 2, /no prompt/],
    ["unknown provider", ["-p", "x", "--model", "nobody/m"], 2, /unknown provider nobody in nobody\/m/],
    ["missing script", ["-p", "x", "--model", "scripted/none.yaml"], 2, /cannot read the script none.yaml/],
    ["bad limit", ["-p", "x", "--max-turns", "0"], 2, /--max-turns 0/],
    ["bad time", ["-p", "x", "--max-time", "soon"], 2, /--max-time soon/],
    ["bad mode", ["-p", "x", "--permission-mode", "yolo"], 2, /ask, accept-edits, plan, auto/],
    ["bad rule", ["-p", "x", "--allow", "bash(("], 2, /bash\(\(/],
    ["unknown stack", ["-p", "x", "--context", "magic"], 2, /economist, raw/],
    ["two prompts", ["-p", "fix", "it"], 2, /more than one prompt/],
    ["no such session", ["-r", "wrongid", "-p", "x"], 2, /no session has the id or name "wrongid"/],
    ["no session", ["-p", "x", "-r"], 2, /-r needs the id or name of a session .*-c continues the newest/],
    ["nothing to continue", ["-p", "x", "-c"], 2, /no session is stored/],
    ["unknown session", ["-p", "x", "-r", "20200101-000000-abcdef"], 2, /20200101/],
  ];
  test.each(cases)("%s", async (_, words, exit, message) => {
    const { workspace, server } = await setUp();
    const { code, stdout, stderr } = await sawtooth(workspace, words);
    expect(stderr).toMatch(message);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect({ code, stdout }).toEqual({ code: exit, stdout: "" });
    expect(server.exchanges).toHaveLength(0);
  });

  test("no credentials: exit 4, the variable is named", async () => {
    const { workspace } = await setUp();
    const { code, stderr } = await sawtooth(workspace, ["-p", "x"], { env: { ANTHROPIC_API_KEY: "" } });
    expect(code).toBe(4);
    expect(stderr).toContain("ANTHROPIC_API_KEY");
  });

  test("a key that the server refuses: exit 4, its words, and no try again", async () => {
    const { workspace, server } = await setUp([{ fault: { status: 401 } }]);
    const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "x", "--output-format", "json"]);
    expect(code).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ subtype: "error_model", is_error: true });
    expect(stderr).not.toContain("sk-canary-7f3a");
    expect(server.exchanges).toHaveLength(1);
  });

  test("a broken script says where it is broken", async () => {
    const { workspace } = await setUp();
    writeFileSync(join(workspace.cwd, "bad.yaml"), "turns:\n  - txt: hi\n");
    const { code, stderr } = await sawtooth(workspace, ["-p", "x", "--model", "scripted/bad.yaml"]);
    expect(code).toBe(2);
    expect(stderr).toContain("bad.yaml");
  });

  test("settings that cannot be read name the file", async () => {
    const { workspace } = await setUp();
    const folder = join(workspace.env.SAWTOOTH_HOME ?? "", "config");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "settings.json"), '{ "modle": "x" }');
    const { code, stderr } = await sawtooth(workspace, ["-p", "x"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/settings\.json.*modle/);
  });
});

describe("permissions without a person", () => {
  test("what would ask is denied at once with the rule that would allow it; a blocked run exits 5", async () => {
    const { workspace, server } = await setUp([{ calls: [bash("touch made")] }, { text: "I may not" }]);
    const { code, stdout } = await sawtooth(workspace, ["-p", "x", "--output-format", "json"]);
    expect(code).toBe(5);
    expect(JSON.parse(stdout)).toMatchObject({
      subtype: "error_permission",
      permission_denials: [{ tool_name: "bash", tool_input: { command: "touch made" } }],
    });
    expect(lastUserText(server)).toContain("--allow");
  });

  test("what was denied is said in a sentence, with the flags that would allow it", async () => {
    const calls = [bash("touch made"), bash("touch again"), bash("id"), bash("mkdir it")];
    const { workspace } = await setUp([{ calls }, { text: "I may not" }]);
    const words = ["-p", "x", "--deny", "bash(id:*)", "--output-format", "json"];
    const { stdout, stderr } = await sawtooth(workspace, words);
    const sentence =
      "4 calls were denied; allow 3 of them with --allow 'bash(touch made)' --allow 'bash(touch again)' --allow 'bash(mkdir it)'";
    expect(JSON.parse(stdout).errors).toEqual([sentence]);
    expect(stderr).toContain(`sawtooth: ${sentence} (resume with: sawtooth -p -r `);
  });

  test("a rule lets it through", async () => {
    const { workspace } = await setUp([{ calls: [bash("touch made")] }, { text: "made" }]);
    expect((await sawtooth(workspace, ["-p", "x", "--allow", "bash(touch:*)"])).code).toBe(0);
  });
});

describe("limits", () => {
  test("turns: exit 3, the limit is named, the session can go on", async () => {
    const { workspace } = await setUp(() => ({ calls: [bash("echo again $RANDOM")] }));
    const words = ["-p", "x", "--max-turns", "3", "--permission-mode", "auto", "--output-format", "json"];
    const { code, stdout } = await sawtooth(workspace, words);
    expect(code).toBe(3);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ subtype: "error_max_turns", num_turns: 3, limit: "max_turns" });
    expect(result.resume).toContain(result.session_id);
  });

  test("time: a running command is stopped and the run ends with exit 3", async () => {
    const { workspace } = await setUp([{ calls: [bash("sleep 900")] }, { text: "never" }]);
    const words = ["-p", "x", "--max-time", "1s", "--permission-mode", "auto", "--output-format", "json"];
    const { code, stdout } = await sawtooth(workspace, words);
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ subtype: "error_max_time" });
  });
});
