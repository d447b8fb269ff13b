/** Roles: skills with `context: fork` instruct sub-agents, narrow what these may do, and may ask for a model. */

import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { contentsOf } from "../../src/config/skills/content-hash.ts";
import { rememberTrust } from "../../src/config/trust.ts";
import { allOf, lastOf, started } from "../../src/core/questions.ts";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import { editor } from "../acp/editor.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, start, type Workspace, writeSettings } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { again } from "../support/terminal-fixture.ts";
import { until } from "../support/until.ts";
import { briefOf, delegate, logOf, offered, report, results, sessionsOf, turnsOf } from "./delegates.ts";

type Given = { name?: string; more?: string; body?: string };

/** Puts a role into a folder of skills and returns its own folder. */
function put(
  skills: string,
  { name = "review", more = "", body = "Look at every line." }: Given = {},
): string {
  const folder = join(skills, name);
  mkdirSync(folder, { recursive: true });
  const head = `name: ${name}\ndescription: Reviews a change.\ncontext: fork\n${more}`;
  writeFileSync(join(folder, "SKILL.md"), `---\n${head}---\n\n${body}\n`);
  return folder;
}

const ofPerson = ({ home }: Workspace) => join(home, ".agents/skills");
const asked = (brief: string, role = "review") => {
  const call = delegate(brief).delegate;
  return { calls: [{ delegate: { ...call, role } }] };
};
const edit = (name: string) => ({
  str_replace_editor: { command: "create", path: `{{cwd}}/${name}`, file_text: "x" },
});

async function setUp(child: ScriptedReply[], parent: ScriptedReply = asked("brief one")) {
  const served = await serve(
    turnsOf({ parent: [parent, { text: "done" }], child: (_, step) => child[step] ?? report("it is fine") }),
  );
  const run = (...words: string[]) => sawtooth(served.workspace, ["-p", "go", ...offered, ...words]);
  const child0 = () => logOf(sessionsOf(served.workspace).children[0] ?? "");
  return { ...served, run, childLog: child0 };
}

/** The system prompt of the first request of a sub-agent, as text. */
function systemOf(requests: readonly WireBody[]): string {
  return JSON.stringify(requests.find((body) => briefOf(body) !== undefined)?.system);
}

test("a role is listed, its text instructs the sub-agent, and the report names it", async () => {
  const { workspace, server, run, childLog } = await setUp([]);
  const folder = put(ofPerson(workspace), { body: "Look at every line of: $ARGUMENTS" });
  await run();
  const first = JSON.stringify(server.requests[0]?.messages);
  expect(first).toContain("- review: Reviews a change. (role)");
  expect(first).toContain("call `delegate` with the role's name");
  expect(systemOf(server.requests)).toContain(
    `Your role is the skill review, of the folder ${folder}:\\n\\nLook at every line of: (the task of the first message)`,
  );
  expect(JSON.stringify(server.requests[0])).not.toContain("Look at every line");
  expect(childLog()[0]).toMatchObject({ delegate: { role: "review" } });
  expect(JSON.stringify(childLog())).not.toContain("- review:");
  const shown = await sawtooth(workspace, ["report"]);
  expect(shown.stdout).toMatch(/└ review: brief one .*reported/);
});

test("without sub-agents a role is a skill like others", async () => {
  const { workspace, server } = await serve([{ text: "done" }]);
  const folder = put(ofPerson(workspace));
  await sawtooth(workspace, ["-p", "go"]);
  expect(server.rawBodies[0]).toContain(`- review: Reviews a change. (${join(folder, "SKILL.md")})`);
});

test("allowed-tools narrows what a role may do, whatever rules and mode allow", async () => {
  const steps = [
    { calls: [edit("made.txt")] },
    { calls: [bash("touch other")] },
    { calls: [bash("ls; cat notes.txt")] },
    { calls: [bash("touch made")] },
  ];
  const { workspace, run, childLog, server } = await setUp(steps);
  writeFileSync(join(workspace.cwd, "notes.txt"), "noted\n");
  put(ofPerson(workspace), { more: "allowed-tools: Read, Grep, Bash(touch made)\n" });
  await run("--permission-mode", "auto", "--allow", "delegate(write)", "--allow", "edit", "--allow", "bash");
  const decided = allOf(childLog(), "permission_decided");
  expect(decided).toMatchObject([
    { decision: "deny", by: "delegate", rule: "review(allowed-tools)" },
    { decision: "deny", by: "delegate", rule: "review(allowed-tools)" },
    { decision: "allow" },
    { decision: "allow" },
    { decision: "allow" },
  ]);
  expect(JSON.stringify(childLog())).toContain("noted");
  expect(results(server)[0]).toContain("Not permitted to it: 2 of its calls (review(allowed-tools))");
});

