/** Counts the tests that a check ran, by the output of common test runners. Pure. */

import { cleanText } from "../../core/text/clean-text.ts";

export type TestCount = { total: number; failed: number; skipped: number };

type Runner = (text: string) => TestCount | undefined;

/** Returns the numbers of the first runner that is recognised, summed over its runs; undefined when none is. */
export function countTests(output: string): TestCount | undefined {
  const text = cleanText(output.replaceAll("\r\n", "\n"));
  for (const runner of runners) {
    const found = runner(text);
    if (found) return found;
  }
  return undefined;
}

/** Sums the results of `take` over all matches. */
function summed(pattern: RegExp, take: (groups: Record<string, string | undefined>) => TestCount): Runner {
  return (text) => {
    const matches = [...text.matchAll(pattern)];
    if (matches.length === 0) return undefined;
    return matches
      .map((match) => take(match.groups ?? {}))
      .reduce((a, b) => ({
        total: a.total + b.total,
        failed: a.failed + b.failed,
        skipped: a.skipped + b.skipped,
      }));
  };
}

const number = (value: string | undefined): number => Number(value ?? 0);

/** Parses `2 failed, 3 passed | 1 skipped`: the number before each word. */
function words(list: string, total?: number): TestCount {
  const of = (name: RegExp): number =>
    [...list.matchAll(/(\d+) ([a-z]+)/g)]
      .filter((match) => name.test(match[2] ?? ""))
      .reduce((sum, match) => sum + Number(match[1]), 0);
  const failed = of(/^(failed|failing|failures?|errors?)$/);
  const skipped = of(/^(skipped|pending|todo|xfailed|ignored)$/);
  return { total: total ?? failed + skipped + of(/^(passed|passing|xpassed)$/), failed, skipped };
}

const nodeTest = summed(
  /^(?:ℹ|#) tests (?<total>\d+)\n(?:(?:ℹ|#) (?:suites|pass) \d+\n)*(?:ℹ|#) fail (?<failed>\d+)\n(?:ℹ|#) cancelled (?<cancelled>\d+)\n(?:ℹ|#) skipped (?<skipped>\d+)\n(?:ℹ|#) todo (?<todo>\d+)/gm,
  ({ total, failed, cancelled, skipped, todo }) => ({
    total: number(total),
    failed: number(failed) + number(cancelled),
    skipped: number(skipped) + number(todo),
  }),
);

const unittest = summed(
  /^Ran (?<total>\d+) tests? in [\s\S]*?^(?:OK|FAILED|NO TESTS RAN)(?: \((?<facts>[^)]*)\))?/gm,
  ({ total, facts = "" }) => {
    const fact = (name: string): number => number(new RegExp(`\\b${name}=(\\d+)`).exec(facts)?.[1]);
    return {
      total: number(total),
      failed: fact("failures") + fact("errors"),
      skipped: fact("skipped") + fact("expected failures"),
    };
  },
);

/** Counts lines of the Test Anything Protocol at the top level. */
const tap: Runner = (text) => {
  const lines = text.split("\n").filter((line) => /^(?:not )?ok\b/.test(line));
  if (!/^(?:TAP version|\d+\.\.\d+)/m.test(text)) return undefined;
  const skipped = lines.filter((line) => /#\s*(?:skip|todo)/i.test(line));
  const failed = lines.filter((line) => line.startsWith("not ok") && !skipped.includes(line));
  return { total: lines.length, failed: failed.length, skipped: skipped.length };
};

/** Counts Go tests, which are only named with -v. */
const go: Runner = (text) => {
  if (!/^=== RUN /m.test(text)) return undefined;
  const count = (name: string): number => [...text.matchAll(new RegExp(`^\\s*--- ${name}:`, "gm"))].length;
  const [passed, failed, skipped] = [count("PASS"), count("FAIL"), count("SKIP")];
  return { total: passed + failed + skipped, failed, skipped };
};

const runners: Runner[] = [
  nodeTest,
  unittest,
  // jest
  summed(/^Tests:\s+(?<list>.*?)(?<total>\d+) total$/gm, ({ list = "", total }) =>
    words(list, number(total)),
  ),
  // vitest
  summed(/^\s*Tests\s+(?<list>\d.*?)\((?<total>\d+)\)$/gm, ({ list = "", total }) =>
    words(list, number(total)),
  ),
  // pytest
  summed(
    /^(?:=+ )?(?<list>\d+ (?:passed|failed|skipped|xfailed|xpassed|errors?|deselected|warnings?)\b[^\n]*?) in [\d.]+s/gm,
    ({ list = "" }) => words(list),
  ),
  // cargo
  summed(
    /^test result: \w+\. (?<passed>\d+) passed; (?<failed>\d+) failed; (?<skipped>\d+) ignored/gm,
    ({ passed, failed, skipped }) => ({
      total: number(passed) + number(failed) + number(skipped),
      failed: number(failed),
      skipped: number(skipped),
    }),
  ),
  go,
  // rspec
  summed(
    /^(?<total>\d+) examples?, (?<failed>\d+) failures?(?:, (?<skipped>\d+) pending)?/gm,
    ({ total, failed, skipped }) => ({
      total: number(total),
      failed: number(failed),
      skipped: number(skipped),
    }),
  ),
  // Maven, Gradle with JUnit
  summed(
    /Tests run: (?<total>\d+), Failures: (?<failed>\d+), Errors: (?<errors>\d+), Skipped: (?<skipped>\d+)/g,
    ({ total, failed, errors, skipped }) => ({
      total: number(total),
      failed: number(failed) + number(errors),
      skipped: number(skipped),
    }),
  ),
  // PHPUnit
  summed(/^OK \((?<total>\d+) tests?/gm, ({ total }) => ({ total: number(total), failed: 0, skipped: 0 })),
  summed(
    /^Tests: (?<total>\d+), Assertions: \d+(?:, Errors: (?<errors>\d+))?(?:, Failures: (?<failed>\d+))?(?:, .*?Skipped: (?<skipped>\d+))?/gm,
    ({ total, errors, failed, skipped }) => ({
      total: number(total),
      failed: number(errors) + number(failed),
      skipped: number(skipped),
    }),
  ),
  // mocha prints passing, failing and pending on lines of their own
  (text) => {
    const lines = text.match(/^\s*\d+ (?:passing|failing|pending)\b/gm);
    return lines ? words(lines.join(" ")) : undefined;
  },
  tap,
  // anything that says "3 passed, 1 failed"
  summed(/^.*?(?<list>\d+ (?:passed|failed)\b,.*)$/gm, ({ list = "" }) => words(list)),
];
