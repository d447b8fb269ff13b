import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { schemaText } from "../../src/cli/schema/schema.ts";
import { jsonLines, type Started, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const stream = ["-p", "--input-format", "stream-json", "--output-format", "stream-json"];
const auto = [...stream, "--permission-mode", "auto"];
const user = (content: unknown, more: object = {}) => ({
  type: "user",
  message: { role: "user", content },
  ...more,
});
const text = (lines: object[]) => `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;

const schemaOf = (name: string) => new Ajv2020({ allErrors: true }).compile(JSON.parse(schemaText([name])));
const fitsOut = schemaOf("events");
const fitsIn = schemaOf("input");

/** The lines, each of which must be one of the schema's. */
function checked(stdout: string): Record<string, unknown>[] {
  const lines = jsonLines(stdout);
  for (const line of lines)
    if (!fitsOut(line)) throw new Error(`${JSON.stringify(line)}: ${JSON.stringify(fitsOut.errors)}`);
  return lines;
}

/** Talks to a running program line by line. */
function drive(workspace: Workspace, words: string[]) {
  const run: Started = start(workspace, words, { input: "open" });
  const lines = () => checked(run.stdout().slice(0, run.stdout().lastIndexOf("\n") + 1));
  return {
    ...run,
    lines,
    send(line: object) {
      if (!fitsIn(line)) throw new Error(`${JSON.stringify(line)}: ${JSON.stringify(fitsIn.errors)}`);
      run.child.stdin?.write(`${JSON.stringify(line)}\n`);
    },
    close: () => run.child.stdin?.end(),
    async until(found: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
      await until(() => lines().some(found), "a line of output");
      return lines().find(found) ?? {};
    },
  };
}

test("several messages are several turns of one session, in order, with one result at the end", async () => {
  const { workspace, server } = await serve([{ text: "one" }, { text: "two" }, { text: "three" }]);
  const blocks = [{ type: "text", text: "third" }];
  const input = text([user("first"), user("second"), user(blocks)]);
  const { code, stdout } = await sawtooth(workspace, stream, { input });
  const lines = checked(stdout);
  expect(code).toBe(0);
  expect(lines.map((line) => line.type)).toEqual([
    "system",
    ...["assistant", "turn", "assistant", "turn", "assistant", "turn"],
    "result",
  ]);
  expect(lines.filter((line) => line.type === "turn").map((line) => line.result)).toEqual([
    "one",
    "two",
    "three",
  ]);
  expect(lines.at(-1)).toMatchObject({ subtype: "success", result: "three", num_turns: 3 });
  expect(JSON.stringify(server.requests[2]?.messages)).toMatch(/first.*one.*second.*two.*third/);
});

test("a prompt on the command line is the first message", async () => {
  const { workspace, server } = await serve([{ text: "one" }, { text: "two" }]);
  await sawtooth(workspace, ["-p", "zeroth", ...stream.slice(1)], { input: text([user("first")]) });
  expect(JSON.stringify(server.requests[1]?.messages)).toMatch(/zeroth.*one.*first/);
});

test("an interrupt ends the turn, not the session", async () => {
  const { workspace, server } = await serve([
    { text: "I sleep", calls: [bash("touch asleep; sleep 900")] },
    { text: "went on" },
  ]);
  const run = drive(workspace, auto);
  run.send(user("sleep"));
  await until(() => existsSync(join(workspace.cwd, "asleep")));
  run.send({ type: "control_request", request_id: "stop-1", request: { subtype: "interrupt" } });
  await run.until((line) => line.type === "turn" && line.reason === "interrupted");
  run.send(user("go on"));
  await run.until((line) => line.type === "turn" && line.reason === "completed");
  run.close();
  const { code } = await run.ended;
  expect(code).toBe(0);
  expect(run.lines()).toContainEqual({
    type: "control_response",
    response: { subtype: "success", request_id: "stop-1" },
  });
  expect(server.exchanges.map((one) => one.status)).toEqual([200, 200]);
});

test("a message with priority now reaches the model at its next step", async () => {
  const { workspace, server } = await serve([
    { calls: [bash("until [ -e heard ]; do sleep 0.1; done")] },
    { text: "heard" },
  ]);
  const run = drive(workspace, auto);
  run.send(user("begin"));
  await run.until((line) => line.type === "assistant");
  run.send(user("use tabs", { priority: "now" }));
  // What is not understood is warned about at once: so the line before it was read, too.
  run.child.stdin?.write("and now\n");
  await run.until((line) => line.type === "warning");
  writeFileSync(join(workspace.cwd, "heard"), "");
  await run.until((line) => line.type === "turn");
  run.close();
  expect((await run.ended).code).toBe(0);
  expect(server.requests).toHaveLength(2);
  expect(JSON.stringify(server.requests[1]?.messages)).toContain("use tabs");
});

test.each([
  ["allow", { behavior: "allow" }, "yes.txt made", 0],
  ["deny", { behavior: "deny", message: "not on a Friday" }, "not on a Friday", 5],
])("a call that would ask is the driver's to %s", async (_, response, told, exit) => {
  const { workspace, server } = await serve([
    { calls: [bash("touch yes.txt && echo yes.txt made")] },
    { text: "so be it" },
  ]);
  const run = drive(workspace, stream);
  run.send(user("make it"));
  const question = await run.until((line) => line.type === "control_request");
  expect(question.request).toMatchObject({
    subtype: "can_use_tool",
    tool_name: "bash",
    input: { command: "touch yes.txt && echo yes.txt made" },
  });
  run.send({
    type: "control_response",
    response: { subtype: "success", request_id: question.request_id, response },
  });
  await run.until((line) => line.type === "turn");
  run.close();
  expect((await run.ended).code).toBe(exit);
  expect(JSON.stringify(server.requests[1]?.messages)).toContain(told);
});

test("with the input at its end nobody can answer: the call is denied at once", async () => {
  const { workspace, server } = await serve([{ calls: [bash("touch x")] }, { text: "could not" }]);
  const { code } = await sawtooth(workspace, stream, { input: text([user("make it")]) });
  expect(code).toBe(5);
  expect(JSON.stringify(server.requests[1]?.messages)).toContain("Not permitted");
});

test("lines that make no sense are warned about, and the run goes on", async () => {
  const { workspace } = await serve([{ text: "one" }]);
  const input = `not json\n[]\n{"type":"user"}\n{"type":"fly"}\n\n${text([
    { type: "control_request", request_id: "9", request: { subtype: "dance" } },
    user("first"),
  ])}`;
  const { code, stdout } = await sawtooth(workspace, stream, { input });
  const lines = checked(stdout);
  expect(code).toBe(0);
  expect(
    lines.filter((line) => line.type === "warning").map((line) => String(line.message).slice(0, 6)),
  ).toEqual(["line 1", "line 2", "line 3", "line 4"]);
  expect(lines).toContainEqual({
    type: "control_response",
    response: { subtype: "error", request_id: "9", error: expect.stringContaining("interrupt") },
  });
});

test("no message at all, or another output format, is a usage error", async () => {
  const { workspace } = await serve([]);
  const none = await sawtooth(workspace, stream, { input: "" });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("no user message") });
  const format = await sawtooth(workspace, ["-p", "--input-format", "stream-json"], {
    input: text([user("x")]),
  });
  expect(format).toMatchObject({ code: 2, stderr: expect.stringContaining("--output-format stream-json") });
});

test("SIGTERM while the driver is silent: a result line and exit 143", async () => {
  const { workspace } = await serve([{ text: "one" }]);
  const run = drive(workspace, stream);
  run.send(user("first"));
  await run.until((line) => line.type === "turn");
  run.child.kill("SIGTERM");
  const { code, stdout } = await run.ended;
  expect(code).toBe(143);
  expect(jsonLines(stdout).at(-1)).toMatchObject({
    type: "result",
    subtype: "error_interrupted",
    result: "one",
  });
});

test("each message gets its own structured output", async () => {
  const { workspace } = await serve([{ text: "1" }, { text: "two" }, { text: "2" }]);
  writeFileSync(join(workspace.cwd, "s.json"), '{ "type": "integer" }');
  const { stdout } = await sawtooth(workspace, [...stream, "--json-schema", "s.json"], {
    input: text([user("a"), user("b")]),
  });
  const turns = jsonLines(stdout).filter((line) => line.type === "turn");
  expect(turns.map((line) => line.structured_output)).toEqual([1, 2]);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ structured_output: 2 });
});

test.each(["events", "input"])("sawtooth schema %s prints the schema", async (name) => {
  const { workspace } = await serve([]);
  const { code, stdout } = await sawtooth(workspace, ["schema", name]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: schemaText([name]) });
  expect((await sawtooth(workspace, ["schema", "nothing"])).code).toBe(2);
});
