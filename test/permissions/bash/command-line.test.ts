/** Rules over whole command lines (T22), as a pure function: nothing here runs a command. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { describe, expect, test } from "vitest";
import type { PermissionMode } from "../../../src/permissions/decide.ts";
import { run } from "./cases.ts";

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
