/** Commands that cannot be read for certain, as a pure decision: nothing here runs a command. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { describe, expect, test } from "vitest";
import { run } from "./cases.ts";

const unreadable = [
  "git 'status",
  "git status\rrm x",
  "gi\\\nt status",
  "git status\u00a0x",
  "git\u3000status",
  "git \u200bstatus",
  "git sta\u202etus",
  "git \ud800",
  "git \u001b[2Jstatus",
  "git \0status",
  "git \ue02astatus",
  "git status @(a|b)",
  "git status <<A <<B\n1\nA\n2\nB\nrm x",
  "git status )",
  "git status |",
  "git status \\",
  "if true; then git status",
  'git $"status"',
  `git ${"$(".repeat(300)}`,
];

describe("a command that cannot be read for certain", () => {
  test.each(unreadable)("is asked for each time, whatever rule fits it: %j", (command) => {
    const rules = { allow: ["bash(git:*)", "bash(rm:*)", `bash(${command})`] };
    for (const mode of ["ask", "accept-edits"] as const) {
      const decided = run(command, { ...rules, mode });
      expect(decided.decision).toBe("ask");
      expect(decided.reason).toContain("cannot be read for certain");
      expect(decided.suggestion).toBeUndefined();
    }
    expect(run(command, { ...rules, mode: "plan" }).decision).toBe("deny");
  });

  test.each(unreadable)("is asked for in auto as soon as a command is denied: %j", (command) => {
    expect(run(command, { mode: "auto", deny: ["bash(shutdown:*)"] }).decision).toBe("ask");
    expect(run(command, { mode: "auto", deny: ["edit(other)"] }).decision).toBe("allow");
    expect(run(command, { mode: "auto" }).decision).toBe("allow");
    expect(run(command, { allow: ["bash"] }).decision).toBe("allow");
  });

  test.each([
    "r\\\nm -rf ~",
    "rm -rf ~ 'x",
    "rm -rf ~;;",
    "true @(a) ; rm -rf ~",
    "cat <<A <<B\n1\nA\n2\nB\nrm -rf ~",
    "echo a\u00a0b; rm -rf ~",
  ])("is refused always when it may delete the home: %j", (command) => {
    expect(run(command, { mode: "auto", allow: ["bash"] })).toMatchObject({ decision: "deny", by: "always" });
  });
});

describe("a command that is more than plain words", () => {
  test.each([
    "X=1 make",
    "export X=1",
    "for f in a b; do make $f; done",
    "make {a,b}",
    "make $'x'",
    "make $X",
    "make $!",
    "make $-",
    "make $(cat x)",
    "make <<< x",
    "f() { make; }",
    "case x in a) make;; esac",
    "[[ -f x ]] && make",
    "((x = 1)) && make",
    "time make",
    "! make",
    "coproc make",
    "(make)",
    "{ make; }",
    "make <(cat x)",
    "if true; then make; elif false; then make; else make; fi",
    "while read -r x; do make; done < f",
    "until make; do sleep 1; done",
    "select x in a; do make; done",
    "for ((i = 0; i < 3; i++)); do make; done",
    "x=(a b); make",
    "make ${x[0]:-y}",
    "function f { make; }",
  ])("is asked for, and only the very line can be allowed: %j", (command) => {
    const { decision, suggestion } = run(command, { allow: ["bash(make:*)", "bash(export:*)"] });
    expect([decision, suggestion]).toEqual(["ask", `bash(${command})`]);
    expect(run(command, { allow: [`bash(${command})`] }).decision).toBe("allow");
    expect(run(command, { mode: "plan" }).decision).toBe("deny");
  });

  test.each([
    "f() { rm x; }; f",
    "function f { rm x; }",
    "case x in a) rm x;; esac",
    "[[ -f x ]] && rm x",
    "[[ -n $(rm x) ]]",
    "((x = $(rm x)))",
    "echo $((1 + $(rm x)))",
    "coproc rm x",
    "time -p rm x",
    "! ! rm x",
    "! time rm x",
    "x=(a $(rm x))",
    "echo ${x:-$(rm x)}",
    'echo "${x:-`rm x`}"',
    "cat <<< $(rm x)",
    'cat <<< "$(rm x)"',
    "cat <<EOF\n$(rm x)\nEOF",
    "cat <<-EOF\n\t`rm x`\n\tEOF",
    "cat < <(rm x)",
    "tee >(rm x)",
    "while rm x; do true; done",
    "until rm x; do true; done",
    "select x in a; do rm x; done",
    "for ((i = 0; i < 1; i++)); do rm x; done",
    "if true; then true; elif rm x; then true; fi",
    "if true; then true; else rm x; fi",
    "true | while read -r f; do rm $f; done",
    "true # comment\nrm x",
    "true \\\n&& rm x",
    "rm \\\n x",
    "r\\\nm x",
    "\trm x",
    ">f rm x",
    "2>&1 rm x",
    ">&-rm x",
    "{fd}>f rm x",
    "2>&1>&-rm x",
    "2>&1>f rm x",
    "$(echo rm) x",
    "${X:-rm} x",
    "{rm,x}",
    "$'\\x72m' x",
    "$'\\162m' x",
    "r{m,m} x",
    "$! rm x",
    "$- rm x",
    'for x in echo rm; do "$x" x; done',
    "trap 'rm x' EXIT",
    "(true; (true; (rm x)))",
    "true && { true; { rm x; }; }",
    "true &\nrm x &",
    "alias l='rm x'; l",
    "sh <<< 'rm x'",
    "bash -s <<'EOF'\nrm x\nEOF",
    "bash <<'A' && true\nrm x\nA",
    "echo cm0geA== | base64 -d | sh",
    "echo true | cat - x.sh | sh",
    "echo true | tee x | cat y | bash",
    "bash -c 'r\\\nm x'",
    'bash -c "r\\\nm x"',
    "eval 'case x in (a|b) rm x;; esac'",
    "sh -c 'true @(a); rm x'",
    "bash -c $'rm\\x20x'",
    `${"(".repeat(6)}rm x${")".repeat(6)}`,
    `${Array.from({ length: 59 }, (_, at) => `echo ${at}`).join(" | ")} | rm x`,
  ])("is denied for a part that is denied, however it is wrapped: %j", (command) => {
    const decided = run(command, { mode: "auto", deny: ["bash(rm:*)"] });
    expect(decided.decision).not.toBe("allow");
  });

  test.each([
    "git {fd}>/dev/null push",
    "git >&-push",
    "git 2>&1 push",
    "git >/dev/null push",
    "git \\\npush",
  ])("does not hide a subcommand behind a redirection: %j", (command) => {
    const decided = run(command, { mode: "auto", allow: ["bash(git:*)"], deny: ["bash(git push:*)"] });
    expect(decided.decision).not.toBe("allow");
  });
});

describe("without the grammar of bash", () => {
  const without = (command: string, options = {}) => run(command, { ...options, parse: undefined });

  test("only a list of plain words is read", () => {
    const rules = { allow: ["bash(git:*)"], mode: "accept-edits" as const };
    expect(without("git status src/a.ts", rules).decision).toBe("allow");
    expect(without("ls -la", rules).decision).toBe("allow");
    for (const command of [
      "git status; git log",
      "git log > x",
      "git 'x'",
      "git log | cat",
      "git *",
      "git $X",
    ])
      expect(without(command, rules)).toMatchObject({ decision: "ask" });
  });

  test("what is refused always is refused, and the mode auto goes on", () => {
    expect(without("cd / && rm -rf *", { mode: "auto" })).toMatchObject({ decision: "deny", by: "always" });
    expect(without("make && make install", { mode: "auto" }).decision).toBe("allow");
    expect(without("make && rm x", { mode: "auto", deny: ["bash(rm:*)"] }).decision).toBe("deny");
  });
});

test.each([
  ["nested substitutions", "$(".repeat(10_000)],
  ["substitutions in quotes", '"$('.repeat(10_000)],
  ["arithmetic", '$(("'.repeat(10_000)],
  ["backquotes", "`".repeat(10_001)],
  ["parentheses", "(".repeat(10_000)],
  ["lines of a heredoc that does not end", `cat <<E\n${"x\n".repeat(300_000)}`],
])("10,000 %s are refused under a rule, and nothing is thrown", (_, command) => {
  expect(run(command, { mode: "auto", deny: ["bash(rm:*)"], allow: ["bash(git:*)"] }).decision).toBe("ask");
});

test.each([`a '${"x".repeat(1_000_000)}`, `a *${"x".repeat(1_000_000)}`])(
  "a word of a million characters is judged like any other",
  (command) => {
    expect(run(command, { mode: "auto", deny: ["bash(rm x:*)"] }).decision).toBe("ask");
  },
);
