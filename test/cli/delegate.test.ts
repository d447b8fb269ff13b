/** Sub-agents through the whole program: bill, limits, rights, depth, ends. The strict server plays both models. */

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { schemaText } from "../../src/cli/schema/schema.ts";
import { spending } from "../../src/core/questions.ts";
import { jsonLines, sawtooth, start, writeSettings } from "../support/sawtooth.ts";
import { bash, serve } from "../support/served.ts";
import { until } from "../support/until.ts";
import {
  auto,
  briefOf,
  costIn,
  delegate,
  logOf,
  offered,
  report,
  results,
  sessionsOf,
  turnsOf,
} from "./delegates.ts";

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
  expect(logOf(of)[0]).toMatchObject({ parent: basename(parent), delegate: { writes: false } });
  const bill = costIn(parent);
  const own = spending(events.filter(({ type }) => type !== "delegate_called")).cost;
  expect(own + children.reduce((sum, folder) => sum + costIn(folder), 0)).toBeCloseTo(bill, 10);
  const last = jsonLines(stdout).at(-1);
  expect(last).toMatchObject({ num_turns: 6 });
  expect(last?.total_cost_usd).toBeCloseTo(bill, 10);
  const shown = await sawtooth(workspace, ["report"]);
  expect(shown.stdout).toContain(`Cost: $${bill.toFixed(4)}`);
  const ofChild = await sawtooth(workspace, ["report", basename(of)]);
  expect(ofChild.stdout).toContain(`Session ${basename(of)}: completed`);
  const resumed = await sawtooth(workspace, ["-p", "go on", "-r", basename(of)]);
  expect(resumed).toMatchObject({ code: 2, stderr: expect.stringContaining("cannot go on") });
  expect(shown.stdout).toMatch(
    /2 sub-agents, billed here +calls +cost +in place +end\n.*this session\n.*├ brief one .*reported\n.*└ brief two .*reported/,
  );
});

test("a sub-agent only reads: what would write is denied in typed form, also where rules and mode let its parent write", async () => {
  const write = { str_replace_editor: { command: "create", path: "{{cwd}}/new.txt", file_text: "x" } };
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one")] }, { text: "done" }],
      child: (_, step) =>
        [
          { calls: [write] },
          { calls: [bash("touch made")] },
          { calls: [bash("ls")] },
          { calls: [delegate("brief deeper")] },
        ][step] ?? report("that I may only read"),
    }),
  );
  const rules = ["--sandbox", "off", "--allow", "edit", "--allow", "bash(touch:*)"];
  await sawtooth(workspace, ["-p", "go", ...offered, ...rules]);
  const [child = ""] = sessionsOf(workspace).children;
  const decisions = logOf(child).filter((event) => event.type === "permission_decided");
  expect(decisions).toMatchObject([
    { decision: "deny", by: "delegate", rule: "delegate(write)" },
    { decision: "deny", by: "delegate", rule: "delegate(write)" },
    { decision: "allow" },
    { decision: "deny", by: "delegate", rule: "delegate" },
    { decision: "allow" },
  ]);
  expect(readdirSync(workspace.cwd)).toEqual([]);
  expect(results(server)[0]).toContain("Not permitted to it: 3 of its calls (delegate(write), delegate)");
  const refused = logOf(child).filter((event) => event.type === "tool_result" && event.rejected === "denied");
  expect(JSON.stringify(refused.at(-1))).toContain("A sub-agent cannot delegate.");
  const started = logOf(child)[0];
  expect(JSON.stringify(started)).not.toContain('"name":"delegate"');
});

