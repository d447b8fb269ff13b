/** The decision about each call, as it is found in the log and in whatever shows the log. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { permitAsking } from "../../src/app/permissions.ts";
import type { EventBody, LogEvent } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import { bashCalls } from "../../src/core/tool-calls.ts";
import { reportText } from "../../src/report/text/report.ts";
import { slugOf } from "../../src/session/listing.ts";
import { call, memoryLog, reply, result, started, user } from "../support/logs.ts";
import { jsonLines, makeWorkspace, sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";

let workspace: Workspace;
let stream: Record<string, unknown>[];

const bash = (command: string) => ({ bash: { command } });

const logOf = (id: unknown): LogEvent[] => {
  const sessions = join(workspace.home, "sawtooth", "state", "sessions");
  const file = join(sessions, slugOf(workspace.cwd), String(id), "events.jsonl");
  return jsonLines(readFileSync(file, "utf8")) as LogEvent[];
};

beforeAll(async () => {
  workspace = makeWorkspace();
  const script = join(workspace.home, "script.json");
  const calls = [
    { str_replace_editor: { command: "create", path: "made.txt", file_text: "one\n" } },
    bash("printf by-rule"),
    bash("touch asked.txt"),
    bash("rm -rf /"),
  ];
  writeFileSync(
    script,
    JSON.stringify({ turns: [...calls.map((one) => ({ calls: [one] })), { text: "done" }] }),
  );
  const words = [
    "-p",
    "go",
    "--model",
    `scripted/${script}`,
    "--permission-mode",
    "accept-edits",
    "--sandbox",
    "off",
  ];
  const flags = ["--allow", "bash(printf:*)", "--deny", "read(secret)", "--output-format", "stream-json"];
  const { stdout } = await sawtooth(workspace, [...words, ...flags]);
  stream = jsonLines(stdout);
});

afterAll(() => workspace.remove());

const decided = [
  { decision: "allow", by: "mode", rule: "accept-edits", mode: "accept-edits" },
  { decision: "allow", by: "rule", rule: "bash(printf:*)", scope: "flags", mode: "accept-edits" },
  { decision: "deny", by: "headless", mode: "accept-edits", asked: { waitedMs: expect.any(Number) } },
  { decision: "deny", by: "always", rule: "refused always", mode: "accept-edits" },
];

describe("a session", () => {
  test("has each decision in its log, before the result of the call", () => {
    const events = logOf(stream[0]?.session_id);
    expect(allOf(events, "permission_decided")).toMatchObject(decided);
    for (const { toolUseId, seq } of allOf(events, "permission_decided")) {
      const result = allOf(events, "tool_result").find((event) => event.toolUseId === toolUseId);
      expect(result?.seq).toBeGreaterThan(seq);
    }
  });

  test("says each decision in the stream", () => {
    const lines = stream.filter(({ type }) => type === "permission");
    expect(lines.map(({ decision, by }) => [decision, by])).toEqual(
      decided.map(({ decision, by }) => [decision, by]),
    );
    expect(lines[2]).toMatchObject({ asked: { reason: expect.any(String), waited_ms: expect.any(Number) } });
  });

  test.each([
    ["report", ["report"], /Permissions: 2 allowed \(1 by the mode, 1 by a rule\), 2 denied/],
    ["report, whole", ["report", "--verbose"], /bash printf by-rule +allowed by the rule bash\(printf:\*\)/],
    [
      "show",
      ["sessions", "show"],
      /✓ bash printf by-rule\n {4}\(allowed by the rule bash\(printf:\*\) of the command line\)/,
    ],
    ["md", ["sessions", "export"], /Permission: allowed by the rule bash\(printf:\*\) of the command line/],
    ["html", ["sessions", "export", "--format", "html"], /Permission: allowed by the mode accept-edits/],
    [
      "json",
      ["sessions", "export", "--format", "json"],
      /"by": "rule",\s+"rule": "bash\(printf:\*\)"|"rule": "bash\(printf:\*\)",\s+"by": "rule"/,
    ],
  ])("shows the decision and who made it in %s", async (_name, words, expected) => {
    const { stdout, code } = await sawtooth(workspace, words);
    expect(code).toBe(0);
    expect(stdout).toMatch(expected);
  });

  test("shows each decision in the page of the report", async () => {
    const page = join(workspace.home, "report.html");
    await sawtooth(workspace, ["report", "--html", page]);
    const text = readFileSync(page, "utf8");
    expect(text).toMatch(/<td[^>]*>allowed by the rule bash\(printf:\*\) of the command line</);
    expect(text).toContain("2 allowed (1 by the mode, 1 by a rule), 2 denied");
  });

  test("is reported with the decisions of then, whatever the rules say now", async () => {
    const before = (await sawtooth(workspace, ["report", "--verbose"])).stdout;
    writeSettings(workspace, { deny: ["bash(printf:*)"], allow: ["bash(touch:*)"] });
    expect((await sawtooth(workspace, ["report", "--verbose"])).stdout).toBe(before);
  });
});

test("an approval whose call ended the program is in the log all the same", async () => {
  const script = join(workspace.home, "killer.json");
  // The shell ends its parent: no result of this call can be written.
  const turns = [{ calls: [bash("kill -9 $PPID; sleep 30")] }, { text: "done" }];
  writeFileSync(script, JSON.stringify({ turns }));
  const words = [
    "-p",
    "go",
    "--model",
    `scripted/${script}`,
    "--permission-mode",
    "auto",
    "--sandbox",
    "off",
  ];
  const run = await sawtooth(workspace, [...words, "--output-format", "stream-json"]);
  expect(run.signal).toBe("SIGKILL");
  const events = logOf(jsonLines(run.stdout)[0]?.session_id);
  expect(events.at(-1)).toMatchObject({
    type: "permission_decided",
    decision: "allow",
    by: "mode",
    mode: "auto",
  });
});

describe("a question", () => {
  const never = new AbortController().signal;
  const tool = {
    ...bashCalls,
    name: "bash",
    description: "",
    inputSchema: {},
    access: () => ({ kind: "execute" as const, command: "touch x" }),
    run: async () => ({ content: "" }),
  };
  const standing = {
    list: () => [],
    add: () => {},
    remove: () => undefined,
    locations: { session: "", project: "", user: "" },
  };
  const rules = () => ({
    ...{ mode: "ask" as const, allow: [], deny: [], workspace: ["/w"], home: "/h", protectedPaths: [] },
    standing,
  });
  const asked = (answer: Parameters<typeof permitAsking>[1], signal = never) =>
    permitAsking(rules, answer, standing)({ id: "toolu_1", tool, input: {}, access: tool.access() }, signal);

  test("is recorded with its answer, with the rule that was kept, and with the words of a no", async () => {
    const remember = { rule: "bash(touch:*)", scope: "project" as const };
    expect(await asked(async () => ({ decision: "allow", remember }))).toMatchObject({
      decision: "allow",
      by: "user",
      mode: "ask",
      asked: { reason: expect.stringMatching(/./), remembered: remember },
    });
    expect(await asked(async () => ({ decision: "deny", say: "use make" }))).toMatchObject({
      decision: "deny",
      by: "user",
      asked: { say: "use make" },
    });
  });

  test("that nobody answered before the turn was stopped is recorded as that", async () => {
    const controller = new AbortController();
    const record = await asked(async () => {
      controller.abort();
      return { decision: "deny", say: "" };
    }, controller.signal);
    expect(record.asked).toMatchObject({ unanswered: true });
  });
});

test("a log of a version that recorded denials only is read, and says what it does not know", () => {
  const log = memoryLog([started(), user("go"), reply(call("a", "bash", { command: "ls" })), result("a")]);
  log.append(reply(call("b", "bash", { command: "rm x" })));
  log.append({
    type: "permission_decided",
    toolUseId: "b",
    decision: "deny",
    rule: "ask",
    by: "headless",
  } as EventBody);
  log.append({ ...result("b"), isError: true } as EventBody);
  const report = reportText(log.events());
  expect(report).toContain("Permissions: none allowed, 1 denied (1 nobody could be asked), 1 not recorded");
  expect(report).toContain("bash rm x");
});
