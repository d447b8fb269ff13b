/** The permission decision, as a pure function: nothing here runs a command. */

import { describe, expect, test } from "vitest";
import { type PermissionMode, parseRule } from "../../src/permissions/decide.ts";
import { decide, home, modes, read, run, write } from "./bash/cases.ts";

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
      "allow",
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

  test.each([
    // The folder of a file that was asked for, and the very thing where that would be too much.
    ["cat ../other/file.txt", "read(/w/other/**)"],
    ["grep -rn x ../other", "read(/w/other)"],
    ["cat ../file.txt", "read(/w/file.txt)"],
    ["cat ~/.bashrc", "read(/home/u/.bashrc)"],
    ["cat ~/.ssh/id_rsa", "read(/home/u/.ssh/id_rsa)"],
    ["cat /etc/hosts | head -3", "read(/etc/**)"],
    ["cat /a/x.txt /b/y.txt", "bash(cat /a/x.txt /b/y.txt)"],
    // The project's own code may do anything already, whatever follows.
    ["npm test -- a", "bash(npm test:*)"],
    ["cd sub && npm run build 2>&1 | tail -20", "bash(npm run build:*)"],
    ["node scripts/a.mjs 1", "bash(node scripts/a.mjs:*)"],
    ["./run.sh a", "bash(./run.sh:*)"],
    ["python -m pytest -k x", "bash(python -m pytest:*)"],
    ["git commit -m x", "bash(git commit:*)"],
    // These can do more with other words.
    ["git push origin main", "bash(git push origin main)"],
    ["npm install left-pad", "bash(npm install left-pad)"],
    ["npx some-tool x", "bash(npx some-tool x)"],
    ["curl https://example.com", "bash(curl https://example.com)"],
    ["mkdir x", "bash(mkdir x)"],
    ["touch made", "bash(touch made)"],
    ["docker run x", "bash(docker run x)"],
    ["node /tmp/a.mjs", "bash(node /tmp/a.mjs)"],
    ["node ../a.mjs", "bash(node ../a.mjs)"],
    ["sort -o x a.txt", "bash(sort -o x a.txt)"],
    ["npm test > log.txt", "bash(npm test > log.txt)"],
    ["git commit -F ../x", "bash(git commit -F ../x)"],
  ])("offer for %s no more than was asked for: %s", (command, suggestion) => {
    expect(run(command).suggestion).toBe(suggestion);
    expect(run(command, { allow: [suggestion] }).decision).toBe("allow");
  });

  test("an offered rule lets through what was asked for, not every file", () => {
    const allow = [run("cat ../other/file.txt").suggestion ?? ""];
    expect(run("head ../other/more.txt", { allow }).decision).toBe("allow");
    expect(run("cat ../another/file.txt", { allow }).decision).toBe("ask");
    expect(run("cat ~/.ssh/id_rsa", { allow }).decision).toBe("ask");
    expect(run("git commit -F /etc/shadow", { allow: ["bash(git commit:*)"] }).decision).toBe("ask");
    expect(run("git commit -mFix -am 'F'", { allow: ["bash(git commit:*)"] }).decision).toBe("allow");
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
    ["bash(npm test", /has no closing parenthesis/],
    ["bash:x", /something other than/],
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
