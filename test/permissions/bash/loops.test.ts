/** Loops written out against real bash: what bash runs of a loop is what the written-out line says. */

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: variables of the shell

import { expect, test } from "vitest";
import { parseTwice } from "../../../src/permissions/bash/cross-check.ts";
import { withoutLoops } from "../../../src/permissions/bash/loops.ts";
import { plain } from "../../../src/permissions/paths.ts";
import { seededRandom } from "../../support/random.ts";
import { parse } from "./parser.ts";
import { callsInBash } from "./real-bash.ts";

const words = 'a b c $f "$f" ${f} "x$f" \'$f\' "$f$g" $g \\$f "a b" -x f=1'.split(" ");
const lists = "a,b c,a b c,x-y ./z,1 2,$f,'q',{a,b},$(d),a=b,+,a;".split(",");
const signs = ["; ", "\n", " && ", " | ", " & ", " # c\n", ";", " "];

function randomLoops(count: number): string[] {
  const random = seededRandom(11);
  const from = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? "";
  const body = (): string =>
    Array.from({ length: 1 + Math.floor(random() * 4) }, () => from(words)).join(" ");
  const loop = (name: string, inner: string): string =>
    `for ${name} in ${from(lists)}${from(["; ", "\n", " ; "])}do ${inner}${from(["; ", "\n", " ", " ;\n"])}done`;
  return Array.from({ length: count }, () => {
    const inner = random() < 0.3 ? loop("g", body()) : `${body()}${from(signs)}${body()}`;
    return `${from(["", "a; ", "a && ", "f=z; ", "! "])}${loop("f", inner)}${from(["", " | c", "; c $f", " && c", " > x"])}`;
  });
}

test("what a loop that is read for certain runs in bash is in the line written out, and nothing else", {
  timeout: 300_000,
}, () => {
  const lines = randomLoops(1_500);
  const read = lines.map((line) => {
    const written = withoutLoops(line, parse);
    const sure =
      written === undefined ? undefined : parseTwice(written, { home: "/H", folders: ["/H/w"] }, parse);
    return sure && sure.problems.length === 0 && !sure.unreadable ? sure.commands : undefined;
  });
  const { calls } = callsInBash(lines, 0);
  const wrong = lines.filter((_, index) => {
    const commands = read[index];
    if (!commands) return false;
    const known = new Set(commands.map((command) => JSON.stringify(command.words.map(plain))));
    return !(calls[index] ?? []).every((call) => known.has(JSON.stringify(call)));
  });
  expect(wrong).toEqual([]);
  expect(read.filter(Boolean).length).toBeGreaterThan(50);
});

test.each([
  "for f in a b; do c $f\\\ng; done",
  'for f in a b; do c "x$f\\\ng"; done',
  "a `for f in \\`b\\`; do c $f; done`",
])(
  "a loop whose variable's name goes on behind a line break, or in a text of its own, is left alone: %j",
  (line) => {
    expect(withoutLoops(line, parse)).toBeUndefined();
  },
);
