/** Detects cheating in a repair: forbidden changes to tests and checks on the way to a green run. Pure. */

import type { TreeChange } from "../../git/frozen-tree.ts";
import { globExpression, nameOf } from "../../permissions/paths.ts";
import type { TestCount } from "../checks/counts.ts";
import type { Definition } from "./definition.ts";

export type Rule =
  | "deleted-test"
  | "skipped-test"
  | "fewer-assertions"
  | "changed-test"
  | "changed-check"
  | "changed-runner"
  | "silenced-check"
  | "outside-allowed"
  | "fewer-tests"
  | "nothing-changed";

export type Violation = {
  rule: Rule;
  /** Relative to the top of the project; undefined when no single file is to blame. */
  path?: string;
  /** A sentence for the model and for people. */
  message: string;
};

const testFile =
  /(?:^|\/)(?:tests?|__tests__|specs?|e2e|testdata|fixtures)\/|(?:[._-](?:test|spec)|(?:Test|Tests|Spec|IT))\.\w+$|(?:^|\/)(?:test_[^/]*\.py|conftest\.py|[^/]+_test\.\w+|[^/]+\.bats|[^/]+\.t)$/;
const runnerFile =
  /(?:^|\/)(?:(?:jest|vitest|vite|playwright|cypress|karma|ava|wdio|nightwatch|stryker)\.(?:config|conf)\.\w+|\.mocharc(?:\.\w+)?|pytest\.ini|tox\.ini|setup\.cfg|noxfile\.py|\.coveragerc|phpunit\.xml(?:\.dist)?|\.rspec|bunfig\.toml|\.npmrc|\.yarnrc(?:\.yml)?|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|\.eslintignore|biome\.jsonc?|tsconfig[^/]*\.json|mypy\.ini|\.flake8|ruff\.toml|\.pylintrc|\.shellcheckrc|clippy\.toml|\.gitlab-ci\.yml)$|(?:^|\/)\.(?:github|circleci)\//;
