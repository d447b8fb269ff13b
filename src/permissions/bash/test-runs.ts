/** Tells programs that are run for a verdict: tests, linters, type checkers. Pure. */

import { nameOf } from "../paths.ts";

const alone = new Set(
  (
    "pytest py.test nosetests nose2 tox nox ctest jest vitest mocha ava tap karma cypress playwright rspec minitest phpunit pest bats " +
    "tsc tsgo eslint oxlint flake8 pylint mypy pyright basedpyright shellcheck golangci-lint stylelint rubocop phpstan psalm knip"
  ).split(" "),
);
const modules = /^(?:pytest|unittest|doctest|nose2?|tox|nox|mypy|flake8|pylint|ruff|compileall|py_compile)$/;
const target = /(?:^|[:_./-])(?:tests?|tst|t|checks?|lint|specs?|verify|typecheck|e2e)(?:$|[:_./-])/;
/** Tools whose first word says what they do. */
const verbs: Readonly<Record<string, RegExp>> = {
  go: /^(?:test|vet)$/,
  cargo: /^(?:test|nextest|check|clippy|t|c)$/,
  deno: /^(?:test|check|lint)$/,
  dotnet: /^test$/,
  mix: /^(?:test|credo|dialyzer)$/,
  swift: /^test$/,
  zig: /^test$/,
  ruff: /^check$/,
  biome: /^(?:check|lint|ci)$/,
  flutter: /^(?:test|analyze)$/,
  dart: /^(?:test|analyze)$/,
};
/** Tools that run a target of the project, which its name must tell. */
const tasks =
  /^(?:npm|pnpm|yarn|bun|make|gmake|just|task|mise|rake|gradle|gradlew|mvn|mvnw|ninja|sbt|bazel|meson|lein|turbo|nx|hatch|invoke|inv|composer)$/;
const interpreters = /^(?:python[\d.]*|pypy\d?|node|tsx|ts-node|ruby|perl|php|bash|sh|deno|bun)$/;

/** Returns true when the program (a name without its folder) runs for its verdict with these arguments. */
export function runsTest(name: string, args: readonly string[]): boolean {
  if (alone.has(name)) return true;
  const operands = args.filter((arg) => !arg.startsWith("-"));
  const [first = "", second = ""] = operands;
  if (verbs[name]?.test(first)) return true;
  if (tasks.test(name) && operands.slice(0, 3).some((each) => target.test(each))) return true;
  if (name === "prettier" || name === "black") return args.some((arg) => /^(?:--check|-c|-l)$/.test(arg));
  if (interpreters.test(name)) {
    const module = args[args.indexOf("-m") + 1] ?? "";
    if (args.includes("-m")) return modules.test(module);
    if (args.includes("--test")) return true;
    if (args.some((arg) => /^-[ce]$/.test(arg))) return false;
    return scriptIsTest(first) || (/^(?:manage|setup)\.py$/.test(nameOf(first)) && second === "test");
  }
  return scriptIsTest(name);
}

/**
 * Returns true for the path of a script that is a test by its name: `a.test.js`, `runtests.py`, `tests/run.sh`. Not
 * `test_a.py`: run without its runner, that is a trial of one moment.
 */
export function scriptIsTest(path: string): boolean {
  return (
    /^(?:run[_-]?)?tests?(?:\.\w+)?$|[.-](?:tests?|spec)\.\w+$/i.test(nameOf(path)) ||
    /(?:^|\/)tests?\/[^/]+$/.test(path)
  );
}
