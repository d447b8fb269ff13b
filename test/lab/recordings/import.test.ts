import { mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isToolUse } from "../../../src/core/blocks.ts";
import { allOf, started } from "../../../src/core/questions.ts";
import { importRecording } from "../../../src/lab/recordings/import.ts";
import { call, memoryLog, reply, result, started as start, user } from "../../support/logs.ts";
import { claudeCode, codex, miniSweAgent, pi, sweAgent } from "./recordings.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "sawtooth-import-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const types = (path: string) => importRecording(path).events.map(({ type }) => type);

describe("a session of Claude Code", () => {
  test("is one event per message, however many lines it spans, with its usage counted once", () => {
    const recording = importRecording(file("s.jsonl", claudeCode()));
    expect(recording.format).toBe("claude-code");
    const [first, second] = allOf(recording.events, "assistant_message");
    expect(first?.content.map(({ type }) => type)).toEqual(["thinking", "tool_use", "tool_use"]);
    expect(first?.usage).toEqual({
      inputTokens: 7,
      cacheReadTokens: 100,
      cacheWrite5mTokens: 30,
      cacheWrite1hTokens: 20,
      outputTokens: 90,
    });
    expect(second?.content).toEqual([{ type: "text", text: "Done." }]);
  });

  test("calls tools by our names, so that policies understand them", () => {
    const { events } = importRecording(file("s.jsonl", claudeCode()));
    const calls = allOf(events, "assistant_message").flatMap(({ content }) => content.filter(isToolUse));
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ["str_replace_editor", { command: "view", path: "/w/a.ts", view_range: [5, 14] }],
      ["bash", { command: "npm test" }],
    ]);
    const [read, ran] = allOf(events, "tool_result");
    expect(read).toMatchObject({ toolName: "str_replace_editor", stats: { lines: 2, read: ["/w/a.ts"] } });
    expect(ran).toMatchObject({ content: "1 failed\n[image]", isError: true });
  });

  test("keeps its summary as an edit, leaves sub-agents out, and tells what it does not understand", () => {
    const { events, leftOut, warnings } = importRecording(file("s.jsonl", claudeCode()));
    const [edit] = allOf(events, "context_edited");
    expect(edit?.edits).toEqual([{ type: "collapse", from: 1, to: 4, text: "The fault is in a.ts." }]);
    expect(leftOut).toEqual({ "file-history-snapshot": 1, "line of a sub-agent": 1, system: 1 });
    expect(warnings).toEqual(["not understood and left out: 1 × hologram"]);
  });
});

test("a session of pi keeps what was said and run, and drops replies that were cut before they said anything", () => {
  const path = file("s.jsonl", pi());
  expect(types(path)).toEqual([
    "session_started",
    "user_message",
    "assistant_message",
    "tool_result",
    "assistant_message",
    "user_message",
    "context_edited",
    "assistant_message",
  ]);
  const { events, leftOut, warnings, format } = importRecording(path);
  expect(format).toBe("pi");
  const [edited, cut] = allOf(events, "assistant_message");
  expect(edited?.content[0]).toMatchObject({
    name: "str_replace_editor",
    input: { command: "str_replace", path: "a.ts", old_str: "x", new_str: "y" },
  });
  expect(edited?.usage).toMatchObject({ inputTokens: 3, cacheReadTokens: 200, cacheWrite5mTokens: 60 });
  expect(cut).toMatchObject({ content: [{ type: "text", text: "I will" }], stopReason: "interrupted" });
  // The entry with index 6 is kept: what came before it becomes the summary.
  expect(allOf(events, "context_edited")[0]?.edits).toMatchObject([{ from: 1, to: 4, text: "Renamed x." }]);
  expect(leftOut).toMatchObject({ "reply that was cut before it said anything": 1 });
  expect(warnings).toEqual(["not understood and left out: 1 × dream"]);
});

test("a rollout of Codex puts the parts of a reply together and gives it the count that follows", () => {
  const { events, format, warnings } = importRecording(file("rollout.jsonl", codex()));
  expect(format).toBe("codex");
  expect(started(events)).toMatchObject({ system: "Be brief.", cwd: "/w/app" });
  const [first, second] = allOf(events, "assistant_message");
  expect(first?.content).toMatchObject([
    { type: "thinking", thinking: "Tests first." },
    { type: "tool_use", id: "f1", name: "bash", input: { command: "npm test" } },
  ]);
  expect(first?.usage).toMatchObject({ inputTokens: 100, cacheReadTokens: 400, outputTokens: 30 });
  expect(second?.content).toEqual([{ type: "text", text: "One fails." }]);
  expect(allOf(events, "tool_result")[0]).toMatchObject({
    content: "1 failed",
    isError: true,
    stats: { exitCode: 1 },
  });
  expect(allOf(events, "context_edited")).toHaveLength(1);
  expect(warnings).toEqual(["not understood and left out: 1 × item mystery"]);
});