test("with delegate(write) it has the mode and the rules of its parent, and what it changed counts as changed there", async () => {
  const create = (name: string) => ({
    str_replace_editor: { command: "create", path: `{{cwd}}/${name}`, file_text: "x" },
  });
  const { workspace } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one")] }, { text: "done" }],
      child: (_, step) =>
        [{ calls: [create("denied.txt")] }, { calls: [create("made.txt")] }][step] ?? report("x"),
    }),
  );
  const { stdout } = await sawtooth(workspace, [
    ...["-p", "go", ...auto, "--allow", "delegate(write)", "--deny", "edit(denied.txt)"],
  ]);
  expect(readdirSync(workspace.cwd)).toEqual(["made.txt"]);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ changed_files: [join(workspace.cwd, "made.txt")] });
});

test("a budget stops sub-agents and their parent before the call that would pass it", async () => {
  const facts = (step: number) => Array.from({ length: 400 }, (_, at) => `fact ${step}.${at * at}`).join(" ");
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: ["one", "two", "three"].map((name) => delegate(`brief ${name}`)) }],
      child: (_, step) => ({ text: facts(step), calls: [bash(`echo ${step}`)] }),
    }),
  );
  const { stdout, code } = await sawtooth(workspace, ["-p", "go", ...offered, "--max-budget-usd", "0.3"]);
  expect(code).toBe(3);
  const { parent, children } = sessionsOf(workspace);
  expect(costIn(parent)).toBeLessThanOrEqual(0.3);
  expect(costIn(parent)).toBeGreaterThan(0.15);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ subtype: "error_max_budget" });
  const ends = children.map((folder) => logOf(folder).at(-1));
  for (const end of ends) expect(end).toMatchObject({ type: "turn_ended", reason: "max_budget" });
  // No call was made after the parent's budget was known to be too small.
  expect(server.requests.filter((body) => briefOf(body) === undefined)).toHaveLength(1);
});

test("with $0.10 left a parent stops itself and its sub-agents before the call that would pass it", async () => {
  const words = Array.from({ length: 400 }, (_, at) => `fact ${at * at}`).join(" ");
  const turns = turnsOf({
    parent: [
      { calls: [bash("true")] },
      { calls: ["one", "two", "three"].map((name) => delegate(`brief ${name}`)) },
    ],
    child: (_, step) => ({ text: `${step} ${words}`, calls: [bash(`echo ${step}`)] }),
  });
  const first = await serve(turns);
  await sawtooth(first.workspace, ["-p", "go", ...offered, "--max-turns", "2"]);
  const before = costIn(sessionsOf(first.workspace).parent);
  const { workspace, server } = await serve(turns);
  const budget = before + 0.1;
  const { code } = await sawtooth(workspace, ["-p", "go", ...offered, "--max-budget-usd", String(budget)]);
  expect(code).toBe(3);
  const { parent, children } = sessionsOf(workspace);
  const log = logOf(parent);
  expect(costIn(parent)).toBeLessThanOrEqual(budget);
  // Something was left to spend, and it went to the sub-agents alone.
  expect(costIn(parent) - before).toBeGreaterThan(0.02);
  expect(server.requests.filter((body) => briefOf(body) === undefined)).toHaveLength(2);
  expect(children).toHaveLength(3);
  for (const folder of children) expect(logOf(folder).at(-1)).toMatchObject({ reason: "max_budget" });
  expect(log.at(-1)).toMatchObject({ type: "turn_ended", reason: "max_budget" });
});

test("undo takes back what a sub-agent changed as one step, with the editor and in the shell, and says so", async () => {
  const create = { str_replace_editor: { command: "create", path: "{{cwd}}/made.txt", file_text: "x" } };
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one")] }, { text: "done" }, { text: "I see." }],
      child: (_, step) =>
        [{ calls: [create] }, { calls: [bash("echo new > kept.txt; echo y > other.txt")] }][step] ??
        report("x"),
    }),
  );
  const kept = join(workspace.cwd, "kept.txt");
  writeFileSync(kept, "old");
  await sawtooth(workspace, ["-p", "go", ...auto, "--allow", "delegate(write)"]);
  expect(readdirSync(workspace.cwd).sort()).toEqual(["kept.txt", "made.txt", "other.txt"]);
  const listed = await sawtooth(workspace, ["undo", "--list"]);
  expect(listed.stdout).toContain("before a sub-agent");
  const undone = await sawtooth(workspace, ["undo"]);
  expect(undone.code, undone.stderr).toBe(0);
  expect(readdirSync(workspace.cwd)).toEqual(["kept.txt"]);
  expect(readFileSync(kept, "utf8")).toBe("old");
  await sawtooth(workspace, ["-p", "and now", "-c", ...auto]);
  expect(JSON.stringify(server.requests.at(-1)?.messages)).toMatch(/undid|undone|restored/i);
  await sawtooth(workspace, ["undo", "--redo"]);
  expect(readFileSync(kept, "utf8")).toBe("new\n");
});

