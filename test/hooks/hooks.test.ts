/** Hooks: their settings, the vocabulary they read, and what their ends mean. */

import { describe, expect, test } from "vitest";
import { type Hook, hooksFrom } from "../../src/hooks/configuration.ts";
import { type HookEnd, runHook } from "../../src/hooks/run-hook.ts";
import { hookCall } from "../../src/hooks/tool-names.ts";
import { combined, verdictOf } from "../../src/hooks/verdict.ts";

const one = (command: string, more: object = {}) => [{ hooks: [{ type: "command", command, ...more }] }];

describe("settings", () => {
  test("matchers take a whole name of either vocabulary; none, an empty one and * take all", () => {
    const matchers = ["Bash", "bash", "Edit|Write", "mcp__github__.*", "", "*", "Ba"];
    const hooks = hooksFrom("s.json", {
      PreToolUse: matchers.map((matcher) => ({ matcher, ...one("true")[0] })),
    });
    const taken = (names: string[]) => matchers.filter((_, index) => hooks[index]?.matches(names));
    expect(taken(["Bash", "bash"])).toEqual(["Bash", "bash", "", "*"]);
    expect(taken(["Write", "str_replace_editor"])).toEqual(["Edit|Write", "", "*"]);
    expect(taken(["mcp__github__list"])).toEqual(["mcp__github__.*", "", "*"]);
  });

  test("a moment that only Claude Code has is told and left out", () => {
    const told: string[] = [];
    expect(hooksFrom("s.json", { PreCompact: one("true") }, (text) => told.push(text))).toEqual([]);
    expect(told).toEqual([
      "s.json: hooks of PreCompact are not run; there are SessionStart, UserPromptSubmit, PreToolUse, PostToolUse, Stop, Notification",
    ]);
  });

  test.each([
    [{ PreTooluse: one("true") }, "did you mean PreToolUse"],
    [{ PreToolUse: {} }, "hooks.PreToolUse"],
    [{ PreToolUse: one("  ") }, "empty command"],
    [{ PreToolUse: one("true", { timeout: 0 }) }, "timeout"],
    [{ PreToolUse: one("true", { onFailure: "stop" }) }, "onFailure"],
    [{ PreToolUse: [{ hooks: [{ type: "prompt", prompt: "?" }] }] }, "type"],
    [{ PreToolUse: [{ matcher: "(", ...one("true")[0] }] }, "no regular expression"],
  ])("%j is refused: it might guard something", (value, words) => {
    expect(() => hooksFrom("s.json", value)).toThrow(words);
  });
});

test("calls are said as Claude Code says them", () => {
  expect(hookCall("bash", { command: "ls", timeout_s: 5, background: true })).toEqual({
    names: ["Bash", "bash"],
    input: { command: "ls", timeout: 5000, run_in_background: true },
  });
  const edit = (input: object) => hookCall("str_replace_editor", { path: "/a", ...input });
  expect(edit({ command: "view", view_range: [3, 5] })).toMatchObject({
    names: ["Read", "str_replace_editor", "str_replace_editor/view"],
    input: { file_path: "/a", offset: 3, limit: 3 },
  });
  expect(edit({ command: "create", file_text: "x" }).input).toEqual({ file_path: "/a", content: "x" });
  expect(edit({ command: "str_replace", old_str: "x" }).input).toEqual({
    ...{ file_path: "/a", old_string: "x", new_string: "" },
  });
  expect(hookCall("mcp", { server: "g", tool: "t", arguments: { a: 1 } })).toEqual({
    names: ["mcp__g__t", "mcp"],
    input: { a: 1 },
  });
});