test("a trajectory of SWE-agent pairs actions with observations, with or without calls of the API", () => {
  const { events, format } = importRecording(file("a.traj", sweAgent()));
  expect(format).toBe("swe-agent");
  expect(started(events).system).toBe("You are an engineer.");
  const results = allOf(events, "tool_result");
  expect(results.map(({ toolName, content }) => [toolName, content])).toEqual([
    ["bash", "a.py"],
    ["bash", "344"],
  ]);
  const calls = allOf(events, "assistant_message").flatMap(({ content }) => content.filter(isToolUse));
  expect(calls.map(({ id }) => id)).toEqual(results.map(({ toolUseId }) => toolUseId));
});

test("a trajectory of mini-swe-agent keeps usage, exit status and the pauses between steps", () => {
  const { events, format } = importRecording(file("a.traj.json", miniSweAgent()));
  expect(format).toBe("mini-swe-agent");
  const [first] = allOf(events, "assistant_message");
  expect(first?.usage).toMatchObject({ inputTokens: 100, cacheReadTokens: 900, outputTokens: 20 });
  expect(first?.content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
  const [good, bad] = allOf(events, "tool_result");
  expect([good?.isError, bad?.isError]).toEqual([false, true]);
  expect((bad?.at ?? 0) - (good?.at ?? 0)).toBe(397_000);
});

test("a log of ours is taken as it is", () => {
  const log = memoryLog([start(), user("go"), reply(call("a")), result("a")]);
  const text = log.events().map((event) => `${JSON.stringify(event)}\n`);
  const { events, format } = importRecording(file("events.jsonl", text.join("")));
  expect(format).toBe("sawtooth");
  expect(events).toEqual(log.events());
});

describe("a file that is no good", () => {
  const message = (path: string): string => {
    try {
      importRecording(path);
    } catch (error) {
      return (error as Error).message.replace(`${folder}/`, "");
    }
    throw new Error("it was read");
  };

  test("is refused in one sentence that says why", () => {
    expect(message(file("empty.jsonl", " \n"))).toBe("empty.jsonl is empty: there is nothing to replay");
    expect(message(file("noise.jsonl", "\u0000\u0001 not json\nnor this\n"))).toMatch(
      /damaged, or no recording/,
    );
    expect(message(file("cut.traj", sweAgent().slice(0, 300)))).toMatch(/damaged, or no recording/);
    expect(message(file("other.jsonl", '{"a":1}\n{"a":2}\n'))).toMatch(/of no known format/);
    expect(message(file("list.json", "[1,2,3]"))).toMatch(/of no known format/);
    expect(message(file("half.jsonl", claudeCode().split("\n").slice(0, 2).join("\n")))).toMatch(/no reply/);
    expect(message(join(folder, "missing.jsonl"))).toMatch(/cannot be read \(ENOENT\)/);
    expect(message(folder)).toMatch(/cannot be read \(EISDIR\)/);
  });

  test("is not even opened when it is too large", () => {
    const path = file("large.jsonl", claudeCode());
    truncateSync(path, 40 * 1024 * 1024);
    expect(message(path)).toBe("large.jsonl is too large to replay: 40 MB, and 32 MB is the limit");
  });

  test("costs only its damaged lines when some are whole", () => {
    const all = claudeCode().split("\n");
    const damaged = [...all.slice(0, 3), '{"type":"user","mess', ...all.slice(3)].join("\n");
    const { warnings, events } = importRecording(file("s.jsonl", damaged));
    expect(warnings[0]).toBe("1 damaged line was left out");
    expect(allOf(events, "assistant_message")).toHaveLength(2);
  });

  test("may hold anything in the place of anything: a reader never crashes on what a line holds", () => {
    const odd = [null, 7, "x", [], {}, [null], { content: 3 }, { text: 5 }];
    for (const text of [claudeCode(), pi(), codex()]) {
      const lines = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      for (const [index, line] of lines.entries()) {
        for (const key of ["message", "payload"].filter((each) => each in line)) {
          for (const value of odd) {
            const changed = lines.with(index, { ...line, [key]: value }).map((each) => JSON.stringify(each));
            expect(() => importRecording(file("odd.jsonl", changed.join("\n")))).not.toThrow(TypeError);
          }
        }
      }
    }
  });
});

test.each([
  ["Claude Code", claudeCode],
  ["pi", pi],
  ["Codex", codex],
])("a recording of %s with its newest line first is read as the one in order of time", (_agent, lines) => {
  const reversed = lines().trim().split("\n").reverse().join("\n");
  const inOrder = importRecording(file("s.jsonl", lines())).events;
  expect(importRecording(file("r.jsonl", `${reversed}\n`)).events.map(({ type }) => type)).toEqual(
    inOrder.map(({ type }) => type),
  );
});

test("calls of a recording that share an id get one each, and the results in turn", () => {
  const repeated = claudeCode().replaceAll('"t2"', '"t1"');
  const { events } = importRecording(file("s.jsonl", repeated));
  const calls = allOf(events, "assistant_message").flatMap(({ content }) => content.filter(isToolUse));
  expect(calls.map(({ id }) => id)).toEqual(["t1", "t1_2"]);
  expect(allOf(events, "tool_result").map(({ toolUseId }) => toolUseId)).toEqual(["t1", "t1_2"]);
});
