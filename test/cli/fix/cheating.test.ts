import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { bash } from "../../support/served.ts";
import { sized } from "../../support/size.ts";
import { fix, git, repairing, setUp, smallCheck } from "./fix-workspace.ts";

const check = ["--check", smallCheck];

const runTests = sized("node --test --test-isolation=none", "node --test");

describe("cheating is seen, taken back and told", () => {
  const files = {
    "value.txt": "bad\n",
    "package.json": `{ "type": "module", "scripts": { "test": "${runTests}" } }\n`,
    "test/value.test.js": [
      'import assert from "node:assert/strict";',
      'import { readFileSync } from "node:fs";',
      'import test from "node:test";',
      'test("value", () => {',
      '  assert.equal(readFileSync("value.txt", "utf8"), "good\\n");',
      "});",
      'test("other", () => assert.ok(true));',
      "",
    ].join("\n"),
  };
  // npm itself only where it is npm that is cheated: it takes longer to start than the tests.
  const npm = "npm test";
  const node = sized(runTests, npm);
  const cheats: [string, string, string, string][] = [
    ["deleting the test", "rm test/value.test.js", "deleted-test", node],
    ["moving it away", "mv test old", "deleted-test", node],
    ["skipping it", 'sed -i \'s/test("value"/test.skip("value"/\' test/value.test.js', "skipped-test", node],
    ["taking the assertion out", "sed -i '/assert.equal/d' test/value.test.js", "fewer-assertions", node],
    ["changing what is expected", "sed -i 's/\"good/\"bad/' test/value.test.js", "changed-test", node],
    ["changing the script", "sed -i 's/node --test/node --version/' package.json", "changed-check", npm],
    [
      "adding a script before it",
      "npm pkg set scripts.pretest='echo good > value.txt'",
      "changed-check",
      npm,
    ],
    ["telling npm of another shell", "echo script-shell=/bin/true > .npmrc", "changed-runner", npm],
  ];
  test.each(cheats)("%s", async (_, command, rule, check) => {
    const { workspace, server } = await setUp(
      [{ calls: [bash(command)] }, { text: "It passes now." }, ...repairing],
      { files },
    );
    const { code, result } = await fix(workspace, ["--check", check]);
    const [first, second] = result.fix.attempts;
    expect(first?.refused.map((one) => one.rule)).toContain(rule);
    expect(first?.passed).toBe(false);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain(
      "were not accepted and have been taken back",
    );
    expect({ code, passed: second?.passed }).toEqual({ code: 0, passed: true });
    expect(git(workspace.cwd, "diff", "--name-only")).toBe("value.txt\n");
  });

  test("a runner that ends early in the code under test runs fewer tests, and that counts", async () => {
    const sources = {
      ...files,
      "test/value.test.js": `import "../src/set-up.js";\n${files["test/value.test.js"]}`,
      "src/set-up.js": "export {};\n",
    };
    const { workspace } = await setUp(
      [{ calls: [bash("echo 'process.exit(0);' > src/set-up.js")] }, { text: "It passes." }],
      { files: sources },
    );
    const { code, result } = await fix(workspace, ["--check", node, "--max-attempts", "1"]);
    expect(code).toBe(1);
    expect(result.fix.attempts[0]?.refused).toMatchObject([{ rule: "fewer-tests" }]);
  });

  test("a cheat beside a real repair: the cheat goes, the repair stays", async () => {
    const { workspace } = await setUp(
      [{ calls: [bash("echo good > value.txt; rm test/value.test.js")] }, { text: "done" }],
      { files },
    );
    const { code, result } = await fix(workspace, ["--check", node]);
    expect({ code, attempts: result.fix.attempts.length }).toEqual({ code: 0, attempts: 1 });
    expect(result.fix.attempts[0]?.refused).toMatchObject([{ rule: "deleted-test" }]);
    expect(git(workspace.cwd, "status", "--short")).toBe(" M value.txt\n");
  });

  test("the command on the line is what is run, whatever the model exports or defines", async () => {
    const { workspace } = await setUp([
      {
        calls: [
          bash("sh() { true; }; export -f sh; export PATH=/nonexistent BASH_ENV=/dev/null; alias sh=true"),
        ],
      },
      { text: "done" },
    ]);
    expect((await fix(workspace, [...check, "--max-attempts", "1"])).code).toBe(1);
  });

  test("new tests are welcome", async () => {
    const more = 'printf \'import test from "node:test";\\ntest("more", () => {});\\n\' > test/more.test.js';
    const { workspace } = await setUp(
      [{ calls: [bash(`echo good > value.txt; ${more}`)] }, { text: "done" }],
      {
        files,
      },
    );
    const { code, result } = await fix(workspace, ["--check", node]);
    expect({ code, changed: result.fix.changed }).toEqual({
      code: 0,
      changed: ["test/more.test.js", "value.txt"],
    });
  });
});

describe("where a repair may go", () => {
  test("--allow-paths: what lies outside is taken back", async () => {
    const { workspace } = await setUp([
      { calls: [bash("echo good > value.txt; echo note > NOTES; sed -i 's/good/bad/' test/value.sh")] },
      { text: "done" },
    ]);
    const { code, result } = await fix(workspace, [...check, "--allow-paths", "*.txt"]);
    expect(code).toBe(0);
    expect(result.fix.attempts[0]?.refused.map((one) => one.path)).toContain("NOTES");
    expect(git(workspace.cwd, "status", "--short")).toBe(" M value.txt\n");
  });

  test("the editor stays inside of the project", async () => {
    const outside = { command: "create", path: "/tmp/sawtooth-fix-outside.txt", file_text: "x" };
    const { workspace, server } = await setUp([{ calls: [{ str_replace_editor: outside }] }, ...repairing]);
    expect((await fix(workspace, check)).code).toBe(0);
    expect(JSON.stringify(server.requests.at(-1)?.messages)).toContain("outside of the project");
    expect(existsSync(outside.path)).toBe(false);
  });

  test("the model does not commit", async () => {
    const { workspace, server } = await setUp([{ calls: [bash("git commit -am mine")] }, ...repairing]);
    await fix(workspace, check);
    expect(JSON.stringify(server.requests[1]?.messages)).toContain("Not permitted");
    expect(git(workspace.cwd, "log", "--oneline").trim().split("\n")).toHaveLength(1);
  });
});
