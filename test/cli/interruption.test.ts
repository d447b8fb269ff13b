import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { MockServer } from "../support/mock-server.ts";
import { jsonLines, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const auto = ["--permission-mode", "auto", "--output-format", "stream-json"];
const three = [
  { bash: { command: "touch at-work; sleep 900" } },
  { bash: { command: "sleep 900" } },
  { str_replace_editor: { command: "create", path: "never.txt", file_text: "x" } },
];

const setUp = () => serve([{ thinking: "hm", text: "I begin", calls: three }, { text: "went on" }]);

/** Waits until the first of the calls is at work. */
const atWork = ({ cwd }: Workspace) => until(() => existsSync(join(cwd, "at-work")));

/** The calls of the reply and what each was answered, from the last request that the server accepted. */
function answers(server: MockServer): string[] {
  const [, reply, results] = (server.requests.at(-1)?.messages ?? []) as {
    content: { type: string; content?: unknown }[];
  }[];
  expect(reply?.content.filter((block) => block.type === "tool_use")).toHaveLength(3);
  return (results?.content ?? [])
    .filter((block) => block.type === "tool_result")
    .map((block) => String(block.content));
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)(
  "%s in the middle of a call: one result line, the right code, and the session goes on",
  async (signal, exit) => {
    const { workspace, server } = await setUp();
    const run = start(workspace, ["-p", "go", ...auto]);
    await atWork(workspace);
    run.child.kill(signal);
    const { code, stdout } = await run.ended;
    expect(code).toBe(exit);
    const lines = jsonLines(stdout);
    expect(lines.filter((line) => line.type === "result")).toHaveLength(1);
    expect(lines.at(-1)).toMatchObject({ subtype: "error_interrupted", result: "I begin" });
    expect((await sawtooth(workspace, ["-p", "continue", "-c", ...auto])).code).toBe(0);
    expect(server.exchanges.map((exchange) => exchange.status)).toEqual([200, 200]);
    for (const text of answers(server)) expect(text).toMatch(/cancelled|interrupted/);
  },
);

test("kill -9 in the middle of a call: the resumed session is valid and loses nothing that was said", async () => {
  const { workspace, server } = await setUp();
  const run = start(workspace, ["-p", "my long task", ...auto]);
  await atWork(workspace);
  run.child.kill("SIGKILL");
  await run.ended;
  const { code, stderr } = await sawtooth(workspace, ["-p", "continue", "-c", "--permission-mode", "auto"]);
  expect({ code, refused: server.exchanges.filter((each) => each.status !== 200) }).toEqual({
    code: 0,
    refused: [],
  });
  expect(answers(server)).toHaveLength(3);
  for (const text of answers(server)) expect(text).toContain("interrupted");
  expect(JSON.stringify(server.requests.at(-1))).toContain("my long task");
  expect(stderr).not.toContain("Error");
});

test("the log of a run rebuilds the exact bytes of every request", async () => {
  const { workspace, server } = await setUp();
  const run = start(workspace, ["-p", "go", ...auto]);
  await run.until('"assistant"');
  run.child.kill("SIGINT");
  await run.ended;
  await sawtooth(workspace, ["-p", "continue", "-c", ...auto]);
  for (const [index, body] of server.rawBodies.entries()) {
    const { stdout } = await sawtooth(workspace, ["report", "--step", String(index + 1)]);
    expect(stdout).toBe(`${body}\n`);
  }
});

test("a second process is told that the session is in use", async () => {
  const { workspace } = await setUp();
  const run = start(workspace, ["-p", "go", ...auto]);
  await run.until('"assistant"');
  const second = await sawtooth(workspace, ["-p", "me too", "-c"]);
  expect(second.code).toBe(2);
  expect(second.stderr).toMatch(/in use by process \d+.*--fork/);
  run.child.kill("SIGINT");
  await run.ended;
});

test("the key reaches no child process, no log and no request", async () => {
  const { server, workspace } = await serve([
    { calls: [{ bash: { command: "env; cat /proc/$PPID/environ | tr '\\0' '\\n'" } }] },
    { text: "done" },
  ]);
  await sawtooth(workspace, ["-p", "go", ...auto]);
  expect(server.rawBodies.join("")).not.toContain("sk-canary-7f3a");
  expect(server.rawBodies.join("")).toContain("HOME=");
  const root = join(workspace.env.SAWTOOTH_HOME ?? "", "state", "sessions");
  const logs = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith("events.jsonl"),
  );
  expect(logs).toHaveLength(1);
  for (const name of logs) expect(readFileSync(join(root, name), "utf8")).not.toContain("sk-canary-7f3a");
});