test("programs that read the stream and people that read the export see each sub-agent, its role and its price", async () => {
  const { workspace } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one")] }, { text: "done" }],
      child: (_, step) => (step === 0 ? { calls: [bash("ls")] } : report("of brief one")),
    }),
  );
  const { stdout } = await sawtooth(workspace, ["-p", "go", ...offered]);
  const lines = jsonLines(stdout).filter(({ type }) => type === "delegate");
  const fits = new Ajv2020({ allErrors: true }).compile(JSON.parse(schemaText(["events"])));
  expect(lines.filter((line) => !fits(line))).toEqual([]);
  const [child = ""] = sessionsOf(workspace).children;
  const of = { delegate: basename(child) };
  expect(lines).toMatchObject([
    { subtype: "started", ...of, folder: child, writes: false },
    { subtype: "called", ...of, usage: { output_tokens: expect.any(Number) } },
    { subtype: "called", ...of },
    { subtype: "ended", ...of, reason: "completed", calls: 2 },
  ]);
  expect(lines.at(-1)?.cost_usd).toBeCloseTo(costIn(child), 10);
  for (const format of ["html", "md"]) {
    const exported = await sawtooth(workspace, ["sessions", "export", "--format", format]);
    expect(exported.stdout).toContain("Learned: of brief one");
    expect(exported.stdout).toMatch(new RegExp(`sub-agent ${basename(child)} reported: 2 model calls, \\$`));
  }
});

test("the model calls of sub-agents count as the parent's", async () => {
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one"), delegate("brief two")] }],
      child: (_, step) => ({ calls: [bash(`echo ${step}`)] }),
    }),
  );
  const { code } = await sawtooth(workspace, ["-p", "go", ...offered, "--max-turns", "6"]);
  expect(code).toBe(3);
  expect(server.requests).toHaveLength(6);
});

test("three run at once; a fourth waits for one of them", async () => {
  const names = ["a", "b", "c", "d", "e"];
  const begun: string[] = [];
  let [ended, most] = [0, 0];
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: names.map((name) => delegate(`brief ${name}`)) }, { text: "done" }],
      child: (brief, step) => {
        const name = brief.slice("brief ".length);
        if (step === 0) begun.push(name);
        else ended += 1;
        most = Math.max(most, begun.length - ended);
        return step === 0 ? { calls: [bash(`cat {{cwd}}/${name}.pipe`)] } : report("x");
      },
    }),
  );
  // Each works until its pipe is written.
  const pipe = (name = "") => join(workspace.cwd, `${name}.pipe`);
  execFileSync("mkfifo", names.map(pipe));
  const run = sawtooth(workspace, ["-p", "go", ...offered]);
  for (let at = 0; at < names.length; at++) {
    await until(() => begun.length >= Math.min(names.length, at + 3), "three at work");
    await writeFile(pipe(begun[at]), "");
  }
  await run;
  expect(results(server)).toHaveLength(5);
  expect(sessionsOf(workspace).children).toHaveLength(5);
  expect(most).toBe(3);
});

