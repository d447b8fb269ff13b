/** Which commands only read, as a pure function: nothing here runs a command. */

import { describe, expect, test } from "vitest";
import { run } from "./cases.ts";

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
    "du --one-file-system src",
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

describe("git in a repository that names programs", () => {
  const programsInGit = (folder: string) => (folder === "/w/app/evil" ? "it is a trap" : undefined);
  const judged = (command: string, options = {}) =>
    run(command, { mode: "accept-edits", programsInGit, ...options });

  test.each(["git -C evil status", "cd evil && git log", "ls; git -C 'evil' diff", "git -C . -C evil show"])(
    "is no free read: %s",
    (command) => {
      expect(judged(command).decision).toBe("ask");
      expect(judged(command).reason).toContain("it is a trap");
      expect(judged(command, { mode: "plan" }).decision).toBe("deny");
      expect(judged(command, { mode: "ask" }).reason).toContain("it is a trap");
    },
  );

  test("is not what a rule for every folder means, but a rule for this one does", () => {
    const rules = ["bash(git:*)", "bash(git -C evil status)"];
    expect(judged("git -C evil status", { allowEverywhere: rules }).decision).toBe("ask");
    expect(judged("git -C good status", { allowEverywhere: rules }).decision).toBe("allow");
    expect(judged("git -C evil status", { allow: rules }).decision).toBe("allow");
    expect(judged("git -C evil status", { allowEverywhere: ["bash"] }).decision).toBe("allow");
  });

  test("leaves the others free", () => {
    expect(judged("git status && git -C good log").decision).toBe("allow");
    expect(judged("ls evil").decision).toBe("allow");
  });
});
