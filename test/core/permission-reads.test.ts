/** Which commands only read, as a pure function: nothing here runs a command. */

import { describe, expect, test } from "vitest";
import { run } from "./permission-cases.ts";

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
