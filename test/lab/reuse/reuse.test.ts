/** The reuse of observations: shares, chances, and how they are shown. */

import { expect, test } from "vitest";
import { aboveAge, reuseOf, type Sample } from "../../../src/lab/reuse/measure.ts";
import { reusePicture } from "../../../src/lab/reuse/picture.ts";
import { reuseCsv, reuseText } from "../../../src/lab/reuse/table.ts";

const samples: Sample[] = [
  {
    file: "a",
    agent: "pi",
    seen: [
      { kind: "read", tokens: 300, uses: [1, 5], left: 20 },
      { kind: "read", tokens: 100, uses: [1], left: 10 },
      { kind: "test", tokens: 50, uses: [], left: 2 },
    ],
  },
  { file: "b", agent: "codex", seen: [{ kind: "read", tokens: 0, uses: [], left: 0 }] },
];
const rows = reuseOf(samples, (file) => `<${file}>`);
const reads = rows.find(({ by, kind }) => by === "all" && kind === "read") as (typeof rows)[number];

test("the share that is used at an age above is counted by observation and weighted by tokens", () => {
  expect([0, 1, 4, 5].map((age) => aboveAge(reads, age))).toEqual([
    { age: 0, share: 2 / 3, tokenShare: 1 },
    { age: 1, share: 1 / 3, tokenShare: 300 / 400 },
    { age: 4, share: 1 / 3, tokenShare: 300 / 400 },
    { age: 5, share: 0, tokenShare: 0 },
  ]);
  expect(aboveAge(reads, 1_000)).toEqual({ age: 1_000, share: 0, tokenShare: 0 });
});

test("the chance of a step is out of the replies that came at such an age before the session ended", () => {
  const spans = reads.spans.map(({ from, to, steps, used, chance }) => ({ from, to, steps, used, chance }));
  expect(spans.slice(0, 4)).toEqual([
    { from: 1, to: 1, steps: 2, used: 2, chance: 1 },
    { from: 2, to: 3, steps: 4, used: 0, chance: 0 },
    { from: 4, to: 10, steps: 14, used: 1, chance: 1 / 14 },
    { from: 11, to: 30, steps: 10, used: 0, chance: 0 },
  ]);
});

test("groups are all recordings, each agent, and each recording, with the kinds that occur there", () => {
  expect(rows.map(({ by, group, kind }) => `${by} ${group} ${kind}`)).toEqual([
    ...[
      "all 2 recordings read",
      "all 2 recordings test",
      "agent pi read",
      "agent pi test",
      "agent codex read",
    ],
    ...["recording <a> read", "recording <a> test", "recording <b> read"],
  ]);
});

test("the table and the CSV hold the figures, and a name that a spreadsheet could run is text", () => {
  expect(reuseText(rows)).toMatch(/^ {2}read +3 +400 +67 \/ 100 % +33 \/ 75 % +0 \/ 0 % +0 \/ 0 %$/m);
  expect(reuseText(rows)).toMatch(/^ {2}read +100 % +0 % +7\.1 % +0 %$/m);
  expect(reuseCsv(reuseOf(samples, () => "=1+1"))).toContain("recording,'=1+1,read,2,400,1,0.5,0.75");
});

test("the picture needs no script, has a title and a description, and shows names as text", () => {
  const picture = reusePicture(rows);
  expect(picture).toContain('role="img" aria-labelledby="reuse-title reuse-desc"');
  expect(picture).toContain("read: 100 % of the tokens are used at all, 0 % at an age above 10.");
  expect(picture).toContain("&lt;a&gt;");
  expect(picture).not.toMatch(/<script|<a>|NaN|undefined/);
  expect(reusePicture([])).toBe("");
});
