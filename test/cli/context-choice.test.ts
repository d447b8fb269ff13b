/** Choices for the engine on the command line and in settings, seen in the log. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { currentEngine, lastOf } from "../../src/core/questions.ts";
import { startMockServer } from "../support/mock-server.ts";
import { jsonLines, makeWorkspace, sawtooth, writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";

async function setUp(settings: object = {}) {
  const { server, workspace } = await serve(() => ({ text: "ok" }));
  writeSettings(workspace, settings);
  const run = (...words: string[]) => sawtooth(workspace, ["-p", ...words]);
  const events = () => {
    const [file = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
    return jsonLines(readFileSync(join(workspace.home, file), "utf8")) as LogEvent[];
  };
  return { run, events, workspace, server };
}

test("a masking preset is taken from settings and from the command line, and changes a stored session", async () => {
  const { run, events } = await setUp({ context: "masking:short", engine: { maskBatch: 2 } });
  expect((await run("go")).code).toBe(0);
  expect(currentEngine(events())).toEqual({ context: "masking", engine: { maskKeep: 5, maskBatch: 2 } });
  expect((await run("-c", "go on")).code).toBe(0);
  expect(lastOf(events(), "settings_changed")).toBeUndefined();
  expect((await run("-c", "--context", "hybrid:long", "go on")).code).toBe(0);
  expect(currentEngine(events())).toEqual({ context: "hybrid", engine: { maskKeep: 18, maskBatch: 2 } });
});

test("a number of the engine is taken from the command line, and a wrong one is a usage error that names its range", async () => {
  const { run, events } = await setUp({ engine: { caution: 2 } });
  const { stderr, code } = await run("--context", "economist:caution=x", "go");
  expect([code, stderr]).toEqual([
    2,
    'sawtooth: --context economist:caution=x: caution must be a number of at least 0, not "x"\n',
  ]);
  expect((await run("--context", "economist:caution=8", "go")).code).toBe(0);
  expect(currentEngine(events())).toEqual({ context: "economist", engine: { caution: 8 } });
});

test("a model of another provider cannot write the summaries", async () => {
  const { run } = await setUp({ summaryModel: "openai/gpt-6-sol" });
  const { stderr, code } = await run("go");
  expect([code, stderr]).toEqual([
    2,
    'sawtooth: summaryModel openai/gpt-6-sol: must be "auto", "own" or a model of anthropic, which this session talks to\n',
  ]);
});

test("words that would fill a quarter of the soft window go to a file, and their head stays", async () => {
  const { run, server, workspace } = await setUp();
  const long = Array.from({ length: 1_000 }, (_, line) => `line ${line} of a long paste 한글`).join("\n");
  expect((await run("--window", "12000", long)).code).toBe(0);
  const sent = JSON.stringify(server.requests[0]?.messages);
  expect(Buffer.byteLength(sent)).toBeLessThan(8_000);
  expect(sent).toContain("line 0 of a long paste 한글");
  const file = /the whole text is in (\S+?)\]/.exec(sent)?.[1] ?? "";
  expect(file.startsWith(workspace.home)).toBe(true);
  expect(readFileSync(file, "utf8")).toBe(long);
  expect((await run("--window", "120000", long)).code).toBe(0);
  expect(server.rawBodies[1]).toContain("line 999");
});

test("a background job as the first command does not end a headless run early", async () => {
  let step = 0;
  const server = await startMockServer({
    turns: () =>
      ++step === 1 ? { calls: [{ bash: { command: "sleep 5", background: true } }] } : { text: "started" },
  });
  const workspace = makeWorkspace(server.url);
  onTestFinished(async () => {
    await server.close();
    workspace.remove();
  });
  const ended = await sawtooth(workspace, ["-p", "--permission-mode", "auto", "go"]);
  expect([ended.code, ended.stdout]).toEqual([0, "started\n"]);
});
