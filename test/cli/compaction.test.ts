/**
 * T02: compaction keeps goal, constraints, facts and the task list, and goes on by itself. Through the whole program.
 */

import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { LogEvent } from "../../src/core/events.ts";
import { allOf } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { type MockServer, startMockServer } from "../support/mock-server.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { seededRandom } from "../support/random.ts";
import { jsonLines, makeWorkspace, sawtooth, type Workspace, writeSettings } from "../support/sawtooth.ts";

const goal = "Goal GOAL-91: make `make check` pass. Never touch `vendor/`. Use tabs.";
const correction = "port is 8123, not 8080 (FIX-33)";
const items = [1, 2, 3, 4].map((n) => ({ text: `part ${n}`, status: n === 4 ? "open" : "done" }));
const isSummary = (body: string) => body.includes("Stop working for a moment");
const newestText = (body: WireBody) => JSON.stringify(body.messages.at(-1));

/**
 * Three turns of work on a todo list, with a job in the background and an open focus. `words`: what the model says
 * beside each call. Asked for a summary it omits everything, and claims that item 2 is open.
 */
function worker(workspace: Workspace, words: string): (body: WireBody) => ScriptedReply {
  let step = 0;
  const first: ScriptedReply[] = [
    { calls: [{ todo: { items } }] },
    {
      calls: [
        {
          str_replace_editor: {
            command: "create",
            path: join(workspace.cwd, "port.ts"),
            file_text: "export const port = 8080;\n",
          },
        },
      ],
    },
    { calls: [{ bash: { command: "sh job.sh", background: true } }] },
    { calls: [{ start_focus: { objective: "find out why the check fails" } }] },
  ];
  return (body) => {
    if (isSummary(newestText(body))) return { thinking: "hm", text: "Next steps: item 2 is open." };
    step += 1;
    const turn = first[step - 1];
    if (turn) return turn;
    if (step === 44)
      return { calls: [{ complete_focus: { attempted: "all", learned: "LEARNED-7", outcome: "done" } }] };
    if (step % 15 === 0) return { text: "resting" };
    // The job in the background outlasts the first compaction, and the turn outlasts the job.
    const command = `${step === 14 ? "sh job-ends.sh; " : ""}seq 1 60; sh check.sh ${step}`;
    return { thinking: `why ${step}`, ...(words ? { text: words } : {}), calls: [{ bash: { command } }] };
  };
}

/** The job runs until `job-ends.sh` lets it end; that one waits until its process is gone. */
const job = "echo $$ > job.pid\nuntil [ -e go ]; do sleep 0.05; done\necho the job ended > job.txt\n";
const jobEnds = "touch go\nwhile kill -0 $(cat job.pid) 2>/dev/null; do sleep 0.05; done\n";

async function setUp(id: string, words: string, engine: object) {
  const workspace = makeWorkspace();
  const server = await startMockServer({
    turns: worker(workspace, words),
    models: { "*": { window: 40_000 } },
  });
  Object.assign(workspace.env, { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: "sk-canary-7f3a" });
  onTestFinished(workspace.remove);
  onTestFinished(() => server.close());
  writeFileSync(join(workspace.cwd, "AGENTS.md"), "RULE-17: say please.\n");
  writeFileSync(join(workspace.cwd, "check.sh"), 'echo "check $1: AssertionError: 3 != 4"\nexit 2\n');
  writeFileSync(join(workspace.cwd, "job.sh"), job);
  writeFileSync(join(workspace.cwd, "job-ends.sh"), jobEnds);
  const models = { [`anthropic/${id}`]: { window: 40_000 } };
  writeSettings(workspace, { models, engine, summaryModel: "own" });
  return { workspace, server };
}

function eventsOf(workspace: Workspace): LogEvent[] {
  const [file = ""] = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home });
  return jsonLines(readFileSync(join(workspace.home, file), "utf8")) as LogEvent[];
}

/** The first request after each summary. */
function afterSummaries({ exchanges }: MockServer): WireBody[] {
  return exchanges.flatMap(({ rawBody }, index) => {
    const next = exchanges[index + 1]?.rawBody;
    return isSummary(rawBody) && next !== undefined ? [JSON.parse(next) as WireBody] : [];
  });
}