describe("the end of a hook", () => {
  const hook = (event: Hook["event"], more: Partial<Hook> = {}): Hook => ({
    ...{ event, command: "check.sh", timeoutMs: 1000, onFailure: "warn", matches: () => true },
    ...more,
  });
  const ended = (code: number, stdout: unknown = "", stderr = ""): HookEnd => ({
    ...{ type: "ended", code, cut: false, stderr },
    stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
  });
  const decision = (permissionDecision: string, more: object = {}) => ({
    hookSpecificOutput: {
      hookEventName: "PreToolUse",
      permissionDecision,
      permissionDecisionReason: "why",
      ...more,
    },
  });

  test.each<[string, HookEnd, object]>([
    ["silence lets it pass", ended(0), {}],
    ["plain text is for nobody", ended(0, "fine"), {}],
    ["exit 2 blocks with stderr", ended(2, "", "no rm"), { block: "no rm" }],
    ["exit 2 without words", ended(2), { block: "The hook PreToolUse (check.sh) said no." }],
    ["a denial", ended(0, decision("deny")), { block: "why" }],
    ["the old form of a denial", ended(0, { decision: "block", reason: "old" }), { block: "old" }],
    ["a question", ended(0, decision("ask")), { ask: "why" }],
    ["yes allows nothing", ended(0, decision("allow")), {}],
    [
      "yes and no is no",
      ended(0, { ...decision("allow"), decision: "block", reason: "no" }),
      { block: "why" },
    ],
    ["yes by JSON and no by exit code is no", ended(2, decision("allow"), "no"), { block: "no" }],
    ["the end of the turn", ended(0, { continue: false, stopReason: "enough" }), { stop: "enough" }],
    ["more context", ended(0, decision("allow", { additionalContext: "know" })), { context: ["know"] }],
    ["a line for the person", ended(0, { systemMessage: "hi" }), { messages: ["hi"] }],
  ])("%s", (_title, end, expected) => {
    expect(verdictOf(hook("PreToolUse"), end)).toEqual({ context: [], messages: [], ...expected });
  });

  test("a wish to change the input is a no", () => {
    const end = ended(0, decision("allow", { updatedInput: { command: "true" } }));
    expect(verdictOf(hook("PreToolUse"), end).block).toContain("Sawtooth changes no input");
  });

  test.each<[HookEnd, string]>([
    [ended(1, "", "Traceback\nmore"), "ended with 1: Traceback"],
    [ended(0, "{not json"), "wrote JSON that cannot be read"],
    [{ type: "timed_out" }, "was ended after 1 s"],
    [{ type: "failed", why: "ENOENT" }, "did not start: ENOENT"],
  ])("a failure is told, and blocks only where that is wanted: %j", (end, words) => {
    const told = [`the hook PreToolUse (check.sh) ${words}`];
    expect(verdictOf(hook("PreToolUse"), end)).toEqual({ context: [], messages: told });
    expect(verdictOf(hook("PreToolUse", { onFailure: "block" }), end)).toMatchObject({ block: told[0] });
  });

  test("plain text before a turn, and a no after a call, are for the model; a no to a start is for the person", () => {
    expect(verdictOf(hook("SessionStart"), ended(0, "hello")).context).toEqual(["hello"]);
    expect(verdictOf(hook("UserPromptSubmit"), ended(0, "hello")).context).toEqual(["hello"]);
    expect(verdictOf(hook("PostToolUse"), ended(2, "", "lint")).context).toEqual(["lint"]);
    expect(verdictOf(hook("SessionStart"), ended(2, "", "no")).messages).toEqual(["no"]);
  });

  test("of several the strictest holds", () => {
    const verdicts = [decision("allow"), decision("ask"), decision("deny")].map((output) =>
      verdictOf(hook("PreToolUse"), ended(0, output)),
    );
    expect(combined(verdicts)).toEqual({ ask: "why", block: "why", context: [], messages: [] });
  });
});

describe("the program of a hook", () => {
  const run = (command: string, more: Partial<Parameters<typeof runHook>[0]> = {}) =>
    runHook({
      ...{ command, input: '{"a":1}\n', cwd: "/", env: process.env, timeoutMs: 20_000 },
      ...{ signal: new AbortController().signal, ...more },
    });

  test("gets its input, and no secret", async () => {
    const env = { PATH: process.env.PATH, OPENAI_API_KEY: "sk-canary", OTHER: "x" };
    expect(await run("cat; echo $OTHER-$OPENAI_API_KEY; echo no >&2; exit 3", { env })).toEqual({
      ...{ type: "ended", code: 3, stdout: '{"a":1}\nx-', stderr: "no", cut: false },
    });
  });

  test("may leave its input unread, and write 10 MB", async () => {
    const end = await run("head -c 10000000 /dev/zero | tr '\\0' x", { input: "x".repeat(5_000_000) });
    expect(end).toMatchObject({ type: "ended", code: 0, cut: true });
    expect(end.type === "ended" && end.stdout.length).toBe(64 * 1024);
  });

  test("ends with all it started when its time is over, or the turn is stopped", async () => {
    const marker = `${process.pid}.5`;
    expect(await run(`sleep ${marker} & sleep ${marker}`, { timeoutMs: 200 })).toEqual({ type: "timed_out" });
    const stop = new AbortController();
    const stopped = run(`sleep ${marker}`, { signal: stop.signal });
    stop.abort();
    expect(await stopped).toEqual({ type: "cancelled" });
    const left = await run(`while pgrep -fx 'sleep ${marker}' >/dev/null; do sleep 0.02; done; echo none`);
    expect(left).toMatchObject({ stdout: "none" });
  });

  test("may leave a program in the background that holds its output open", async () => {
    expect(await run("sleep 3 & echo done")).toMatchObject({ type: "ended", code: 0, stdout: "done" });
  });
});
