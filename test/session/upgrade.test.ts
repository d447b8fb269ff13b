/** Logs of version 0.1, as they were written: they are read, rebuilt byte for byte, reported and resumed. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { resultObject } from "../../src/cli/headless/result.ts";
import { requestOfStep } from "../../src/context/request/compose.ts";
import { requestOfSummary } from "../../src/context/request/summary-call.ts";
import { turnsOf } from "../../src/context/view/turns.ts";
import { applyEvents } from "../../src/context/view/view.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf, spending } from "../../src/core/questions.ts";
import { knownTasks } from "../../src/core/task-list.ts";
import { encodeAnthropic } from "../../src/models/anthropic/encoding.ts";
import { reportText } from "../../src/report/text/report.ts";
import { slugOf } from "../../src/session/listing.ts";
import { parseLine, readLog } from "../../src/session/read.ts";
import { testCard } from "../support/logs.ts";
import { startMockServer } from "../support/mock-server.ts";
import { makeWorkspace, sawtooth } from "../support/sawtooth.ts";

const folder = fileURLToPath(new URL("../fixtures/logs-0.1/", import.meta.url));
const names = readdirSync(folder);
const read = (name: string) => readLog(join(folder, name));
const hash = (body: string) => createHash("sha256").update(body).digest("hex");

test("there are three of them", () => {
  expect(names).toEqual(["folds-and-summaries.jsonl", "killed-in-a-call.jsonl", "rejected-calls.jsonl"]);
});

describe.each(names)("%s", (name) => {
  test("is read whole, in today's words", () => {
    const { events, warnings } = read(name);
    expect(warnings).toEqual([]);
    expect(events).toHaveLength(readFileSync(join(folder, name), "utf8").trimEnd().split("\n").length);
    expect(JSON.stringify(events.map(({ type }) => type))).not.toContain("side_call");
    expect(allOf(events, "turn_ended").map(({ reason }) => String(reason))).not.toContain("rest");
  });

  test("rebuilds every request that was sent, byte for byte", () => {
    const { events } = read(name);
    const sent = allOf(events, "model_request");
    for (const [index, { bodyHash }] of sent.entries()) {
      const composed = requestOfStep(events, index + 1);
      expect(composed && hash(encodeAnthropic(composed.request))).toBe(bodyHash);
    }
    for (const [index, { bodyHash }] of allOf(events, "summary_call").entries()) {
      const request = requestOfSummary(events, index + 1);
      expect(request && hash(encodeAnthropic(request))).toBe(bodyHash);
    }
    expect(sent.length).toBeGreaterThan(1);
  });

  test("is listed, shown, reported and resumed", async () => {
    const server = await startMockServer({ turns: [{ text: "went on" }] });
    const fixture = makeWorkspace(server.url);
    onTestFinished(async () => {
      await server.close();
      fixture.remove();
    });
    const text = readFileSync(join(folder, name), "utf8");
    const old = (JSON.parse(text.split("\n", 1)[0] ?? "") as { cwd: string }).cwd;
    const id = "20261120-000000-aaaaaa";
    const session = join(fixture.home, "sawtooth", "state", "sessions", slugOf(fixture.cwd), id);
    mkdirSync(session, { recursive: true });
    writeFileSync(join(session, "events.jsonl"), text.replaceAll(old, fixture.cwd));
    const [list, show, report, ended] = [
      await sawtooth(fixture, ["sessions", "list"]),
      await sawtooth(fixture, ["sessions", "show"]),
      await sawtooth(fixture, ["report", "--verbose"]),
      await sawtooth(fixture, ["-p", "-r", id, "continue"]),
    ];
    expect([list.code, list.stdout]).toEqual([0, expect.stringContaining(id)]);
    expect([show.code, show.stdout]).toEqual([0, expect.stringContaining("> go")]);
    expect([report.code, report.stdout]).toEqual([0, expect.stringContaining("Context per step")]);
    expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, "went on\n", ""]);
    expect(server.exchanges.map(({ status }) => status)).toEqual([200]);
    const { events, warnings } = readLog(join(session, "events.jsonl"));
    expect([warnings, events.at(-1)]).toEqual([[], expect.objectContaining({ reason: "completed" })]);
  });
});

test("a price tier with one factor for everything is read as one with two", () => {
  const prices = { input: 5, output: 30, cacheRead: 0.5, cacheWrite5m: 0, cacheWrite1h: 0 };
  const model = { id: "openai/gpt-5.5", prices: { ...prices, tier: { aboveTokens: 272_000, factor: 2 } } };
  const tier = { aboveTokens: 272_000, input: 2, output: 2 };
  const line = { seq: 1, at: 1, type: "model_changed", model: { ...testCard(), ...model } };
  expect(parseLine(Buffer.from(JSON.stringify(line)))).toMatchObject({
    model: { prices: { ...prices, tier } },
  });
});

describe("the fields that version 0.1 did not write", () => {
  test("tell which calls were rejected and why, and what the task list was", () => {
    const { events } = read("rejected-calls.jsonl");
    expect(allOf(events, "tool_result").map(({ rejected }) => rejected)).toEqual([
      "unknown_tool",
      "invalid_input",
      undefined,
      undefined,
      "denied",
      undefined,
    ]);
    expect(turnsOf(applyEvents(events).entries).map(({ effective }) => effective)).toEqual([
      ...[false, false],
      ...[true, true, true],
    ]);
    expect(knownTasks(events)).toBe("- [x] part 1\n- [ ] part 2");
    expect(resultObject(events, { durationMs: 0 })).toMatchObject({
      terminal_reason: "completed",
      permission_denials: [{ rule: "refused always" }],
    });
    expect(reportText(events)).toContain("1 denied (1 in every mode), 3 not recorded");
  });

  test("tell folds, calls for summaries and what a warning is about", () => {
    const { events } = read("folds-and-summaries.jsonl");
    const folds = allOf(events, "context_edited").flatMap(({ fold }) => fold ?? []);
    expect(folds).toEqual([{ objective: "find out why the check fails" }]);
    expect(allOf(events, "warning").map(({ code }) => code)).toEqual(["window_learned"]);
    expect(allOf(events, "summary_call").map(({ outcome }) => outcome)).toEqual(["accepted", "failed"]);
    const replies = allOf(events, "assistant_message").length;
    expect(spending(events)).toMatchObject({ turns: replies + 2, replies });
  });

  const line = (body: object): LogEvent =>
    parseLine(Buffer.from(JSON.stringify({ seq: 1, at: 1, ...body }))) as LogEvent;

  test.each([
    ["bash failed unexpectedly: boom", { code: "tool_crashed" }],
    ["the API dropped 2 thinking blocks that no longer match the history", { code: "thinking_dropped" }],
    ['the reply repeated "x" without end and was cut', { code: "reply_repeated" }],
    ["the API refused a thinking signature: all thinking was left out", { code: "history_repaired" }],
    ["2 user messages are no longer in the context", { code: "messages_lost" }],
    [
      "summaries by the model have not paid: from now on they are made from the log alone. The largest …",
      { code: "summaries_stopped" },
    ],
    ["a rule of the context engine is broken: rule 8: no cache breakpoint", { code: "rule_broken", rule: 8 }],
  ])("make of the warning %j %j", (text, fields) => {
    expect(line({ type: "warning", text })).toMatchObject(fields);
  });

  test("are not guessed from what a person's program wrote", () => {
    expect(line({ type: "warning", text: "the disk is full" })).not.toHaveProperty("code");
    const result = {
      type: "tool_result",
      toolUseId: "a",
      toolName: "bash",
      isError: true,
      stats: { exitCode: 1 },
    };
    expect(line({ ...result, content: "There is no tool x\n[exit 1]" })).not.toHaveProperty("rejected");
  });

  test("name the command that a person ran in the shell", () => {
    const said = (text: string) => line({ type: "user_message", content: [{ type: "text", text }] });
    const shell = { command: "ls\npwd" };
    expect(said("<ran_in_shell>\n$ ls\npwd\n\na\n\nb\n</ran_in_shell>")).toMatchObject({ shell });
    expect(said("what is <ran_in_shell>?")).not.toHaveProperty("shell");
  });

  test("call the tokens whose forgetting is deferred by today's name", () => {
    const request = {
      type: "model_request",
      bodyHash: "a",
      tokensEstimated: 1,
      cacheAfter: [],
      flushTokens: 7,
    };
    expect(line({ ...request, heldTokens: 5 })).toEqual({ seq: 1, at: 1, ...request, deferredTokens: 5 });
  });

  test("are found in the block of knowledge, and in the mode that a denial named", () => {
    const preamble = [
      { type: "text", text: "facts" },
      { type: "text", text: "Knowledge of this session:" },
    ];
    expect(line({ type: "user_message", content: [], preamble })).toMatchObject({ knowledge: 1 });
    const denial = {
      type: "permission_decided",
      toolUseId: "a",
      decision: "deny",
      rule: "ask",
      by: "headless",
    };
    expect(line(denial)).toMatchObject({ mode: "ask" });
  });
});