test("allowed-tools never widens: what rules deny stays denied, and one that names no writing tool only reads", async () => {
  const { workspace, run, childLog } = await setUp([{ calls: [bash("touch made")] }]);
  put(ofPerson(workspace), { more: "allowed-tools:\n  - Bash\n  - Edit\n" });
  await run("--allow", "delegate(write)", "--deny", "bash(touch:*)");
  expect(allOf(childLog(), "permission_decided")[0]).toMatchObject({ decision: "deny", by: "rule" });
  const reads = await setUp([]);
  put(ofPerson(reads.workspace), { more: "allowed-tools: Read\n" });
  await reads.run("--allow", "delegate(write)");
  expect(reads.childLog()[0]).toMatchObject({ delegate: { writes: false, tools: ["Read"] } });
});

test("a role gets the model that it asks for where delegateModels names it, and its effort", async () => {
  const more = "model: haiku\neffort: low\n";
  const refused = await setUp([]);
  put(ofPerson(refused.workspace), { more });
  await refused.run();
  expect(started(refused.childLog())).toMatchObject({
    model: { id: "anthropic/claude-sonnet-5-5" },
    effort: "low",
  });
  const log = logOf(sessionsOf(refused.workspace).parent);
  expect(lastOf(log, "warning")?.text).toContain("which delegateModels in settings does not name");
  const { workspace, run, childLog, server } = await setUp([]);
  put(ofPerson(workspace), { more });
  writeSettings(workspace, { delegateModels: ["anthropic/claude-haiku-5-5"] });
  await run();
  expect(started(childLog()).model.id).toBe("anthropic/claude-haiku-5-5");
  expect(server.requests.map(({ model }) => model)).toEqual([
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-sonnet-5-5",
  ]);
  const called = lastOf(logOf(sessionsOf(workspace).parent), "delegate_called");
  expect(called?.card?.id).toBe("anthropic/claude-haiku-5-5");
});

test("a role of the project counts once a person has trusted it, as it was", async () => {
  const { workspace, run, server } = await setUp([]);
  const folder = put(join(workspace.cwd, ".agents/skills"));
  await run();
  expect(results(server)[0]).toContain("There is no role review. There are none here.");
  const contents = contentsOf(folder);
  if (typeof contents === "string") throw new Error(contents);
  const trust = join(workspace.home, "sawtooth/state/trusted.jsonl");
  rememberTrust(trust, { hash: contents.hash, folder: join(folder, "SKILL.md") });
  await run();
  expect(results(server)[0]).toContain("Learned: it is fine");
});

test("a role that changes while the session runs is not used", async () => {
  const path = "{{cwd}}/.agents/skills/review/SKILL.md";
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: [bash(`echo more >> ${path}`)] }, asked("brief one"), { text: "done" }],
      child: () => report("x"),
    }),
  );
  const folder = put(join(workspace.cwd, ".agents/skills"));
  const contents = contentsOf(folder);
  if (typeof contents === "string") throw new Error(contents);
  const trust = join(workspace.home, "sawtooth/state/trusted.jsonl");
  rememberTrust(trust, { hash: contents.hash, folder: join(folder, "SKILL.md") });
  appendFileSync(join(workspace.cwd, "other"), "");
  await sawtooth(workspace, ["-p", "go", ...offered, "--sandbox", "off", "--allow", "bash"]);
  expect(results(server).at(-1)).toContain("has changed on the disk");
  expect(sessionsOf(workspace).children).toEqual([]);
});

test("an editor is told of a role and starts it", async () => {
  const { workspace, server } = await setUp([], { text: "I have read the review." });
  put(ofPerson(workspace));
  const one = await editor(workspace);
  const id = await one.open();
  await one.say(id, "/review brief two");
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("Learned: it is fine");
  expect(JSON.stringify(one.updates(id))).toContain("I have read the review.");
  await until(() => JSON.stringify(one.updates(id)).includes('"name":"review"'), "the role in the commands");
});

