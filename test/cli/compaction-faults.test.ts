/** T03: compaction cannot loop and cannot kill a session. Through the whole program and the strict server. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf, lastOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, start, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { sized } from "../support/size.ts";
import { until } from "../support/until.ts";
import { driveWarm } from "../support/warm-screens.ts";

const isSummary = (body: string) => body.includes("Stop working for a moment");
const bash = (command: string) => ({ bash: { command } });
const words = "because ".repeat(350);
/** Tokens of the model's window; requests may take 0.6 of it. */
const usualWindow = sized(20_000, 40_000);

type Setting = {
  summary?: ScriptedReply;
  steps?: number;
  window?: number;
  settings?: object;
  calls?: string[];
};

/**
 * A model that says much, which cannot be masked, until it rests after `steps` calls a turn; `summary` is what it
 * answers when asked for one. `calls`: its first commands.
 */
function talker(setting: Setting) {
  const { steps = 30, calls = [] } = setting;
  let step = 0;
  return (body: WireBody): ScriptedReply => {
    if (isSummary(JSON.stringify(body.messages.at(-1))))
      return setting.summary ?? { text: "Decisions: none." };
    step += 1;
    if (step % (steps + 1) === 0) return { text: "resting" };
    return {
      thinking: `why ${step}`,
      text: words,
      calls: [bash(calls[step - 1] ?? `seq ${step} ${step + 40}`)],
    };
  };
}

async function setUp(id: string, setting: Setting = {}) {
  const { window = usualWindow, settings = {} } = setting;
  const { server, workspace } = await serve(talker(setting), { models: { "*": { window } } });
  writeSettings(workspace, { models: { [`anthropic/${id}`]: { window } }, ...settings });
  const flags = ["--model", `anthropic/${id}`, "--permission-mode", "auto"];
  const run = (...more: string[]) => sawtooth(workspace, ["-p", ...flags, ...more]);
  return { server, workspace, flags, run };
}

