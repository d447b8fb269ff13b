/** Commands that are free in every mode, and those that only look it, as a pure function: nothing here runs a command. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { describe, expect, test } from "vitest";
import type { FolderSurvey } from "../../src/permissions/decision.ts";
import { modes, read, run, write } from "./bash/cases.ts";

const inEveryMode = (command: string) => modes.map((mode) => run(command, { mode }).decision);
const free = ["allow", "allow", "allow", "allow"];

describe("commands that provably only read inside the workspace are free in every mode", () => {
  test.each([
    "pwd",
    "ls",
    "cat README.md",
    "git status",
    "rg foo src",
    "awk 'NR>486 && /^[[:space:]]*def / {print NR, $0; exit}' a.py",
    "awk -F: '{ if ($3 > 5) print $1 \"|\" $2 }' a.txt | sort -u",
    "awk '/a|b/,/c/{n++} END{print n}' a.txt",
    "jq -r '.scripts | keys[]' package.json",
    "jq --arg n x '.[$n]' a.json",
    "sed -n '/start/,/end/p' a.txt",
    "sed -n '10,20p;30q' a.txt",
    "sed 's/a/b/g' a.txt",
    "sed -e 's|a/b|c|' -e '/x/d' a.txt",
    'for f in a.txt b.txt; do echo "== $f"; head -5 "$f"; done',
    'cd src && for f in *.ts; do wc -l "$f"; done | sort -n',
    "for n in 1 2 3; do sed -n ${n}p a.txt; done",
    "for d in a b; do for f in x y; do cat $d/$f; done; done",
    "find . -name '*.ts' -type f | xargs grep -n foo | head",
    "find src -print0 | xargs -0 wc -l",
    "find . -name '*.py' | grep -v test | sort | xargs -I{} grep -l foo {}",
    "find . -name '*.ts' -exec grep -l foo {} \\; | head -5",
    "find . -type f -exec wc -l {} +",
    "rg -l foo | xargs cat",
    "grep -rl foo src | xargs -n 1 head -3",
    "git ls-files '*.ts' | xargs wc -l",
    "node --version && npm -v && python3 --version",
    "command -v node",
    "stat -c %s a.txt",
    "date +%s",
    "printf '%s\\n' a b",
    "[ -f a.txt ] && echo yes || echo no",
    "test -n abc",
    "diff -u a.txt b.txt",
    "tail -n 20 a.log",
    "sha256sum a.txt",
    "git config --get user.name",
  ])("%s", (command) => {
    expect(inEveryMode(command)).toEqual(free);
  });
});

describe("what a name leads to", () => {
  const real: Record<string, string> = { "/w/app/out.txt": "/etc/passwd", "/w/app/link": "/home/u/.ssh" };
  const realPath = (path: string) => real[path] ?? path;

  test("a glob is judged by the names it stands for", () => {
    const matches = (glob: string) => (glob.startsWith("/w/app/o") ? ["/w/app/out.txt"] : ["/w/app/a.txt"]);
    expect(run("cat a*", { realPath, matches }).decision).toBe("allow");
    expect(run("cat o*", { realPath, matches }).decision).toBe("ask");
    expect(run("grep x o*", { realPath, matches }).decision).toBe("ask");
    expect(run("cat a*", { matches: () => undefined }).decision).toBe("ask");
    expect(run("echo /etc/*").decision).toBe("ask");
    expect(run('for f in o*; do cat "$f"; done', { realPath, matches }).decision).toBe("ask");
  });

  test("a name that begins like an option is one for the program", () => {
    const matches = () => ["/w/app/-o"];
    expect(run("sort *", { matches }).decision).toBe("ask");
    expect(run("sort ./*", { matches }).decision).toBe("allow");
    expect(run("test *").decision).toBe("ask");
    expect(run("printf *").decision).toBe("ask");
  });

  test("a walk that follows links, and names that are handed over, are looked at first", () => {
    const with_ = (survey: FolderSurvey) => (command: string) =>
      run(command, { survey: () => survey }).decision;
    const [linked, odd] = [with_({ link: "a link leads out" }), with_({ oddName: "a name with a blank" })];
    for (const command of [
      "grep -R x .",
      "rg -L x",
      "find -L . -name x",
      "find . -exec cat {} +",
      "find . | xargs cat",
      "diff a b",
      "tree -l",
    ])
      expect([command, linked(command), run(command).decision]).toEqual([command, "ask", "allow"]);
    for (const command of ["grep -r x .", "find . -name x", "ls -R", "rg x"])
      expect(linked(command)).toBe("allow");
    expect(odd("find . | xargs cat")).toBe("ask");
    expect(odd("find . -exec cat {} +")).toBe("allow");
  });

  test("a command that reads where it stands is not free where the shell stands outside", () => {
    for (const command of ["ls", "rg x", "git log", "find", "tree"])
      expect(run(command, { cwd: "/etc", mode: "accept-edits" }).decision).toBe("ask");
    expect(run("pwd", { cwd: "/etc" }).decision).toBe("allow");
  });
});

describe("files that hold secrets", () => {
  const names = [
    ".env",
    ".env.local",
    ".ENV",
    "deploy/server.pem",
    "tls.key",
    "id_rsa",
    "id_ed25519",
    "id_work",
    "a.p12",
    ".netrc",
  ];

  test.each(names)("are asked for in every mode but auto: %s", (name) => {
    for (const mode of modes) {
      const wanted = mode === "auto" ? "allow" : "ask";
      expect(read(`/w/app/${name}`, { mode }).decision).toBe(wanted);
      for (const command of [
        `cat ${name}`,
        `grep KEY ./${name}`,
        `head -1 < ${name}`,
        `git show HEAD:${name}`,
      ])
        expect([command, run(command, { mode }).decision]).toEqual([command, wanted]);
    }
  });

  test.each([
    "cat .e*",
    "cat *.pem",
    "find . -name '.env*' -exec cat {} +",
    "find . -name .env | xargs cat",
    "grep -r KEY --include=.env .",
    "rg -g .env KEY",
    "for f in .env .env.local; do cat $f; done",
    "awk '{print}' .env",
  ])("are so by other ways too: %s", (command) => {
    expect(run(command, { mode: "accept-edits" }).decision).toBe("ask");
  });

  test.each([
    "cat .env.example",
    "cat id_rsa.pub",
    "cat src/id_token.ts",
    "ls -la .env",
    "test -f .env",
    "find . -name .env",
  ])("are not taken for others, and may be listed: %s", (command) => {
    expect(run(command).decision).toBe("allow");
  });

  test("are read where a rule for them says so", () => {
    expect(run("cat .env", { allow: ["read(.env)"] }).decision).toBe("allow");
    expect(read("/w/app/.env", { allow: ["read(.env)"] }).decision).toBe("allow");
    expect(read("/w/app/.env").suggestion).toBe("read(.env)");
    expect(run("cat .env").suggestion).toBe("read(.env)");
  });
});

describe("files that other programs run", () => {
  test.each([
    ".vscode/tasks.json",
    ".VSCode/tasks.json",
    "sub/.idea/workspace.xml",
    ".devcontainer/devcontainer.json",
    ".envrc",
    ".husky/pre-commit",
    ".githooks/x",
    ".mcp.json",
    ".claude/settings.json",
    ".codex/config.toml",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".agents/x",
    ".sawtooth/commands/x.md",
    ".gitmodules",
    "vendor/repo/HEAD",
    "sub/.git",
    ".git/info/attributes",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    "mise.toml",
    "a.code-workspace",
    ".exrc",
    ".gdbinit",
  ])("are asked for in accept-edits: %s", (path) => {
    const inModes = modes.map((mode) => write(`/w/app/${path}`, { mode }).decision);
    expect(inModes).toEqual(["ask", "ask", "deny", "allow"]);
    expect(write(`/w/app/${path}`, { mode: "accept-edits" }).suggestion).toBe(`edit(${path})`);
    const rules = { mode: "accept-edits" as const, allow: ["bash(echo:*)"] };
    expect(run(`echo x > ${path}`, rules).decision).toBe("ask");
    expect(run("echo x > src/a.ts", rules).decision).toBe("allow");
  });

  test("are not seen above the workspace", () => {
    const options = { mode: "accept-edits" as const, workspace: ["/home/u/.claude/worktrees/a"] };
    expect(write("/home/u/.claude/worktrees/a/x.ts", options).decision).toBe("allow");
  });
});
