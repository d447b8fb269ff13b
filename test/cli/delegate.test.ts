/** Sub-agents through the whole program: bill, limits, rights, depth, ends. The strict server plays both models. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { spending } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { MockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, start, type Workspace } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

const auto = ["--permission-mode", "auto", "--output-format", "stream-json"];
const offered = [...auto, "--allow", "delegate"];
const delegate = (brief: string) => ({ delegate: { brief, want: "the answer" } });
const report = (learned: string): ScriptedReply => ({
  calls: [{ report_back: { attempted: "looked", learned, outcome: "found" } }],
});

/** Returns the brief that a request is about; undefined for the session that delegates. */
function briefOf({ system, messages }: WireBody): string | undefined {
  if (!JSON.stringify(system).includes("You are a sub-agent")) return undefined;
  return /brief \w+/.exec(JSON.stringify(messages))?.[0];
}

/** Number of replies that the request has behind it. */
const repliesIn = ({ messages }: WireBody) => messages.filter(({ role }) => role === "assistant").length;

type Parts = { parent: ScriptedReply[]; child(brief: string, step: number): ScriptedReply };

/** Plays the parent by a list, and each sub-agent by its brief and step. */
const turnsOf =
  ({ parent, child }: Parts) =>
  (body: WireBody): ScriptedReply => {
    const brief = briefOf(body);
    return (brief === undefined ? parent[repliesIn(body)] : child(brief, repliesIn(body))) ?? { text: "done" };
  };

/** Folders of the stored sessions, and of the sub-agents of each. */
function foldersIn(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root).flatMap((slug) => readdirSync(join(root, slug)).map((id) => join(root, slug, id)));
}

function sessionsOf({ home }: Workspace): { parent: string; children: string[] } {
  const [parent = ""] = foldersIn(join(home, "sawtooth", "state", "sessions"));
  return { parent, children: foldersIn(join(parent, "delegates")) };
}

function logOf(folder: string): LogEvent[] {
  const lines = readFileSync(join(folder, "events.jsonl"), "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line) as LogEvent);
}

const costIn = (folder: string) => spending(logOf(folder)).cost;

/** The result of the call of the parent with this place, as its model read it. */
function results({ requests }: MockServer): string[] {
  const last = requests.findLast((body) => briefOf(body) === undefined);
  return (last?.messages ?? []).flatMap(({ content }) =>
    Array.isArray(content)
      ? content.flatMap((block) => (block.type === "tool_result" ? [String(block.content)] : []))
      : [],
  );
}

test("only a session that begins with a rule for it declares the tool; others are not a byte longer", async () => {
  const { workspace, server } = await serve(() => ({ text: "done" }));
  const run = (...words: string[]) => sawtooth(workspace, ["-p", "go", ...auto, ...words]);
  await run();
  await run("-c", "--allow", "delegate");
  await run("--allow", "delegate");
  await run("-c");
  await run("--allow", "delegate(write)");
  await run("--allow", "delegate", "--deny", "delegate");
  const [without, resumedWithout, first, resumed, writing, denied] = server.requests.map((body) =>
    JSON.stringify(body.tools),
  );
  expect(resumedWithout).toBe(without);
  expect(denied).toBe(without);
  expect(without).not.toContain('"delegate"');
  expect(first).toContain('"delegate"');
  expect(resumed).toBe(first);
  expect(writing).toBe(first);
});

test("two sub-agents report as a fold with paths; the report shows the tree, and its sum is the bill", async () => {
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one"), delegate("brief two")] }, { text: "both are known" }],
      child: (brief, step) => (step === 0 ? { calls: [bash("ls; pwd")] } : report(`of ${brief}`)),
    }),
  );
  const { stdout, code } = await sawtooth(workspace, ["-p", "go", ...offered]);
  expect(code).toBe(0);
  expect(server.exchanges.filter(({ status }) => status !== 200)).toEqual([]);
  const { parent, children } = sessionsOf(workspace);
  expect(children).toHaveLength(2);
  const [one = "", two = ""] = results(server);
  expect(one).toContain("Attempted: looked\nLearned: of brief one\nOutcome: found\n[2 model calls, $");
  expect(two).toContain("Learned: of brief two");
  const of = children.find((folder) => one.includes(`its log: ${folder}/events.jsonl`)) ?? "";
  expect(existsSync(join(of, "events.jsonl"))).toBe(true);
  const events = logOf(parent);
  expect(logOf(of)[0]).toMatchObject({ parent: logOf(parent)[0]?.type && events[0] && "sessionId" in events[0] ? events[0].sessionId : "", delegate: { writes: false } });
  const bill = costIn(parent);
  const own = spending(events.filter(({ type }) => type !== "delegate_called")).cost;
  expect(own + children.reduce((sum, folder) => sum + costIn(folder), 0)).toBeCloseTo(bill, 10);
  const last = jsonLines(stdout).at(-1);
  expect(last).toMatchObject({ num_turns: 6 });
  expect(last?.total_cost_usd).toBeCloseTo(bill, 10);
  const shown = await sawtooth(workspace, ["report"]);
  expect(shown.stdout).toContain(`Cost: $${bill.toFixed(4)}`);
  expect(shown.stdout).toMatch(/2 sub-agents, billed here +calls +cost +in place +end\n.*this session\n.*├ brief one .*reported\n.*└ brief two .*reported/);
});