function eventsOf(workspace: Workspace): LogEvent[] {
  const [file = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  return jsonLines(readFileSync(join(workspace.home, file), "utf8")) as LogEvent[];
}

/** The most requests for summaries among any ten in a row. */
function mostInTen({ exchanges }: MockServer): number {
  const asked = exchanges.map(({ rawBody }) => (isSummary(rawBody) ? 1 : 0));
  const inTen = asked.map((_, at) => asked.slice(at, at + 10).reduce<number>((sum, one) => sum + one, 0));
  return Math.max(0, ...inTen);
}

/** Refusals of the server that the script did not order; a request above the window is among them. */
const refusals = ({ exchanges }: MockServer) => exchanges.flatMap(({ error }) => error ?? []);

const counted: readonly string[] = ["summary_call", "context_edited", "warning"];

const tooLong = {
  type: "error",
  error: { type: "invalid_request_error", message: "prompt is too long: 9 tokens > 8 maximum" },
};

describe.each(["claude-sonnet-4-6", "claude-sonnet-5-5"])("compaction on %s", (id) => {
  test.each([
    ["(a) answered as long as its input", { text: "word ".repeat(20_000) }],
    ["(b) failing with 500 each time", { fault: { status: 500 } }],
    ["(c) refused with 400, too long", { fault: { status: 400, body: tooLong } }],
  ])(
    "%s is given up after two calls in ten requests, told once, and the work goes on",
    async (_, summary) => {
      const { server, workspace, run } = await setUp(id, { summary, steps: sized(36, 120) });
      const ended = await run("go");
      expect([ended.code, ended.stdout]).toEqual([0, "resting\n"]);
      expect(refusals(server)).toEqual([]);
      expect(mostInTen(server)).toBeLessThanOrEqual(2);
      const events = eventsOf(workspace);
      expect(allOf(events, "summary_call").map(({ outcome }) => outcome)).not.toContain("accepted");
      // The model is asked for the first two summaries, and the log alone makes those and all that follow.
      const kinds = events.map(({ type }) => type).filter((type) => counted.includes(type));
      const made = sized(3, 5);
      const [asked, edited] = ["summary_call", "context_edited"];
      expect(kinds).toEqual([asked, edited, asked, "warning", ...Array(made - 1).fill(edited)]);
      const told = allOf(events, "warning").filter(({ text }) => text.includes("have not paid"));
      expect(told).toHaveLength(1);
      expect(told[0]?.text).toContain("The largest items: line ");
      expect(server.rawBodies.at(-1)).toContain("[Handoff:");
    },
  );

  test("(d) a fixed part of nine tenths of the window is told at the start, with both numbers", async () => {
    const { server, run } = await setUp(id, { window: 3_000 });
    const { code, stderr } = await run("go");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /system prompt and tools alone take about \d{4} tokens of a window of 1800 \(0\.6 of the model/,
    );
    expect(server.exchanges).toEqual([]);
  });

  test("(e) a result of 1.9 MB costs its budget, and the whole is in a file", async () => {
    const calls = ["seq 1 300000 | head -c 1900000"];
    const { server, workspace, run } = await setUp(id, { steps: 1, calls });
    expect((await run("go")).code).toBe(0);
    const result = lastOf(eventsOf(workspace), "tool_result");
    expect(Buffer.byteLength(String(result?.content))).toBeLessThanOrEqual(30_000);
    expect(readFileSync(result?.artifact ?? "").length).toBe(1_900_000);
    expect(refusals(server)).toEqual([]);
  });

  test.each([true, false])(
    "(f) a session of twice the window is resumed; the window is known: %s",
    async (known) => {
      const large = await setUp(id, { steps: sized(30, 60), window: 400_000 });
      expect((await large.run("--context", "raw", "ORDER-1")).code).toBe(0);
      const sizes = large.server.exchanges.map(({ rawBody }) => rawBody.length / 4);
      const window = Math.round(Math.max(...sizes) / 2);
      const server = await startMockServer({ turns: talker({ steps: 5 }), models: { "*": { window } } });
      onTestFinished(() => server.close());
      if (known) writeSettings(large.workspace, { models: { [`anthropic/${id}`]: { window } } });
      Object.assign(large.workspace.env, { ANTHROPIC_BASE_URL: server.url });
      const ended = await large.run("-c", "--context", "economist", "ORDER-2");
      expect([ended.code, ended.stdout, ended.stderr]).toEqual([0, "resting\n", ""]);
      // A window that nobody knew is learned from one refusal.
      expect(refusals(server)).toHaveLength(known ? 0 : 1);
      expect(server.rawBodies.at(-1)).toContain("ORDER-1");
      expect(server.rawBodies.at(-1)).toContain("ORDER-2");
    },
  );

  test("(g) without policies nothing is asked for, until a request would not fit: then the run ends with the reason", async () => {
    const { server, run } = await setUp(id, { steps: 200 });
    const { code, stderr } = await run("--context", "raw", "go");
    expect(code).not.toBe(0);
    const full = `of ${usualWindow} tokens\\): continue with --context economist`;
    expect(stderr).toMatch(new RegExp(`the context is full \\(about \\d+ ${full}`));
    expect(server.rawBodies.filter(isSummary)).toEqual([]);
    expect(refusals(server)).toEqual([]);
    expect(Math.max(...server.rawBodies.map((body) => body.length / 4))).toBeGreaterThan(0.75 * usualWindow);
  });

  const slowly = (): Setting => ({ summary: { text: "late", fault: { delayMs: 900_000 } }, steps: 40 });

  test("(h) Esc while it compacts gives the prompt back, and the old history goes on", async () => {
    const slow = slowly();
    const { server, workspace, flags } = await setUp(id, slow);
    const terminal = driveWarm(workspace, flags);
    onTestFinished(terminal.done);
    await terminal.until("›");
    terminal.send("GOAL-91\r");
    await compacting(server);
    terminal.send("\x1b");
    await terminal.until(/interrupted/);
    expect(allOf(eventsOf(workspace), "context_edited")).toEqual([]);
    const before = server.rawBodies.length;
    slow.summary = { text: "Decisions: none." };
    terminal.send("go on\r");
    await until(() => server.rawBodies.length > before);
    expect(server.rawBodies[before]).toContain("GOAL-91");
    expect(server.rawBodies[before]).toContain("go on");
    expect(refusals(server)).toEqual([]);
  });

  test("(h) so does a signal without a screen: exit 130, the history as it was", async () => {
    const { server, workspace, flags } = await setUp(id, slowly());
    const run = start(workspace, ["-p", ...flags, "GOAL-91"]);
    await compacting(server);
    run.child.kill("SIGINT");
    expect((await run.ended).code).toBe(130);
    expect(allOf(eventsOf(workspace), "context_edited")).toEqual([]);
    expect(lastOf(eventsOf(workspace), "turn_ended")?.reason).toBe("interrupted");
  });
});

const compacting = ({ rawBodies }: MockServer) => until(() => rawBodies.some(isSummary), "a summary");
