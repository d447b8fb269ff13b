/** Each setting has its effect: seen in what is sent, in the log, in files, or in how the run ends. */

import { existsSync, globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../src/config/settings.ts";
import type { LogEvent } from "../../src/core/events.ts";
import { currentEngine, lastOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import {
  type Ended,
  jsonLines,
  makeWorkspace,
  sawtooth,
  type Workspace,
  writeSettings,
} from "../support/sawtooth.ts";

type Seen = { ended: Ended; server: MockServer; workspace: Workspace; events: LogEvent[] };
type Case = {
  value: unknown;
  words?: string[];
  turns?: ScriptedReply[];
  others?: object;
  shows(seen: Seen): unknown;
  as: unknown;
};

const touch: ScriptedReply[] = [{ calls: [{ bash: { command: "touch made" } }] }, { text: "done" }];
const isMade = ({ workspace }: Seen) => existsSync(join(workspace.cwd, "made"));
const engine = ({ events }: Seen) => currentEngine(events).engine;
const body = ({ server }: Seen) => JSON.parse(server.rawBodies[0] ?? "{}") as Record<string, unknown>;
const ending = ({ ended, events }: Seen) => [ended.code, lastOf(events, "turn_ended")?.reason];
const cost = ({ ended }: Seen) => (JSON.parse(ended.stdout) as { total_cost_usd: number }).total_cost_usd;
const free = { input: 0, output: 1000, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };

/**
 * Typed so that no setting can be without its case. `egress` has its own in test/network/session.test.ts, `delegateModels`
 * in roles.test.ts, `notify` in test/tui/away.test.ts.
 */
const cases: Record<Exclude<keyof Settings, "egress" | "delegateModels" | "notify">, Case> = {
  model: { value: "anthropic/claude-haiku-5-5", shows: (seen) => body(seen).model, as: "claude-haiku-5-5" },
  effort: { value: "low", shows: (seen) => body(seen).output_config, as: { effort: "low" } },
  permissionMode: { value: "auto", turns: touch, shows: isMade, as: true },
  sandbox: {
    value: "off",
    words: ["--permission-mode", "auto"],
    others: { sandbox: undefined },
    turns: touch,
    shows: ({ events }) => lastOf(events, "sandbox")?.status.isOff === true,
    as: true,
  },
  allow: { value: ["bash(touch made)"], turns: touch, shows: isMade, as: true },
  deny: {
    value: ["bash(touch:*)"],
    words: ["--permission-mode", "auto"],
    turns: touch,
    shows: isMade,
    as: false,
  },
  context: { value: "masking", shows: ({ events }) => currentEngine(events).context, as: "masking" },
  window: { value: 90_000, shows: (seen) => engine(seen).window, as: 90_000 },
  focus: { value: "passive", shows: (seen) => engine(seen).focusReminder, as: 0 },
  summaryModel: {
    value: "anthropic/claude-haiku-5-5",
    words: ["--permission-mode", "auto", "--context", "summary"],
    others: { engine: { summaryTurns: 1, summaryKeep: 1 } },
    turns: [
      ...Array.from({ length: 4 }, (_, step) => ({ calls: [{ bash: { command: `echo ${step}` } }] })),
      { text: "done", repeat: 20 },
    ],
    shows: ({ server }) => server.requests.some(({ model }) => model === "claude-haiku-5-5"),
    as: true,
  },
  engine: { value: { maskKeep: 3 }, shows: (seen) => engine(seen).maskKeep, as: 3 },
  models: {
    value: { "anthropic/claude-sonnet-5-5": { prices: free } },
    words: ["--output-format", "json"],
    turns: [{ text: "ok", usage: { output: 2000 } }],
    shows: cost,
    as: 2,
  },
  providers: {
    value: { anthropic: { key: "MY_KEY" } },
    shows: ({ ended }) => [ended.code, ended.stderr.includes("set MY_KEY")],
    as: [4, true],
  },
  maxTurns: {
    value: 1,
    words: ["--permission-mode", "auto"],
    turns: touch,
    shows: ending,
    as: [3, "max_turns"],
  },
  maxBudgetUsd: {
    value: 0.000_001,
    words: ["--permission-mode", "auto"],
    turns: touch,
    shows: ending,
    as: [3, "max_budget"],
  },
  maxTime: {
    value: "1s",
    words: ["--permission-mode", "auto"],
    turns: [{ calls: [{ bash: { command: "sleep 60" } }] }, { text: "done" }],
    shows: ending,
    as: [3, "max_time"],
  },
  mcpServers: {
    value: { memory: { command: "mcp-server-memory" } },
    shows: (seen) => (body(seen).tools as { name: string }[]).some(({ name }) => name === "mcp"),
    as: true,
  },
  hooks: {
    value: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "exit 2" }] }] },
    words: ["--permission-mode", "auto"],
    turns: touch,
    shows: isMade,
    as: false,
  },
  webSearch: {
    value: true,
    shows: (seen) => (body(seen).tools as { name: string }[]).some(({ name }) => name === "web_search"),
    as: true,
  },
  shellTimeoutSeconds: {
    value: 1,
    words: ["--permission-mode", "auto"],
    turns: [{ calls: [{ bash: { command: "sleep 60" } }] }, { text: "done" }],
    shows: ({ events }) =>
      JSON.stringify(lastOf(events, "tool_result")?.content).includes("timed out after 1 s"),
    as: true,
  },
};

