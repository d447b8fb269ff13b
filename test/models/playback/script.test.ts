/** Scripts: how they are read, what is wrong with broken ones, how turns are played. */

import { describe, expect, test } from "vitest";
import { ModelError } from "../../../src/core/ports.ts";
import {
  parseScript,
  playReply,
  type ReplyContext,
  replyAt,
  type ScriptedReply,
} from "../../../src/models/playback/script.ts";

const read = (source: string) => parseScript(source, "demo.yaml");
const context: ReplyContext = {
  number: 3,
  idBase: "toolu_script_3",
  newest: { text: "2 failed\nerror in src/sum.js:7", from: "the result of bash" },
  cwd: "/tmp/work",
  sign: (thinking) => `signed ${thinking}`,
};

describe("a script", () => {
  test("is YAML", async () => {
    const script = await read(`
model: { window: 40000, history: prefix_bound }
turns:
  - thinking: Look first.
    calls:
      - bash: { command: npm test }
  - expect: failed
    text: |
      It fails.
    repeat: 2
`);
    expect(script).toEqual({
      file: "demo.yaml",
      model: { window: 40_000, history: "prefix_bound" },
      turns: [
        { thinking: "Look first.", calls: [{ bash: { command: "npm test" } }] },
        { expect: "failed", text: "It fails.\n", repeat: 2 },
      ],
    });
  });

  test("is JSON", async () => {
    expect((await read('{"turns": [{"text": "hi", "fault": {"status": 529}}]}')).turns).toHaveLength(1);
  });

  test.each([
    ["turns: [", "demo.yaml: Flow sequence in block collection must be sufficiently indented"],
    ["hello", "demo.yaml: the script must be an object, not a string"],
    ["", "demo.yaml: the script must be an object, not null"],
    ["modell: {}", "demo.yaml: the script.turns is missing"],
    ["turns: {}", "demo.yaml: the script.turns must be an array, not an object"],
    ["turns: []", "demo.yaml: turns is empty"],
    ["{model: {windows: 3}, turns: [{text: a}]}", "demo.yaml: the script.model.windows is not known"],
    ["turns: [{text: a}, b]", "demo.yaml: turn 2 must be a map of text, calls …"],
    ["turns: [{text: a}, {txt: b}]", "demo.yaml: turn 2.txt is not known"],
    ["turns: [{text: a}, {text: 5}]", "demo.yaml: turn 2.text must be a string, not a number"],
    ["turns: [{text: a}, {repeat: 2}]", "demo.yaml: turn 2 has neither text nor calls"],
    ["turns: [{text: a, repeat: 0}]", "demo.yaml: turn 1.repeat must be at least 1"],
    ["turns: [{calls: {bash: {}}}]", "demo.yaml: turn 1.calls must be an array, not an object"],
    ["turns: [{calls: [{bash: ls}]}]", "demo.yaml: turn 1.calls[0].bash must be an object, not a string"],
    [
      "turns: [{calls: [{bash: {}, todo: {}}]}]",
      "demo.yaml: turn 1: a call is one tool's name with its input",
    ],
    ['turns: [{expect: "(", text: a}]', "demo.yaml: turn 1: Invalid regular expression: /(/"],
    ["turns: [{fault: {status: 200}}]", "demo.yaml: turn 1.fault.status must be at least 400"],
  ])("that reads %j is refused in one line", async (source, message) => {
    const error = await read(source).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ModelError);
    expect(error).toMatchObject({ kind: "script", message: expect.stringContaining(message) });
    expect((error as ModelError).message).not.toContain("\n");
  });
});

describe("turns", () => {
  const turns: ScriptedReply[] = [{ text: "a" }, { text: "b", repeat: 2 }, { text: "c" }];

  test("are played in order, repeated ones again", () => {
    const played = [0, 1, 2, 3].map((index) => replyAt(turns, {}, index));
    expect(played.map(({ turn, number }) => [turn.text, number])).toEqual([
      ["a", 1],
      ["b", 2],
      ["b", 2],
      ["c", 3],
    ]);
  });

  test("come to an end", () => {
    expect(() => replyAt(turns, {}, 4)).toThrow(
      "the script ends after 4 replies, and one more was asked for",
    );
  });

  test("may be made from the request", () => {
    const turn = replyAt(
      (request: { ask: string }, index) => ({ text: `${request.ask} ${index}` }),
      { ask: "who" },
      2,
    );
    expect(turn).toEqual({ turn: { text: "who 2" }, number: 3 });
  });
});

describe("a turn", () => {
  test("becomes blocks in the order of a reply, with ids of its own", () => {
    const turn: ScriptedReply = {
      calls: [{ bash: { command: "ls" } }, { todo: { items: [] } }],
      text: "Two things.",
      thinking: "hm",
      redacted_thinking: "secret",
    };
    expect(playReply(turn, context)).toEqual({
      content: [
        { type: "redacted_thinking", data: "signed secret" },
        { type: "thinking", thinking: "hm", signature: "signed hm" },
        { type: "text", text: "Two things." },
        { type: "tool_use", id: "toolu_script_3_1", name: "bash", input: { command: "ls" } },
        { type: "tool_use", id: "toolu_script_3_2", name: "todo", input: { items: [] } },
      ],
      stopReason: "tool_use",
    });
  });

  test("stops at rest without calls, and as it says", () => {
    expect(playReply({ text: "done" }, context).stopReason).toBe("end_turn");
    expect(playReply({ text: "no", stop: "refusal" }, context).stopReason).toBe("refusal");
  });

  test("has no thinking where nothing signs it", () => {
    expect(playReply({ thinking: "hm", text: "done" }, { ...context, sign: undefined }).content).toHaveLength(
      1,
    );
  });

  test("fills the folder and what it captured into texts and inputs, however deep", () => {
    const turn: ScriptedReply = {
      expect: ["^(\\d+) failed", /(?<file>\S+):(\d+)/],
      text: "{{1}} at {{3}}, {{ not this }}",
      calls: [{ edit: { path: "{{cwd}}/{{2}}", list: [{ line: "{{3}}" }, 4, null] } }],
    };
    const { content } = playReply(turn, context);
    expect(content[0]).toEqual({ type: "text", text: "2 at 7, {{ not this }}" });
    const input = { path: "/tmp/work/src/sum.js", list: [{ line: "7" }, 4, null] };
    expect(content[1]).toMatchObject({ input });
  });

  test("that expected something else says what it got", () => {
    expect(() => playReply({ expect: ["failed", "^passed"], text: "a" }, context)).toThrow(
      "turn 3: expected /^passed/ in the result of bash, got: 2 failed\nerror in src/sum.js:7",
    );
  });

  test("cannot fill what nothing captured", () => {
    expect(() => playReply({ expect: "(failed)", text: "{{2}}" }, context)).toThrow(
      "turn 3: nothing captured {{2}}",
    );
  });
});