test("a sub-agent that fails is a failed call with what it did, and its parent goes on; one without a report hands in its last words", async () => {
  const { workspace, server } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief fails"), delegate("brief speaks")] }, { text: "went on" }],
      child: (brief, step) => {
        if (step === 0) return { calls: [bash("ls")] };
        return brief === "brief fails"
          ? { fault: { status: 400, body: { error: "no" } } }
          : { text: "It is 42." };
      },
    }),
  );
  const { stdout, code } = await sawtooth(workspace, ["-p", "go", ...offered]);
  expect(code).toBe(0);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ result: "went on" });
  const [failed = "", spoken = ""] = results(server);
  expect(failed).toMatch(/ended before its report \(model_error: .*\nDone:\n- .*ls/);
  expect(spoken).toContain("Said last: It is 42.");
  const ends = logOf(sessionsOf(workspace).parent).filter((event) => event.type === "tool_result");
  expect(ends.map((event) => event.type === "tool_result" && event.isError)).toEqual([true, false]);
});

/** Both sub-agents read from pipes that nobody writes. */
async function waiting() {
  const served = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one"), delegate("brief two")] }, { text: "done" }],
      child: (brief) => ({ calls: [bash(`cat {{cwd}}/${brief.slice(6)}.pipe`)] }),
    }),
  );
  const { cwd } = served.workspace;
  for (const name of ["one", "two"]) execFileSync("mkfifo", [join(cwd, `${name}.pipe`)]);
  const commands = () =>
    spawnSync("pgrep", ["-f", `^cat ${cwd}/`], { encoding: "utf8" })
      .stdout.split("\n")
      .filter(Boolean);
  return { ...served, commands };
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGKILL", null],
] as const)("%s ends the sub-agents and their commands", async (signal, exit) => {
  const { workspace, commands } = await waiting();
  const run = start(workspace, ["-p", "go", ...offered, "--sandbox", "off"]);
  await until(() => commands().length === 2, "both commands");
  run.child.kill(signal);
  const { code } = await run.ended;
  expect(code).toBe(exit);
  await until(() => commands().length === 0, "the end of the commands");
  if (signal === "SIGKILL") return;
  const { parent } = sessionsOf(workspace);
  const ends = logOf(parent).filter((event) => event.type === "delegate_ended");
  expect(ends).toMatchObject([{ reason: "interrupted" }, { reason: "interrupted" }]);
});

test("hooks hear the calls of a sub-agent and may deny them; its end is no end of the person's turn", async () => {
  const { workspace } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one")] }, { text: "done" }],
      child: (_, step) => (step === 0 ? { calls: [bash("ls")] } : report("nothing")),
    }),
  );
  const ended = join(workspace.home, "ended");
  const hook = (command: string) => [{ hooks: [{ type: "command", command }] }];
  writeSettings(workspace, {
    hooks: {
      PreToolUse: [{ matcher: "Bash", ...hook("echo not now >&2; exit 2")[0] }],
      Stop: hook(`echo end >> ${ended}`),
      SessionStart: hook(`echo start >> ${ended}`),
    },
  });
  await sawtooth(workspace, ["-p", "go", ...offered]);
  const [child = ""] = sessionsOf(workspace).children;
  const [decided] = logOf(child).filter((event) => event.type === "permission_decided");
  expect(decided).toMatchObject({ decision: "deny", by: "hook" });
  expect(readFileSync(ended, "utf8")).toBe("start\nend\n");
});

test("what a sub-agent would have to ask is denied where nobody is", async () => {
  const outside = { str_replace_editor: { command: "view", path: "/etc/hostname" } };
  const { workspace } = await serve(
    turnsOf({
      parent: [{ calls: [delegate("brief one")] }, { text: "done" }],
      child: (_, step) => (step === 0 ? { calls: [outside] } : report("nothing")),
    }),
  );
  const words = ["-p", "go", "--output-format", "stream-json", "--allow", "delegate", "--sandbox", "off"];
  await sawtooth(workspace, words);
  const [child = ""] = sessionsOf(workspace).children;
  const [decided] = logOf(child).filter((event) => event.type === "permission_decided");
  expect(decided).toMatchObject({ decision: "deny", by: "headless", asked: {} });
});