async function run(settings: object, { words = [], turns = [{ text: "ok" }] }: Partial<Case>): Promise<Seen> {
  const server = await startMockServer({ turns });
  const workspace = makeWorkspace(server.url);
  onTestFinished(async () => {
    await server.close();
    workspace.remove();
  });
  writeSettings(workspace, settings);
  const ended = await sawtooth(workspace, ["-p", ...words, "go"]);
  const [file] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  const events = file === undefined ? [] : jsonLines(readFileSync(join(workspace.home, file), "utf8"));
  return { ended, server, workspace, events: events as LogEvent[] };
}

test.each(Object.entries(cases))(
  "the setting %s has its effect, and without it the run differs",
  async (name, one) => {
    const [set, unset] = await Promise.all([
      run({ ...one.others, [name]: one.value }, one),
      name === "maxTime" || name === "shellTimeoutSeconds" ? undefined : run(one.others ?? {}, one),
    ]);
    expect(one.shows(set), set.ended.stderr).toEqual(one.as);
    if (unset) expect(one.shows(unset)).not.toEqual(one.as);
  },
);

test.each([
  [{ engine: { maskKep: 3 } }, /settings\.json: engine\.maskKep is not known: did you mean maskKeep\?/],
  [{ engine: { pressure: 90 } }, /settings\.json: engine\.pressure must be a share from 0 to 1, not 90/],
  [
    { engine: { caution: "x" } },
    /engine\.caution must be a number of at least 0, not "x": correct or remove it/,
  ],
  [{ engine: { caution: -1 } }, /engine\.caution must be a number of at least 0, not -1/],
  [
    { context: "economist:caution=x" },
    /json: context economist:caution=x: caution must be a number of at least 0/,
  ],
  [{ context: "forgetful" }, /settings\.json: context forgetful: must be /],
  [{ maxTime: "soon" }, /settings\.json: maxTime soon: must be a time such as 90s, 10m or 1h/],
  [{ effort: "huge" }, /effort must be one of low, medium, high, xhigh, max/],
  [{ maxBudgetUsd: 0 }, /maxBudgetUsd must be above 0/],
  [{ shellTimeoutSeconds: 0 }, /shellTimeoutSeconds must be at least 1/],
  [{ shellTimeoutSeconds: 1e9 }, /shellTimeoutSeconds must be at most 86400/],
  [{ model: "nobody/x" }, /nobody/],
  [
    { models: { "anthropic/claude-sonnet-5-5": { windw: 3 } } },
    /models.anthropic\/claude-sonnet-5-5.windw is not known/,
  ],
])(
  "the settings %j end the run with one line and exit code 2, before anything is sent",
  async (settings, words) => {
    const { ended, server } = await run(settings, {});
    expect(ended.stderr).toMatch(words);
    expect(ended.stderr.trim().split("\n")).toHaveLength(1);
    expect(ended.code).toBe(2);
    expect(server.requests).toEqual([]);
  },
);

test("a budget of the settings that cannot be counted for want of prices is told", async () => {
  const models = { "anthropic/claude-sonnet-5-5": { prices: { input: 0, output: 0 } } };
  const { ended } = await run({ maxBudgetUsd: 1, models }, {});
  expect(ended.stderr).toContain("maxBudgetUsd in settings has no effect: no prices are known");
  expect(ended.code).toBe(0);
});
