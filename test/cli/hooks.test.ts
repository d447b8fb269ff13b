/** Hooks in real sessions: they block, add context, gate the end, and cannot allow what rules deny. */

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ScriptedReply } from "../../src/models/playback/script.ts";
import type { WireBody } from "../support/mock-wire.ts";
import { jsonLines, sawtooth, writeSettings } from "../support/sawtooth.ts";
import { serve } from "../support/served.ts";
import { again } from "../support/terminal-fixture.ts";

type Reply = ScriptedReply;
const call = (command: string): Reply => ({ calls: [{ bash: { command } }] });
const edit = (path: string): Reply => ({
  calls: [{ str_replace_editor: { command: "create", path, file_text: "x=1\n" } }],
});
const done: Reply = { text: "done" };
const hook = (command: string, matcher = "", more: object = {}) => [
  { matcher, hooks: [{ type: "command", command, ...more }] },
];

async function run(turns: Reply[], hooks: object, words: readonly string[] = [], settings: object = {}) {
  const served = await serve(turns);
  const { workspace, server } = served;
  writeSettings(workspace, { hooks, ...settings });
  mkdirSync(join(workspace.home, "hooks"));
  const all = ["-p", "go", "--permission-mode", "auto", "--output-format", "stream-json", ...words];
  const ended = await sawtooth(workspace, all);
  const lines = jsonLines(ended.stdout) as Record<string, unknown>[];
  const exported = await sawtooth(workspace, ["sessions", "export", "--format", "json"]);
  const { events } = JSON.parse(exported.stdout || '{"events":[]}') as { events: Record<string, unknown>[] };
  const sent = server.requests.map((request) => JSON.stringify((request as WireBody).messages));
  return { ...served, ...ended, events, sent, result: lines.at(-1) as Record<string, unknown> };
}

/** The documented example that protects files, as it stands in the guide to hooks, in Python. */
const protect = `python3 -c "import json, sys; data=json.load(sys.stdin); path=data.get('tool_input',{}).get('file_path',''); sys.exit(2 if any(p in path for p in ['.env', 'package-lock.json', '.git/']) else 0)"`;

describe("before a call", () => {
  test("exit 2 keeps it from running, and the model reads why", async () => {
    const guard = `grep -q 'rm -rf' && { echo 'no rm -rf here' >&2; exit 2; }; exit 0`;
    const { sent, workspace, events, code } = await run([call("rm -rf a; touch b"), call("touch c"), done], {
      PreToolUse: hook(guard, "Bash"),
    });
    expect(code).toBe(0);
    expect(sent[1]).toContain("Not permitted: no rm -rf here");
    expect(() => readFileSync(join(workspace.cwd, "b"))).toThrow();
    expect(readFileSync(join(workspace.cwd, "c"), "utf8")).toBe("");
    expect(events).toContainEqual(
      expect.objectContaining({ type: "permission_decided", decision: "deny", by: "hook" }),
    );
  });

  test("a published line that protects files does so unchanged", async () => {
    const { sent, workspace } = await run([edit("package-lock.json"), edit("a.py"), done], {
      PreToolUse: hook(protect, "Edit|Write"),
    });
    expect(sent[1]).toContain("The hook PreToolUse");
    expect(sent[2]).toContain("a.py");
    expect(() => readFileSync(join(workspace.cwd, "package-lock.json"))).toThrow();
  });

  test("it cannot allow what a rule denies, nor what nobody can be asked about", async () => {
    const yes = `echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'`;
    const { sent } = await run([call("touch a"), done], { PreToolUse: hook(yes) }, [
      "--deny",
      "bash(touch:*)",
    ]);
    expect(sent[1]).toContain("Not permitted");
    const other = await run([call("touch a"), done], { PreToolUse: hook(yes) }, ["--permission-mode", "ask"]);
    expect(other.sent[1]).toContain("Nobody is here to be asked");
  });

  test("it can have a person asked, who is not there in headless", async () => {
    const ask = `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"look at it"}}'`;
    const { sent, code } = await run([call("touch a"), done], { PreToolUse: hook(ask) });
    expect(sent[1]).toContain("look at it Nobody is here to be asked.");
    expect(code).toBe(5);
  });
});