/** Files that hold more than settings: only the parts that configure a test runner or a linter. */
const runnerParts: Record<string, (text: string) => string> = {
  "package.json": (text) =>
    jsonParts(text, ["jest", "mocha", "ava", "vitest", "c8", "nyc", "tap", "eslintConfig"]),
  "pyproject.toml": (text) =>
    tomlSections(text, /^tool\.(?:pytest|coverage|tox|mypy|ruff|flake8|pylint|pyright)\b/),
  "Cargo.toml": (text) => tomlSections(text, /^(?:\[?test\b|\[?bench\b|lints\b)/),
};

const skips =
  /\b(?:test|it|describe|suite|context)\s*\.\s*(?:skip|todo|only|skipIf|runIf|fails|failing)\b|\b[xf](?:it|describe|test|context|specify)\s*\(|\b(?:skip|todo|only)\s*:\s*(?:true|['"`])|\b(?:t|this|ctx|context)\.(?:skip|todo)\s*\(|@(?:pytest\.mark\.|unittest\.)?(?:skip|skipif|skipIf|skipUnless|xfail|expectedFailure)\b|\bpytest\.(?:skip|xfail|importorskip)\s*\(|\bskipTest\s*\(|\bSkipTest\b|\bcollect_ignore|\bpytest_ignore_collect\b|\b__test__\s*=\s*False|\bt\.Skip(?:Now|f)?\s*\(|#\[ignore|@(?:Disabled|Ignore)\b|\[Ignore\b|\bSkip\s*=|^\s*(?:skip|pending)\b|\bmarkTest(?:Skipped|Incomplete)\b/gm;
const silencers =
  /eslint-disable|biome-ignore|@ts-(?:ignore|nocheck|expect-error)|#\s*type:\s*ignore|#\s*noqa|#\s*nosec|pylint:\s*disable|ruff:\s*noqa|shellcheck\s+disable|#\[allow\(|\/\/\s*nolint|@SuppressWarnings|rubocop:disable|(?:istanbul|c8|v8) ignore/g;
const assertions =
  /\bassert\w*\b|\bexpect\s*\(|\.should\b|\brequire\.\w+\(|\b(?:t|is)\.(?:is|ok|not|equal|same|deepEqual|throws|Error|Fatal|Errorf|Fatalf)\w*\s*\(|#\[test\]|@Test\b|@test\b|\b(?:test|it)\s*\(|\bdef test_|\bfunc Test/g;

/** Returns true for a path of tests, by its folder or its name. */
function isTest(path: string): boolean {
  return testFile.test(path);
}

export type Guarded = {
  changes: readonly TreeChange[];
  /** The definitions of the checks, before and after, by name. */
  definitions: { before: ReadonlyMap<string, Definition>; after: ReadonlyMap<string, Definition> };
  /** Absolute top of the project. */
  root: string;
  allowPaths: readonly string[];
};

/** Returns the violations of a repair. A path that `allowPaths` names may lose lines of a test, but not the test. */
export function violationsOf(guarded: Guarded): Violation[] {
  const named = guarded.allowPaths.map((glob) => globExpression(trimmed(glob)));
  const allowed = (path: string): boolean =>
    named.some((glob) => glob.test(path)) ||
    guarded.allowPaths.some((glob) => path.startsWith(`${trimmed(glob)}/`));
  const outside = named.length === 0 ? [] : guarded.changes.filter(({ path }) => !allowed(path));
  return [
    ...changedDefinitions(guarded),
    ...outside.map(({ path }) => violation("outside-allowed", path, "is outside --allow-paths")),
    ...guarded.changes.flatMap((change) => changeViolations(change, allowed(change.path))),
  ];
}

function trimmed(glob: string): string {
  return glob.replace(/^\.\//, "").replace(/\/+$/, "");
}

function violation(rule: Rule, path: string, what: string): Violation {
  return { rule, path, message: `${path} ${what}` };
}

function changedDefinitions({ definitions: { before, after }, root }: Guarded): Violation[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  const changed = [...names].filter((name) => before.get(name)?.text !== after.get(name)?.text);
  const paths = changed.map((name) => (after.get(name) ?? before.get(name))?.path ?? "");
  return [...new Set(paths)].map((path) => {
    const file = path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;
    return violation("changed-check", file, "was changed, and the check runs it");
  });
}

function changeViolations(change: TreeChange, allowed: boolean): Violation[] {
  const { path, status, before = "", after = "" } = change;
  const found: Violation[] = [];
  const add = (rule: Rule, what: string) => found.push(violation(rule, path, what));
  const more = (pattern: RegExp): string | undefined => {
    const found = (text: string): string[] => text.match(pattern) ?? [];
    const [old, now] = [found(before), found(after)];
    return now.length > old.length ? (now.find((check) => !old.includes(check)) ?? now[0]) : undefined;
  };
  const silencer = more(silencers);
  if (silencer) add("silenced-check", `suppresses a diagnostic (${silencer.trim()})`);
  if (!allowed && changesRunner(change)) add("changed-runner", "changes how tests or checks are run");
  if (!isTest(path) && !path.endsWith(".rs")) return found;
  const skip = more(skips);
  if (skip) add("skipped-test", `skips tests (${skip.trim()})`);
  if (!isTest(path) || status === "A") return found;
  if (status === "D") add("deleted-test", "is a test and was deleted");
  else if (fewer(assertions, before, after)) add("fewer-assertions", "has fewer assertions than before");
  else if (!allowed && lostLine(before, after) !== undefined)
    add("changed-test", `changes what was tested (a line was removed: ${lostLine(before, after)})`);
  else if (!allowed && (change.before === undefined) !== (change.after === undefined))
    add("changed-test", "changes test data");
  return found;
}

function fewer(pattern: RegExp, before: string, after: string): boolean {
  return (after.match(pattern) ?? []).length < (before.match(pattern) ?? []).length;
}

/** Returns a line that was removed; comments, imports and blank lines do not count. */
function lostLine(before: string, after: string): string | undefined {
  const left = new Map<string, number>();
  for (const line of lines(after)) left.set(line, (left.get(line) ?? 0) + 1);
  return lines(before).find((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0 && !/^(?:\/\/|#(?!\[)|\*|\/\*|import\b|from\b|const .* = require\()/.test(line);
  });
}

function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function changesRunner({ path, before = "", after = "" }: TreeChange): boolean {
  const part = runnerParts[nameOf(path)];
  return part ? part(before) !== part(after) : runnerFile.test(path);
}

function jsonParts(text: string, names: readonly string[]): string {
  try {
    const value = JSON.parse(text || "{}") as Record<string, unknown>;
    return JSON.stringify(names.map((name) => value[name] ?? null));
  } catch {
    // A file that was broken before may be repaired.
    return JSON.stringify(names.map(() => null));
  }
}

function tomlSections(text: string, wanted: RegExp): string {
  const sections = text.split(/^(?=\[)/m);
  return sections
    .filter((section) => wanted.test(section.replace(/^\[+/, "")))
    .join("")
    .trim();
}

/** Reports fewer tests than before, or more skipped ones, in the run of a check that is green now. */
export function countViolation(
  command: string,
  before: TestCount | undefined,
  after: TestCount | undefined,
): Violation | undefined {
  if (!before) return undefined;
  const fewerTests = (what: string): Violation => ({ rule: "fewer-tests", message: `${command}: ${what}` });
  if (!after) return fewerTests(`${before.total} tests ran before, now none are reported`);
  if (after.total < before.total) return fewerTests(`${before.total} tests ran before, now ${after.total}`);
  if (after.skipped > before.skipped)
    return fewerTests(`${before.skipped} tests were skipped before, now ${after.skipped}`);
  return undefined;
}
