/** The pure parts of `fix`: what counts as cheating, what a check is made of, how many tests ran. */

import { describe, expect, test } from "vitest";
import { countTests } from "../../../src/cli/checks/counts.ts";
import { definitionsOf } from "../../../src/cli/fix/definition.ts";
import { countViolation, violationsOf } from "../../../src/cli/fix/guard.ts";
import type { TreeChange } from "../../../src/git/frozen-tree.ts";

const none = { before: new Map(), after: new Map() };
const rulesOf = (changes: TreeChange[], allowPaths: string[] = []) =>
  violationsOf({ changes, definitions: none, root: "/p", allowPaths }).map(({ rule }) => rule);
const changed = (path: string, before: string, after: string): TreeChange => ({
  path,
  status: "M",
  before,
  after,
});

describe("what a change may not do", () => {
  const old = 'test("a", () => {\n  assert.equal(f(1), 2);\n});\n';
  const cases: [string, TreeChange, string[]][] = [
    ["code is free", changed("src/a.js", "a", "b"), []],
    ["a new test is welcome", { path: "test/b.test.js", status: "A", after: old }, []],
    ["more of a test is welcome", changed("test/a.test.js", old, old + old.replace('"a"', '"b"')), []],
    [
      "its imports may change",
      changed("test/a.test.js", `import x from "y";\n${old}`, `import x from "z";\n${old}`),
      [],
    ],
    [
      "a new test that is skipped",
      { path: "test/b.test.js", status: "A", after: 'test.skip("a")' },
      ["skipped-test"],
    ],
    ["deleted", { path: "tests/test_a.py", status: "D", before: "x" }, ["deleted-test"]],
    ["an expectation", changed("test/a.test.js", old, old.replace("2", "3")), ["changed-test"]],
    ["an assertion", changed("test/a.test.js", old, old.replace(/ {2}assert.*\n/, "")), ["fewer-assertions"]],
    [
      "focus on others",
      changed("a.spec.ts", "it('a')", "it.only('a')"),
      ["skipped-test", "fewer-assertions"],
    ],
    ["xit", changed("a.spec.ts", "it('a')", "xit('a')"), ["skipped-test", "fewer-assertions"]],
    [
      "pytest",
      changed("tests/test_a.py", "def test_a(): pass", "@pytest.mark.xfail\ndef test_a(): pass"),
      ["skipped-test"],
    ],
    ["unittest", changed("test_a.py", "  x = 1", "  self.skipTest('x')\n  x = 1"), ["skipped-test"]],
    ["Go", changed("a_test.go", "func TestA() {", "func TestA() {\nt.Skip()"), ["skipped-test"]],
    [
      "Rust, beside the code",
      changed("src/lib.rs", "#[test]\nfn a() {}", "#[test]\n#[ignore]\nfn a() {}"),
      ["skipped-test"],
    ],
    [
      "JUnit",
      changed("src/test/java/ATest.java", "@Test void a()", "@Disabled @Test void a()"),
      ["skipped-test", "changed-test"],
    ],
    ["conftest", changed("conftest.py", "", "collect_ignore = ['tests']"), ["skipped-test"]],
    ["a linter silenced", changed("src/a.ts", "x", "// eslint-disable\nx"), ["silenced-check"]],
    ["a type checker silenced", changed("src/a.ts", "x", "// @ts-ignore\nx"), ["silenced-check"]],
    ["one silencer for another line", changed("src/a.ts", "// @ts-ignore\nx", "y\n// @ts-ignore\nx"), []],
    ["the runner's settings", changed("vitest.config.ts", "a", "b"), ["changed-runner"]],
    [
      "settings in package.json",
      changed("package.json", "{}", '{ "jest": { "testMatch": [] } }'),
      ["changed-runner"],
    ],
    ["a dependency in package.json", changed("package.json", "{}", '{ "dependencies": { "a": "1" } }'), []],
    [
      "settings in pyproject.toml",
      changed("pyproject.toml", "[project]\n", "[project]\n[tool.pytest.ini_options]\naddopts = '-k no'\n"),
      ["changed-runner"],
    ],
    [
      "the version in pyproject.toml",
      changed("pyproject.toml", "[project]\nversion='1'\n", "[project]\nversion='2'\n"),
      [],
    ],
    ["the pipeline", changed(".github/workflows/ci.yml", "a", "b"), ["changed-runner"]],
  ];
  test.each(cases)("%s", (_, change, rules) => {
    expect(rulesOf([change])).toEqual(rules);
  });

  test("a path that is named may lose lines of a test, but not the test", () => {
    const edited = changed("test/a.test.js", old, old.replace("2", "3"));
    expect(rulesOf([edited], ["test/**"])).toEqual([]);
    expect(rulesOf([{ path: "test/a.test.js", status: "D", before: old }], ["test/**"])).toEqual([
      "deleted-test",
    ]);
    expect(rulesOf([changed("src/a.js", "a", "b")], ["test/**"])).toEqual(["outside-allowed"]);
    expect(
      rulesOf([changed("src/a.js", "a", "b"), changed("x/y.js", "a", "b")], ["./src", "x/*.js"]),
    ).toEqual([]);
  });
});