describe("after a call", () => {
  test("what a linter says comes after the result, and not a byte before it is another", async () => {
    const lint = `python3 -c "import json,sys; d=json.load(sys.stdin); print('lint of', d['tool_input']['file_path'], d['tool_response']['is_error'], file=sys.stderr); sys.exit(2)"`;
    const turns = [edit("a.py"), done];
    const { sent, workspace, server } = await run(turns, { PostToolUse: hook(lint, "Write|Edit") });
    expect(sent[1]).toContain(`says:\\nlint of ${workspace.cwd}/a.py False`);
    const plain = await run(turns, {});
    const normal = (text = "") => text.replaceAll(/sawtooth-tests-\w+/g, "").replaceAll(/toolu_\w+/g, "");
    const first = (requests: typeof server.requests) => normal(JSON.stringify(requests[0]));
    expect(first(server.requests)).toBe(first(plain.server.requests));
    const result = (text = "") => normal(text).indexOf('"tool_result"');
    const until = (text = "") => normal(text).slice(0, result(text));
    expect(result(sent[1])).toBeGreaterThan(0);
    expect(until(sent[1])).toBe(until(plain.sent[1]));
  });

  test("10 MB are cut, the whole of 64 kB lies in a file, and a crash is told", async () => {
    const long = `printf '{"hookSpecificOutput":{"additionalContext":"'; head -c 20000 /dev/zero | tr '\\0' x; printf '"}}'`;
    const { sent, events } = await run([call("true"), done], {
      PostToolUse: [...hook(long), ...hook("yes | head -c 10000000"), ...hook("exit 7")],
    });
    expect(sent[1]).toMatch(/x{2000,2048}\\n\[\d+ more characters: the whole text is in /);
    const warnings = events.flatMap(({ type, text }) => (type === "warning" ? [text] : []));
    expect(warnings).toEqual(
      expect.arrayContaining([
        "the hook PostToolUse (yes | head -c 10000000) wrote more than 64 kB, and the rest was not read",
        "the hook PostToolUse (exit 7) ended with 7",
      ]),
    );
  });

  test("one that never ends is ended by its time, and with onFailure block it blocks", async () => {
    const { sent } = await run([call("touch a"), done], {
      PreToolUse: hook("sleep 1000", "Bash", { timeout: 0.3, onFailure: "block" }),
    });
    expect(sent[1]).toContain("the hook PreToolUse (sleep 1000) was ended after 0.3 s");
  });
});

describe("the turn", () => {
  test("a gate at the end sends the model back three times at most", async () => {
    const { sent, events, code } = await run([done, done, done, done], {
      Stop: hook("echo tests are red >&2; exit 2"),
    });
    expect(code).toBe(0);
    expect(sent).toHaveLength(4);
    expect(sent[3]?.match(/tests are red/g)).toHaveLength(3);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: "warning",
        text: "a hook of Stop sent the model back 3 times; the turn ends all the same",
      }),
    );
  });

  test("a gate that lets it pass the second time sees that it was asked before", async () => {
    const gate = `grep -q '"stop_hook_active":true' || { echo once more >&2; exit 2; }`;
    expect((await run([done, done], { Stop: hook(gate) })).sent).toHaveLength(2);
  });

  test("continue false ends it", async () => {
    const { sent, result, code } = await run([call("true"), done], {
      PostToolUse: hook(`echo '{"continue":false,"stopReason":"enough for today"}'`),
    });
    expect(sent).toHaveLength(1);
    expect(code).toBe(5);
    expect(JSON.stringify(result)).toContain("enough for today");
  });

  test("text at the start and to the message reaches the model; a refused message is not sent", async () => {
    const { sent } = await run([done], {
      SessionStart: hook("echo the build is green", "startup"),
      UserPromptSubmit: hook("cat > prompt.json; echo it is Monday"),
    });
    expect(sent[0]).toContain("the build is green");
    expect(sent[0]).toContain("it is Monday");
    const refused = await run([done], { UserPromptSubmit: hook("echo no secrets please >&2; exit 2") });
    expect(refused.sent).toEqual([]);
    expect(refused.code).toBe(5);
    expect(JSON.stringify(refused.result)).toContain("no secrets please");
  });
});

test("a refused task ends a repair before it is sent", async () => {
  const served = await serve([done]);
  const { workspace } = served;
  const hooks = { UserPromptSubmit: hook("echo not today >&2; exit 2") };
  writeSettings(workspace, { hooks });
  execFileSync("git", ["init", "--quiet"], { cwd: workspace.cwd });
  const { code, stdout } = await sawtooth(workspace, ["fix", "--check", "false", "--output-format", "json"]);
  expect(served.server.requests).toEqual([]);
  expect({ code, told: stdout.includes("not today") }).toEqual({ code: 5, told: true });
});

test("hooks of the project are data", async () => {
  const served = await serve([call("true"), done]);
  const { workspace } = served;
  for (const folder of [".claude", ".sawtooth", ".agents"]) {
    mkdirSync(join(workspace.cwd, folder));
    for (const name of ["settings.json", "settings.local.json", "hooks.json"])
      writeFileSync(
        join(workspace.cwd, folder, name),
        JSON.stringify({ hooks: { SessionStart: hook("touch ran"), PreToolUse: hook("touch ran") } }),
      );
  }
  await sawtooth(workspace, ["-p", "go", "--permission-mode", "auto"]);
  expect(() => readFileSync(join(workspace.cwd, "ran"))).toThrow();
});

test("settings that would leave a guard out end the start with what to do", async () => {
  const { code, stderr, sent } = await run([done], { PreToolUSe: hook("exit 2") });
  expect(code).toBe(2);
  expect(stderr + JSON.stringify(sent)).toContain("did you mean PreToolUse");
});

test("doctor names a hook that cannot be used", async () => {
  const { workspace } = await serve([]);
  writeSettings(workspace, { hooks: { PreToolUse: hook("true", "(") } });
  const { stdout, code } = await sawtooth(workspace, ["doctor"]);
  expect(code).not.toBe(0);
  expect(stdout.replace(/\s+/g, " ")).toContain("is no regular expression: correct it");
});

test("a hook in a session on the screen is told that a question waits, and its own question is shown", async () => {
  const { workspace } = await serve([call("touch a"), done]);
  const ask = `echo '{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"a hook wants a look"}}'`;
  writeSettings(workspace, {
    hooks: { PreToolUse: hook(ask), Notification: hook("cat >> ~/notified.json", "permission_prompt") },
  });
  const terminal = await again(workspace, ["--permission-mode", "auto"]);
  terminal.send("go\r");
  await terminal.until("a hook wants a look");
  terminal.send("y");
  await terminal.until("done");
  const told = readFileSync(join(workspace.home, "notified.json"), "utf8");
  expect(JSON.parse(told)).toMatchObject({
    ...{
      hook_event_name: "Notification",
      notification_type: "permission_prompt",
      permission_mode: "bypassPermissions",
    },
  });
});
