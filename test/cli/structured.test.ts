import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jsonLines, sawtooth } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

const schema = JSON.stringify({
  type: "object",
  properties: { name: { type: "string" }, lines: { type: "integer", minimum: 0 } },
  required: ["name", "lines"],
  additionalProperties: false,
});
const good = '{ "name": "a.js", "lines": 3 }';
const json = ["--output-format", "json", "--json-schema"];

test("an answer that fits is the structured output, and the model was shown the schema", async () => {
  const { workspace, server } = await serve([{ text: good }]);
  const { code, stdout } = await sawtooth(workspace, ["-p", "count", ...json, schema]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    subtype: "success",
    structured_output: { name: "a.js", lines: 3 },
    result: good,
  });
  expect(JSON.stringify(server.requests[0]?.messages)).toContain("additionalProperties");
});

test("the schema may be in a file; in the text format the answer is one line of JSON", async () => {
  const { workspace } = await serve([{ text: `Here it is:\n\n\`\`\`json\n${good}\n\`\`\`\n` }]);
  writeFileSync(join(workspace.cwd, "schema.json"), schema);
  const { code, stdout } = await sawtooth(workspace, ["-p", "count", "--json-schema", "schema.json"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: '{"name":"a.js","lines":3}\n' });
});

test("an answer that does not fit goes back with what is wrong, until it fits", async () => {
  const { workspace, server } = await serve([
    { text: "There are three." },
    { text: '{ "name": "a.js", "lines": "three", "more": 1 }' },
    { text: good },
  ]);
  const { code, stdout } = await sawtooth(workspace, ["-p", "count", ...json, schema]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ structured_output: { lines: 3 }, num_turns: 3 });
  const told = server.requests.map((request) => JSON.stringify(request.messages.at(-1)));
  expect(told[1]).toContain("it holds no JSON value");
  expect(told[2]).toContain("/lines must be integer");
  expect(told[2]).toContain("additional properties (more)");
});

test("after three repairs the run fails: exit 1, no structured output, the reason is named", async () => {
  const { workspace, server } = await serve([{ text: "no", repeat: 9 }]);
  const { code, stdout } = await sawtooth(workspace, ["-p", "count", ...json, schema]);
  expect(code).toBe(1);
  expect(server.requests).toHaveLength(4);
  expect(JSON.parse(stdout)).toMatchObject({
    subtype: "error_during_execution",
    terminal_reason: "schema",
    structured_output: null,
    errors: [expect.stringContaining("does not fit the schema")],
  });
});

test("a limit holds during repairs too", async () => {
  const { workspace, server } = await serve([{ text: "no", repeat: 9 }]);
  const { code } = await sawtooth(workspace, ["-p", "count", "--max-turns", "2", ...json, schema]);
  expect({ code, requests: server.requests.length }).toEqual({ code: 3, requests: 2 });
});

test.each([
  ["{ not json", /--json-schema: the value is not JSON/],
  ["nowhere.json", /nowhere\.json: neither JSON nor a readable file/],
  ['{ "type": "objekt" }', /not a usable JSON Schema/],
  ['{ "$ref": "https://example.com/other.json" }', /not a usable JSON Schema/],
])("a schema that cannot be used is a usage error before anything is sent: %s", async (value, message) => {
  const { workspace, server } = await serve([{ text: "never" }]);
  const { code, stdout, stderr } = await sawtooth(workspace, ["-p", "x", ...json, value]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(jsonLines(stdout)).toMatchObject([{ type: "result", is_error: true, session_id: null }]);
  expect(server.exchanges).toHaveLength(0);
});

test("older drafts are understood by their name", async () => {
  const { workspace } = await serve([{ text: "[1, 2]" }]);
  const draft7 =
    '{ "$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{ "type": "number" }] }';
  const { code, stdout } = await sawtooth(workspace, ["-p", "x", ...json, draft7]);
  expect({ code, output: JSON.parse(stdout).structured_output }).toEqual({ code: 0, output: [1, 2] });
});

describe("--quarantine", () => {
  const bounded =
    '{"type":"object","properties":{"a":{"type":"string","maxLength":9}},"additionalProperties":false}';
  const quarantine = ["-p", "extract", "--quarantine"];

  test("gives the model no tools and no project files, keeps no session, and lets only fitting data out", async () => {
    const { workspace, server } = await serve([
      { text: '{"a":"b"} Now run curl.' },
      { text: "no", repeat: 9 },
    ]);
    writeFileSync(join(workspace.cwd, "AGENTS.md"), "CANARY-INSTRUCTIONS\n");
    const { code, stdout } = await sawtooth(workspace, [...quarantine, ...json, bounded]);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ result: '{"a":"b"}', structured_output: { a: "b" }, session_id: null, resume: null },
    });
    expect(code).toBe(0);
    const sent = JSON.stringify(server.requests[0]);
    expect(sent).not.toContain("CANARY-INSTRUCTIONS");
    expect(sent).not.toContain("str_replace_editor");
    expect(existsSync(join(workspace.env.SAWTOOTH_HOME ?? "", "state", "sessions"))).toBe(false);
    const failed = await sawtooth(workspace, [...quarantine, ...json, bounded]);
    expect(failed.code).toBe(1);
    expect(failed.stdout + failed.stderr).not.toContain('"no"');
  });

  test.each([
    [[], /needs --json-schema/],
    [["--json-schema", '{"type":"object"}'], /lets free text out: the value needs additionalProperties/],
    [
      ["--json-schema", '{"type":"array","maxItems":2,"items":{"type":"string"}}'],
      /each item of the value needs maxLength/,
    ],
    [["--json-schema", bounded, "--output-format", "stream-json"], /a stream would let the words out/],
  ])("is refused with %j", async (words, message) => {
    const { workspace, server } = await serve([{ text: "never" }]);
    const { code, stderr } = await sawtooth(workspace, [...quarantine, ...words]);
    expect({ code, sent: server.exchanges.length }).toEqual({ code: 2, sent: 0 });
    expect(stderr).toMatch(message);
  });
});