describe("what a check is made of", () => {
  const files: Record<string, string> = {
    "/p/package.json": JSON.stringify({
      scripts: {
        pretest: "npm run build",
        test: "./ci/run.sh && node --test",
        build: "tsc",
        start: "node app.js",
      },
    }),
    "/p/ci/run.sh": "echo",
    "/p/web/package.json": '{ "scripts": { "test": "vitest" } }',
    "/p/Makefile":
      "RUN = python -m pytest\n.PHONY: all\nall: build check\n\nbuild:\n\tcc a.c\n\ncheck: unit lint\n\nunit:\n\t$(RUN) tests\n\nlint:\n\tsh scripts/lint.sh\n",
    "/p/scripts/lint.sh": "lint",
    "/p/app.py": "app",
    "/p/tox.ini": "[tox]",
  };
  const paths = (command: string, more: Record<string, string> = {}) => [
    ...definitionsOf([command], "/p", (path) => ({ ...files, ...more })[path]).keys(),
  ];
  const differs = (command: string, path: string, text: string) => {
    const read = (changes: Record<string, string>) =>
      definitionsOf([command], "/p", (name) => ({ ...files, ...changes })[name]);
    const [before, after] = [read({}), read({ [path]: text })];
    const names = [...new Set([...before.keys(), ...after.keys()])];
    return names.some((name) => before.get(name)?.text !== after.get(name)?.text);
  };

  test("npm scripts with those around them, and what they run in turn", () => {
    expect(paths("npm test")).toEqual([
      "/p/package.json script pretest",
      "/p/package.json script prebuild",
      "/p/package.json script build",
      "/p/package.json script postbuild",
      "/p/package.json script test",
      "/p/ci/run.sh",
      "/p/package.json script posttest",
    ]);
  });

  test.each([
    ["cd web && npm test", "/p/web/package.json script test"],
    ["npm --prefix web run test", "/p/web/package.json script test"],
    ["CI=1 timeout 60 npm t", "/p/package.json script test"],
    ["yarn start", "/p/package.json script start"],
    ["bash ci/run.sh --all", "/p/ci/run.sh"],
    ["timeout 60 ./ci/run.sh", "/p/ci/run.sh"],
    ["make lint", "/p make lint"],
    ["tox -e py", "/p/tox.ini"],
  ])("%s", (command, name) => {
    expect(paths(command)).toContain(name);
  });

  test("code under test is no part of the check", () => {
    expect(paths("python app.py --selftest")).toEqual([]);
    expect(paths("shellcheck app.py")).toEqual([]);
  });

  const makefile = files["/p/Makefile"] ?? "";
  test.each([
    ["another recipe of the check", makefile.replace("$(RUN) tests", "true"), true],
    ["a variable that it uses", makefile.replace("python -m pytest", "true"), true],
    ["a rule left out", makefile.replace("unit lint", "lint"), true],
    ["errors ignored", `${makefile}.IGNORE:\n`, true],
    ["another shell", `SHELL = /bin/true\n${makefile}`, true],
    ["how the program is built", makefile.replace("cc a.c", "cc -O2 a.c b.c"), false],
  ])("make check: %s", (_, text, expected) => {
    expect(differs("make check", "/p/Makefile", text)).toBe(expected);
  });

  test("a makefile that goes before the one there is", () => {
    expect(differs("make check", "/p/GNUmakefile", "check:\n\ttrue\n")).toBe(true);
  });
});

