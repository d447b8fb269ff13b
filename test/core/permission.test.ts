/** The permission decision, as a pure function: nothing here runs a command. */

import { describe, expect, test } from "vitest";
import { type PermissionMode, parseRule } from "../../src/core/permission.ts";
import { decide, home, modes, read, run, write } from "./permission-cases.ts";

/** The decisions in the order of `modes`. */
const inModes = (judge: (mode: PermissionMode) => { decision: string }): string[] =>
  modes.map((mode) => judge(mode).decision);

describe("the modes", () => {
  test("differ in what is free", () => {
    const inside = "/w/app/src/a.ts";
    expect(inModes((mode) => read(inside, { mode }))).toEqual(["allow", "allow", "allow", "allow"]);
    expect(inModes((mode) => read("/etc/hosts", { mode }))).toEqual(["ask", "ask", "ask", "allow"]);
    expect(inModes((mode) => write(inside, { mode }))).toEqual(["ask", "allow", "deny", "allow"]);
    expect(inModes((mode) => write("/tmp/x", { mode }))).toEqual(["ask", "ask", "deny", "allow"]);
    expect(inModes((mode) => run("npm test", { mode }))).toEqual(["ask", "ask", "deny", "allow"]);
    expect(inModes((mode) => run("git status && ls src | head -3", { mode }))).toEqual([
      "ask",
      "allow",
      "allow",
      "allow",
    ]);
    expect(inModes((mode) => run("cat /etc/hosts", { mode }))).toEqual(["ask", "ask", "ask", "allow"]);
    expect(inModes((mode) => decide({ kind: "session" }, { mode }))).toEqual([
      "allow",
      "allow",
      "allow",
      "allow",
    ]);
  });

  test("say by what they decided and which rule would allow it", () => {
    expect(run("npm test -- a")).toEqual({
      decision: "ask",
      rule: "ask",
      by: "mode",
      reason: "Running a command needs permission.",
      suggestion: "bash(npm test:*)",
    });
    expect(write("/w/app/src/a.ts").suggestion).toBe("edit(src/a.ts)");
    expect(read("/etc/hosts").suggestion).toBe("read(/etc/**)");
  });

  test("take a folder whose name only begins like the workspace for another one", () => {
    expect(write("/w/app-evil/x", { mode: "accept-edits" }).decision).toBe("ask");
    expect(read("/w/app-evil/x").decision).toBe("ask");
    expect(run("cat ../app-evil/x", { mode: "accept-edits" }).decision).toBe("ask");
  });

  test("let the session's own folder be read, not written", () => {
    const file = `${home}/.local/state/sawtooth/sessions/s1/artifacts/000001.txt`;
    expect(read(file).decision).toBe("allow");
    expect(run(`grep -n failed ${file}`, { mode: "accept-edits" }).decision).toBe("allow");
    expect(run(`python3 count.py ${file}`, { mode: "auto" }).decision).toBe("allow");
    expect(write(file, { mode: "auto" })).toMatchObject({ decision: "deny", by: "always" });
    expect(run(`echo x > ${file}`, { mode: "auto" })).toMatchObject({ decision: "deny", by: "always" });
  });
});

describe("rules", () => {
  test("deny beats allow, and allow beats the mode", () => {
    expect(run("npm test", { allow: ["bash(npm:*)"] })).toMatchObject({
      decision: "allow",
      by: "rule",
      rule: "bash(npm:*)",
    });
    expect(run("npm test", { allow: ["bash"], deny: ["bash(npm test)"] })).toMatchObject({
      decision: "deny",
      by: "rule",
    });
    expect(run("npm test", { mode: "auto", deny: ["bash"] }).decision).toBe("deny");
    expect(write("/w/app/a.ts", { mode: "auto", deny: ["edit"] }).decision).toBe("deny");
    expect(decide({ kind: "session" }, { deny: ["todo"] }).decision).toBe("deny");
  });

  test("with a glob cover paths of the workspace, of the home, or absolute ones", () => {
    const edits = (path: string, ...allow: string[]) => write(path, { allow }).decision;
    expect(edits("/w/app/src/deep/a.ts", "edit(src/**)")).toBe("allow");
    expect(edits("/w/app/srcs/a.ts", "edit(src/**)")).toBe("ask");
    expect(edits("/w/app/src/deep/a.ts", "edit(src/*.ts)")).toBe("ask");
    expect(edits("/w/app/src/a.ts", "edit(src)")).toBe("allow");
    expect(edits("/w/app/src/a.ts", "str_replace_editor(src/*)")).toBe("allow");
    expect(edits("/w/app/a.ts", "edit(**/*.ts)")).toBe("allow");
    expect(edits("/tmp/x/a", "edit(/tmp/**)")).toBe("allow");
    expect(edits(`${home}/notes/a`, "edit(~/notes/**)")).toBe("allow");
    expect(edits("/w/app/src/a.ts", "read(src/**)")).toBe("ask");
    expect(read("/w/app/.env", { deny: ["read(**/.env)"] }).decision).toBe("deny");
    expect(
      decide({ kind: "write", paths: ["/w/app/src/a", "/w/app/b"] }, { allow: ["edit(src/**)"] }).decision,
    ).toBe("ask");
  });

  test("that deny a file also hold for commands", () => {
    const deny = ["read(.env)", "edit(vendor/**)"];
    expect(run("cat .env", { mode: "accept-edits", deny }).decision).toBe("deny");
    expect(run("echo x > vendor/a", { mode: "auto", deny }).decision).toBe("deny");
    expect(run("rm vendor/a", { mode: "auto", deny }).decision).toBe("ask");
    expect(run("ls vendor", { mode: "accept-edits", deny }).decision).toBe("allow");
  });

  test.each([
    ["", /does not begin with the name of a tool/],
    ["(x)", /does not begin with the name of a tool/],
    ["bash()", /nothing between its parentheses/],
    ["bash(npm test", /lacks its closing parenthesis/],
    ["bash:x", /something else than/],
    ["git *", /write bash\(git:\*\)/],
    ["npm test", /write bash\(npm test\)/],
  ])("that cannot be read are refused with a sentence: %j", (rule, message) => {
    expect(() => parseRule(rule)).toThrow(message);
  });

  test("are read as tool and pattern", () => {
    expect(parseRule(" bash(echo (a):*) ")).toEqual({
      text: "bash(echo (a):*)",
      tool: "bash",
      pattern: "echo (a):*",
    });
    expect(parseRule("todo")).toEqual({ text: "todo", tool: "todo" });
  });
});
