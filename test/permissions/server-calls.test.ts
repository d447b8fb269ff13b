/** Tools of servers as commands: what a line names, and how it is decided. */

import { expect, test } from "vitest";
import { serverCalls } from "../../src/permissions/bash/server-calls.ts";
import { modes, run } from "./bash/cases.ts";
import { parse } from "./bash/parser.ts";

const servers = { names: ["github", "fs"], readsOnly: (_: string, tool: string) => tool === "peek" };
const named = (line: string) => {
  const found = serverCalls(line, servers.names, parse);
  return [
    ...found.named.map(({ server, tool }) => `${server}/${tool}`),
    ...found.unclear.map((one) => `? ${one}`),
  ];
};
const decide = (line: string, options: object = {}) => run(line, { servers, ...options });

test.each([
  ["mcp github list_issues state=open", "github/list_issues"],
  ["mcp github list_issues | jq -r '.[].title'", "github/list_issues"],
  ["mcp 'github' \"list_issues\"", "github/list_issues"],
  ["mcp git\\hub list_issues", "github/list_issues"],
  ['x=$(mcp fs read path=a) && echo "$x"', "fs/read"],
  ["echo `mcp fs read path=a`", "fs/read"],
  ["diff <(mcp fs read path=a) <(mcp fs peek path=b)", "fs/read", "fs/peek"],
  ["for n in 1 2; do mcp github get_issue number:=$n; done", "github/get_issue"],
  ["if mcp fs has path=a; then mcp fs read path=a; fi", "fs/has", "fs/read"],
  ['f() { mcp fs read path="$1"; }; f a', "fs/read"],
  ["timeout 5 mcp fs read path=a", "fs/read"],
  ["seq 3 | xargs -I{} mcp github get_issue number:={}", "github/get_issue"],
  ["find . -exec mcp fs read path={} ';'", "fs/read"],
  ["bash -c 'mcp fs read path=a'", "fs/read"],
  ["timeout 5 bash -ec 'mcp fs read path=a | wc'", "fs/read"],
  ["eval 'mcp fs read'", "fs/read"],
  ["bash <<'END'\nmcp fs read path=a\nEND", "fs/read"],
  ["time mcp fs read; ! mcp fs peek &", "fs/read", "fs/peek"],
  ["A=1 mcp fs read", "fs/read"],
])("%s names its calls", (line, ...calls) => {
  expect(named(line)).toEqual(calls);
});

test.each([
  ['mcp "$x" y', '? mcp "$x" y'],
  ["mcp github $tool a=1", "? mcp github $tool"],
  ['mcp github "list_$what"', '? mcp github "list_$what"'],
  ["mcp github `cat tool`", "? mcp github `cat tool`"],
  ['xargs mcp github "$t"', '? mcp github "$t"'],
  ["mcp fs read; mcp fs {read,write}", "fs/read", "? mcp fs {read,write}"],
])("%s has a name that is not written out", (line, ...calls) => {
  expect(named(line)).toEqual(calls);
});

test.each([
  "mcp",
  "mcp github",
  "mcp --help",
  "mcp github --help",
  "mcp github list_issues --help",
  "mcp dev server.py",
  "echo mcp github list_issues",
  "grep -r 'mcp github list_issues' .",
  "cat <<'END'\nmcp github list_issues\nEND",
  "bash x.sh mcp github list_issues",
  "# mcp github list_issues",
  "$m github list_issues",
  "mcp github list_issues 'unfinished",
])("%s names no call", (line) => {
  expect(named(line)).toEqual([]);
});

test("each named call is decided like one of the model, and the strictest counts", () => {
  const line = "mcp github list_issues | jq -r '.[].title'";
  expect(modes.map((mode) => decide(line, { mode }).decision)).toEqual(["ask", "ask", "deny", "allow"]);
  expect(decide(line)).toMatchObject({ suggestion: "mcp(github/list_issues)" });
  const allow = ["mcp(github/list_*)"];
  expect(decide(line, { allow })).toMatchObject({
    decision: "allow",
    rule: "mcp(github/list_*)",
    by: "rule",
  });
  expect(decide(`${line}; mcp fs read path=a`, { allow })).toMatchObject({
    decision: "ask",
    suggestion: "mcp(fs/read)",
  });
  expect(decide(line, { mode: "auto", deny: ["mcp(github/*)"] })).toMatchObject({
    decision: "deny",
    rule: "mcp(github/*)",
  });
  expect(decide("mcp fs peek", { mode: "plan" }).decision).toBe("allow");
  const several = "mcp fs peek; mcp fs read; mcp github x; mcp fs read";
  expect(decide(several).reason).toBe("Calling fs/read, github/x needs permission.");
});

test("a rule for the tool allows nothing else of the line, and a rule for commands no tool", () => {
  expect(decide("mcp fs peek && npm test")).toMatchObject({
    decision: "ask",
    suggestion: "bash(npm test:*)",
  });
  expect(decide("mcp fs peek > out.json").decision).toBe("ask");
  expect(decide("mcp github x", { allow: ["bash"] })).toMatchObject({
    decision: "ask",
    suggestion: "mcp(github/x)",
  });
  expect(decide("mcp github x; rm a").reason).toMatch(/^Calling github\/x needs permission\. .+/);
  expect(decide("mcp fs peek; rm -rf /", { mode: "auto" })).toMatchObject({ decision: "deny", by: "always" });
});

test("a name that is not written out is refused in every mode, with why", () => {
  for (const mode of modes) {
    const { decision, reason } = decide('mcp github "$tool"', { mode, allow: ["bash", "mcp"] });
    expect(decision).toBe("deny");
    expect(reason).toContain(
      'both names are written out, as in mcp github tool; this says mcp github "$tool"',
    );
  }
});

test("listing needs no permission, and without servers mcp is a program like any other", () => {
  for (const line of ["mcp", "mcp github", "mcp github list_issues --help"])
    expect(decide(line, { mode: "plan" }).decision).toBe("allow");
  expect(run("mcp github", { mode: "ask" })).toMatchObject({ suggestion: "bash(mcp github)" });
  expect(run('mcp "$x" y', { mode: "auto" }).decision).toBe("allow");
  expect(decide("mcp dev server.py")).toMatchObject({
    decision: "ask",
    suggestion: "bash(mcp dev server.py)",
  });
});