describe("how many tests ran", () => {
  const cases: [string, string, [number, number, number] | undefined][] = [
    [
      "node:test",
      "ℹ tests 9\nℹ suites 0\nℹ pass 6\nℹ fail 1\nℹ cancelled 0\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 5",
      [9, 1, 2],
    ],
    [
      "node:test in colours",
      "\x1b[34mℹ tests 2\x1b[39m\nℹ suites 0\nℹ pass 2\nℹ fail 0\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0",
      [2, 0, 0],
    ],
    ["pytest", "====== 1 failed, 12 passed, 2 skipped, 1 xfailed in 0.42s ======", [16, 1, 3]],
    ["pytest -q", "3 passed in 0.01s", [3, 0, 0]],
    ["unittest", "Ran 7 tests in 0.002s\n\nFAILED (failures=1, errors=2, skipped=1)", [7, 3, 1]],
    ["unittest, all well", "Ran 1 test in 0.002s\n\nOK", [1, 0, 0]],
    ["jest", "Tests:       1 failed, 2 skipped, 5 passed, 8 total", [8, 1, 2]],
    ["vitest", " Test Files  1 passed (1)\n      Tests  2 failed | 5 passed | 1 skipped (8)", [8, 2, 1]],
    ["mocha", "  5 passing (12ms)\n  1 pending\n  2 failing", [8, 2, 1]],
    [
      "cargo",
      "test result: FAILED. 3 passed; 1 failed; 2 ignored; 0 measured\ntest result: ok. 4 passed; 0 failed; 0 ignored;",
      [10, 1, 2],
    ],
    ["go -v", "=== RUN TestA\n--- PASS: TestA\n=== RUN TestB\n--- SKIP: TestB\n--- FAIL: TestC", [3, 1, 1]],
    ["rspec", "5 examples, 1 failure, 2 pending", [5, 1, 2]],
    ["maven", "Tests run: 5, Failures: 1, Errors: 1, Skipped: 1", [5, 2, 1]],
    ["PHPUnit", "Tests: 5, Assertions: 9, Failures: 1, Skipped: 2.", [5, 1, 2]],
    ["TAP", "1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later", [3, 1, 1]],
    ["nothing known", "all fine", undefined],
  ];
  test.each(cases)("%s", (_, output, expected) => {
    const [total, failed, skipped] = expected ?? [];
    expect(countTests(output)).toEqual(expected ? { total, failed, skipped } : undefined);
  });

  test("fewer tests or more skipped ones speak against a green run", () => {
    const five = { total: 5, failed: 1, skipped: 0 };
    expect(countViolation("c", five, { total: 5, failed: 0, skipped: 0 })).toBeUndefined();
    expect(countViolation("c", five, { total: 7, failed: 0, skipped: 0 })).toBeUndefined();
    expect(countViolation("c", undefined, undefined)).toBeUndefined();
    expect(countViolation("c", five, { total: 4, failed: 0, skipped: 0 })?.message).toBe(
      "c: 5 tests ran before, now 4",
    );
    expect(countViolation("c", five, { total: 5, failed: 0, skipped: 1 })?.rule).toBe("fewer-tests");
    expect(countViolation("c", five, undefined)?.message).toContain("none are reported");
  });
});
