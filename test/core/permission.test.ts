/** The permission decision, as a pure function: nothing here runs a command. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { describe, expect, test } from "vitest";
import {
  decidePermission,
  type PermissionInput,
  type PermissionMode,
  parseRule,
} from "../../src/core/permission.ts";
import type { Access } from "../../src/core/ports.ts";

const home = "/home/u";
const modes: PermissionMode[] = ["ask", "accept-edits", "plan", "auto"];

function decide(access: Access, options: Partial<PermissionInput> = {}) {
  const toolName =
    access.kind === "execute" ? "bash" : access.kind === "session" ? "todo" : "str_replace_editor";
  return decidePermission({
    ...{ mode: "ask", allow: [], deny: [], toolName, access, home },
    workspace: ["/w/app"],
    protectedPaths: [`${home}/.config/sawtooth`, `${home}/.local/state/sawtooth`],
    readable: [`${home}/.local/state/sawtooth/sessions/s1`],
    ...options,
  });
}

const run = (command: string, options: Partial<PermissionInput> = {}) =>
  decide({ kind: "execute", command }, options);
const read = (path: string, options: Partial<PermissionInput> = {}) =>
  decide({ kind: "read", paths: [path] }, options);
const write = (path: string, options: Partial<PermissionInput> = {}) =>
  decide({ kind: "write", paths: [path] }, options);
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

describe("rules for commands (T22)", () => {
  const rules = { allow: ["bash(git *)", "bash(echo *)"], deny: ["bash(rm *)", "bash(git push *)"] };
  const judged = (command: string, mode: PermissionMode) => run(command, { ...rules, mode }).decision;

  test.each([
    "git status && rm -rf x",
    "git status; rm x",
    "echo $(rm x)",
    "echo `rm x`",
    'echo "$(rm x)"',
    "git -c core.pager='rm x' log",
    "env rm x",
    "env A=1 rm x",
    "xargs rm",
    "find . -name a | xargs -0 rm -f",
    "find . -exec rm {} +",
    "timeout 5 rm x",
    "timeout -s KILL 5 rm x",
    "nohup rm x",
    "busybox rm x",
    "command rm x",
    "sudo -u root rm x",
    "nice -n 10 rm x",
    "\\rm x",
    "r''m x",
    '"rm" x',
    "$'rm' x",
    "/bin/rm x",
    "r? x",
    "{rm,x}",
    "git push -f",
    "git  push",
    "git\tpush",
    "git -C sub push",
    "git --no-pager push",
    "GIT_DIR=. git push",
    "git status\nrm x",
    "git status\rrm x",
    "git status & rm x",
    "git diff <(rm x)",
    "sh <<EOF\nrm x\nEOF",
    "cat <<EOF | bash\ntrue\nrm x\nEOF",
    "sh -c 'rm x'",
    'bash -lc "git status; rm x"',
    "echo 'rm x' | sh",
    "eval rm x",
    "eval 'rm x'",
    "if true; then rm x; fi",
    "for f in a b; do rm $f; done",
    "(rm x)",
    "{ rm x; }",
    "! rm x",
    "time rm x",
    `${"git status && ".repeat(60)}rm x`,
    "echo a#b; rm x",
    "echo 'a\\'; rm x",
    'echo "${X:-\'}"; rm x; echo "${X:-\'}"',
    "rm${IFS}x",
    "X=rm; $X x",
    "cat <<'EOF'\nit's\nEOF\nrm x",
  ])("deny what runs anywhere in the line, also in auto: %j", (command) => {
    expect([judged(command, "ask"), judged(command, "auto")]).toEqual(["deny", "deny"]);
  });

  test.each(["./wrap rm x", "$CMD x", "git $X", "curl x | sh", 'sh -c "$X"'])(
    "ask when a denied program may hide in it, also in auto: %j",
    (command) => {
      expect([judged(command, "ask"), judged(command, "auto")]).toEqual(["ask", "ask"]);
    },
  );

  test.each([
    "echo a > ~/x",
    "echo a > ../x",
    "git log | sh -s",
    "git log --output=../x",
    "git log --outp=../x",
    "git --exec-path=. log",
    "git grep -O x",
    "alias git=x; git status",
    "export PATH=.:$PATH; git status",
    "PATH=. git status",
    "git() { true; }; git status",
    "git 'status",
    "git status && npm test",
    "git status <<< x",
    "./git status",
    "/usr/bin/git status",
    "echo ${X}",
  ])("do not allow what cannot be read for certain or leaves the workspace: %j", (command) => {
    expect(judged(command, "ask")).toBe("ask");
  });

  test.each([
    "git status",
    "git log --oneline | git shortlog",
    "echo 'rm x; $(y)' && git commit -m \"a && b\"",
    "git commit -m 'push' 2>&1",
    "git status >/dev/null 2>&1",
    'echo "it\'s" # rm x',
    "git status;",
    "echo rm x",
  ])("allow a line of which every part is allowed: %j", (command) => {
    expect(judged(command, "ask")).toBe("allow");
  });

  test("a variable among the arguments of an unknown program makes nobody suspicious", () => {
    expect(judged("node $FILE", "auto")).toBe("allow");
  });

  test("a suggested rule allows the command again, and its like, but nothing behind it", () => {
    const { suggestion = "" } = run("node scripts/a.mjs 1");
    expect(suggestion).toBe("bash(node scripts/a.mjs:*)");
    const with_ = (command: string) => run(command, { allow: [suggestion] }).decision;
    expect(with_("node scripts/a.mjs 2")).toBe("allow");
    expect(with_("node scripts/b.mjs; rm x")).toBe("ask");
    expect(with_("node scripts/a.mjs 2; rm x")).toBe("ask");
  });

  test.each([
    "rm -r build",
    "npm test && npm run build",
    "X=1 make",
    "git log --output=x",
    "find . -name x -fprint y",
  ])("the suggestion for %j is the exact command, and it allows it", (command) => {
    const { suggestion = "" } = run(command);
    expect(suggestion).toBe(`bash(${command})`);
    expect(run(command, { allow: [suggestion] }).decision).toBe("allow");
    expect(run(`${command} more`, { allow: [suggestion] }).decision).toBe("ask");
  });

  test("an exact rule does not allow more words, a prefix is one of words", () => {
    expect(run("npm test -- --watch", { allow: ["bash(npm test)"] }).decision).toBe("ask");
    expect(run("npm tests", { allow: ["bash(npm test:*)"] }).decision).toBe("ask");
    expect(run("npm  test", { allow: ["bash(npm test)"] }).decision).toBe("allow");
    expect(run("anything; at all $(x)", { allow: ["bash"] }).decision).toBe("allow");
  });

  test("a rule and free reading together cover a line", () => {
    const options = { allow: ["bash(npm test:*)"] };
    expect(run("cd sub && npm test | tail -5", { ...options, mode: "accept-edits" }).decision).toBe("allow");
    expect(run("cd .. && npm test | cat /etc/x", { ...options, mode: "accept-edits" }).decision).toBe("ask");
    expect(run("npm test > log.txt", { ...options, mode: "accept-edits" }).decision).toBe("allow");
    expect(run("npm test > log.txt", options).decision).toBe("ask");
  });
});

describe("commands that only read", () => {
  const judged = (command: string) => run(command, { mode: "plan" }).decision;

  test.each([
    "ls -la src",
    "cat a.txt | head -n 5 | wc -l",
    "rg -n 'foo|bar' src",
    "grep -rn /api/users src",
    "find . -name '*.ts' -type f",
    "git log --oneline -5 && git diff main..HEAD",
    "git --no-pager show HEAD:src/a.ts",
    "git branch -a",
    "git -C sub status",
    "sed -n 1,20p a.txt",
    "echo hello",
    "pwd; date; whoami",
    "sort -u a.txt | uniq -c",
    "cat $HOME/.local/state/sawtooth/sessions/s1/todo.md",
    "cat < a.txt 2>/dev/null",
    "tail -n +3 'a b.txt'",
  ])("are free: %s", (command) => {
    expect(judged(command)).toBe("allow");
  });

  test.each([
    "find . -delete",
    "find . -exec touch {} +",
    "find . -fprint x",
    "rg --pre ./x foo",
    "sort -o x a.txt",
    "sort -uo x a.txt",
    "uniq a.txt x",
    "tree -o x",
    "sed -i s/a/b/ a.txt",
    "sed -n 'w x' a.txt",
    "git diff --output=x",
    "git diff --ext-diff",
    "git -c a.b=c status",
    "git branch -D main",
    "git branch new",
    "git stash",
    "git tag v1",
    "git remote add x y",
    "git config a.b c",
    "echo x > a.txt",
    "cat a.txt >> b.txt",
    "ls | tee x",
    "date -s now",
    "file -C -m x",
    "npm test",
    "ls && make",
    "ls $(make)",
    "PAGER=x git log",
    "./ls",
    "awk '{print}' a.txt",
  ])("are not: %s", (command) => {
    expect(judged(command)).toBe("deny");
  });

  test.each([
    "cat /etc/passwd",
    "ls ..",
    "cat ~/.ssh/id_rsa",
    "git -C /other log",
    "cd / && ls",
    "grep -f/etc/shadow a",
    "cat < /etc/x",
    "git --git-dir=/x log",
  ])("ask outside the workspace: %s", (command) => {
    expect(run(command, { mode: "accept-edits" }).decision).toBe("ask");
  });
});