function textsOf(body: WireBody): string[] {
  const said = body.messages.filter(({ role }) => role === "user").flatMap(({ content }) => content);
  return said.flatMap(({ type, text = "" }) => (type === "text" ? [text] : []));
}

/** About 1,400 tokens without a repetition, which would be cut. */
function manyWords(): string {
  const random = seededRandom(7);
  const letter = () => "abcdefghijklmnopqrstuvwxyz"[Math.floor(random() * 26)];
  const word = () => Array.from({ length: 7 }, letter).join("");
  return Array.from({ length: 700 }, word).join(" ");
}

const stacks: [string, string, string, object][] = [
  ["summary, by count", "summary", "", { summaryTurns: 5, summaryKeep: 3 }],
  // What is said cannot be masked, so that only a summary helps.
  ["economist, by size", "economist", manyWords(), {}],
];
const cases = ["claude-sonnet-4-6", "claude-sonnet-5-5"].flatMap((id) =>
  stacks.map((stack) => [id, ...stack] as const),
);

describe.each(cases)("a session on %s with a window of 40,000 under %s", (id, _, context, words, engine) => {
  test("holds everything in the first request after each compaction, and goes on by itself", async () => {
    const { workspace, server } = await setUp(id, words, engine);
    const flags = ["-p", "--model", `anthropic/${id}`, "--permission-mode", "auto", "--context", context];
    const said = [goal, "now the next part", correction];
    for (const [turn, prompt] of said.entries()) {
      const ended = await sawtooth(workspace, [...flags, ...(turn > 0 ? ["-c"] : []), prompt]);
      expect([ended.stderr.replace(/^sawtooth: a background job.*\n/gm, ""), ended.code]).toEqual(["", 0]);
    }
    expect(server.exchanges.filter(({ status }) => status !== 200).map(({ error }) => error)).toEqual([]);
    const events = eventsOf(workspace);
    const log = globSync("sawtooth/state/sessions/*/*/events.jsonl", { cwd: workspace.home })[0] ?? "";
    const bodies = afterSummaries(server);
    const late = bodies.filter((body) => JSON.stringify(body).includes("FIX-33"));
    expect(bodies.length).toBeGreaterThan(2);
    expect(late.length).toBeGreaterThan(1);
    for (const body of bodies) {
      const texts = textsOf(body);
      const heard = said.slice(0, said.filter((prompt) => texts.includes(prompt)).length);
      expect(heard[0]).toBe(goal);
      const whole = texts.join("\n");
      for (const fact of [
        "RULE-17",
        "[x] part 2",
        "[ ] part 4",
        join(workspace.cwd, "port.ts"),
        join(workspace.home, log),
      ])
        expect(whole).toContain(fact);
      expect(whole).toMatch(/## Last check\nbash: (sh job-ends\.sh; )?seq 1 60; sh check\.sh \d+ → exit 2/);
      expect(whole).toContain('It does: item 2, "part 2", is done.');
      expect(whole).toContain("## Open focus (still running)\nfind out why the check fails");
      // Nothing pretends that the person spoke.
      const own = /^(\[Handoff|<reminder>)/;
      const preamble = allOf(events, "user_message")[0]?.preamble?.map(({ text }) => text) ?? [];
      const others = texts.filter((text) => !said.includes(text) && !preamble.includes(text));
      expect(others.filter((text) => !own.test(text))).toEqual([]);
    }
    for (const body of late) expect(textsOf(body)).toContain(correction);
    expect(allOf(events, "user_message").map(({ content }) => content)).toEqual(
      said.map((text) => [{ type: "text", text }]),
    );
    // The sub-task went on: the focus could be closed, and what it learned stands in the newest request.
    expect(server.rawBodies.at(-1)).toContain("LEARNED-7");
    expect(existsSync(join(workspace.cwd, "job.txt"))).toBe(true);
    expect(allOf(events, "warning")).toEqual([]);
    const asked = server.rawBodies.filter(isSummary);
    for (const [index, body] of asked.entries()) {
      const printed = await sawtooth(workspace, ["report", "--step", `summary-${index + 1}`]);
      expect(printed.stdout).toBe(`${body}\n`);
    }
  });
});