test("a headless run starts a role with its name, with what was piped as part of its task", async () => {
  const { workspace, server } = await setUp([], { text: "I have read the review." });
  put(ofPerson(workspace));
  const run = (line: string, input = "") => sawtooth(workspace, ["-p", line], { input });
  expect(await run("/review brief two", "the diff")).toMatchObject({
    code: 0,
    stdout: "I have read the review.\n",
  });
  const said = JSON.stringify(server.requests.at(-1)?.messages);
  expect(said).toMatch(/The person started the role review: brief two.*the diff/);
  expect(said).toContain("Learned: it is fine");
  expect(said).not.toContain('"text":"/review');
  const { parent, children } = sessionsOf(workspace);
  expect(children).toHaveLength(1);
  expect(JSON.stringify(logOf(children[0] ?? ""))).toContain("the diff");
  expect(allOf(logOf(parent), "user_message")).toHaveLength(1);
  await run("/reviewed brief three");
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("/reviewed brief three");
  expect(sessionsOf(workspace).children).toHaveLength(1);
});

test("a headless run that is stopped while its role works ends as stopped, and keeps what the role did", async () => {
  const { workspace, server } = await setUp([{ calls: [bash("sleep 60")] }]);
  put(ofPerson(workspace));
  const run = start(workspace, ["-p", "/review brief two", ...offered]);
  await until(() => server.requests.length > 0);
  run.child.kill("SIGINT");
  const { code, stdout } = await run.ended;
  expect(code).toBe(130);
  expect(stdout).toContain("stopped while the role review worked");
  const { parent } = sessionsOf(workspace);
  expect(JSON.stringify(allOf(logOf(parent), "user_message"))).toContain(
    "started the role review: brief two",
  );
});

const driving = ["-p", "--input-format", "stream-json", ...offered];
const line = (content: string) => `${JSON.stringify({ type: "user", message: { role: "user", content } })}\n`;

test("a driving program starts a role with its name, at any message, and the last words are its task", async () => {
  const { workspace, server } = await setUp([], { text: "I have read the review." });
  put(ofPerson(workspace));
  const input = line("hello") + line("/review brief two") + line("/reviewed brief three");
  const { code, stdout } = await sawtooth(workspace, driving, { input });
  expect(code).toBe(0);
  const turns = jsonLines(stdout).filter(({ type }) => type === "turn");
  expect(turns.map(({ reason }) => reason)).toEqual(["completed", "completed", "completed"]);
  const said = JSON.stringify(server.requests.at(-1)?.messages);
  expect(said).toContain("The person started the role review: brief two");
  expect(said).toContain("Learned: it is fine");
  expect(said).not.toContain('"text":"/review ');
  expect(said).toContain("/reviewed brief three");
  const { parent, children } = sessionsOf(workspace);
  expect(children).toHaveLength(1);
  expect(allOf(logOf(parent), "user_message")).toHaveLength(3);
  const prompted = await sawtooth(workspace, ["-p", "/review brief four", ...driving.slice(1)], {
    input: "",
  });
  expect(prompted.code).toBe(0);
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("started the role review: brief four");
});

test("an interrupt of a driving program ends its role, and the session goes on", async () => {
  const { workspace, server } = await setUp([{ calls: [bash("sleep 60")] }], { text: "went on" });
  put(ofPerson(workspace));
  const run = start(workspace, driving, { input: "open" });
  const turns = () => jsonLines(run.stdout()).filter(({ type }) => type === "turn");
  run.child.stdin?.write(line("/review brief two"));
  await until(() => server.requests.length > 0);
  const interrupt = { type: "control_request", request_id: "1", request: { subtype: "interrupt" } };
  run.child.stdin?.write(`${JSON.stringify(interrupt)}\n`);
  await until(() => turns().length === 1);
  expect(turns()).toMatchObject([{ reason: "interrupted" }]);
  expect(run.stdout()).toContain("stopped while the role review worked");
  run.child.stdin?.end(line("go on"));
  expect((await run.ended).code).toBe(0);
  expect(turns()[1]).toMatchObject({ reason: "completed", result: "went on" });
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(
    /started the role review: brief two.*go on/,
  );
});

test("the person starts a role with its name, also where rules offer the model none", async () => {
  const { workspace, server } = await setUp([], { text: "I have read the review." });
  put(ofPerson(workspace), { more: "disable-model-invocation: true\n" });
  const terminal = await again(workspace, ["--permission-mode", "auto"]);
  terminal.send("/review brief two\r");
  await terminal.until("I have read the review.");
  const said = JSON.stringify(server.requests.at(-1)?.messages);
  expect(said).toContain("The person started the role review: brief two");
  expect(said).toContain("Learned: it is fine");
  const { parent, children } = sessionsOf(workspace);
  expect(children).toHaveLength(1);
  expect(lastOf(logOf(parent), "delegate_started")).toMatchObject({ role: "review", brief: "brief two" });
  const shown = await sawtooth(workspace, ["report"]);
  expect(shown.stdout).toMatch(/└ review: brief two .*reported/);
});
