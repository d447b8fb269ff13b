/** `sawtooth batch compare a b`: which of two batches of the same tasks solved more, at what cost, and how sure that is. */

import { formatPercent, money, plural } from "../../context/report/amounts.ts";
import { UsageError } from "../../core/errors.ts";
import { cleanLine } from "../../core/text/clean-text.ts";
import { cut } from "../../report/text/columns.ts";
import type { FlagsOf } from "../arguments/options.ts";
import { writeError, writeOut } from "../terminal-output.ts";
import { type Comparison, compare, type Score } from "./comparison.ts";
import { readSide } from "./sides.ts";

/** Prints the comparison. Exit code 0 whatever it shows. Throws `UsageError`. */
export function runCompare(names: readonly string[], { outputFormat }: FlagsOf<"batch">): number {
  const [first, second] = names;
  if (first === undefined || second === undefined || names.length > 2)
    throw new UsageError("batch compare takes two batches: sawtooth batch compare results-a results-b");
  const [a, b] = [readSide(first), readSide(second)];
  for (const warning of [...a.warnings, ...b.warnings]) writeError(`sawtooth: ${cleanLine(warning)}\n`);
  const found = compare(a, b);
  writeOut(outputFormat === "json" ? `${JSON.stringify(comparisonObject(found))}\n` : comparisonText(found));
  return 0;
}

/** The comparison as an object for programs, with the names that results have. */
export function comparisonObject(found: Comparison) {
  const score = ({ name, solved, cost, turns }: Score) => ({
    ...{ name, solved, num_turns: turns, total_cost_usd: cost },
    cost_per_solved_usd: solved === 0 ? null : cost / solved,
  });
  return {
    type: "batch_comparison",
    a: score(found.a),
    b: score(found.b),
    options: found.differing,
    tasks: found.tasks,
    pairs: found.pairs,
    without_verdict: found.withoutVerdict,
    both: found.both,
    neither: found.neither,
    only_a: found.onlyA,
    only_b: found.onlyB,
    difference: found.difference,
    difference_low: found.interval.low,
    difference_high: found.interval.high,
    mcnemar_p: found.p,
    tasks_more_often_a: found.oftenerA,
    tasks_more_often_b: found.oftenerB,
    sign_test_p: found.taskP,
  };
}

const nameWidth = 22;
const cellWidth = 20;

/** The comparison as a table of at most 80 columns and the sentences that follow from it. */
export function comparisonText(found: Comparison): string {
  const { a, b, pairs, tasks, repetitions, withoutVerdict } = found;
  const line = (name: string, ...cells: string[]) =>
    `${name.padEnd(nameWidth)}${cells.map((cell) => cell.padStart(cellWidth)).join("")}`;
  const both = (name: string, cell: (score: Score) => string) => line(name, cell(a), cell(b));
  const [least, most] = repetitions;
  const times = least === most ? String(most) : `${least} to ${most}`;
  const size = `${plural(tasks, "task")}, ${times} ${most === 1 ? "time" : "times"} each: ${plural(pairs, "pair")}`;
  const lines = [
    ...[line("", "a", "b"), both("", ({ name }) => cut(cleanLine(name), cellWidth - 2))],
    ...Object.entries(found.differing).map(([key, [ofA, ofB]]) =>
      line(key, optionText(ofA), optionText(ofB)),
    ),
    both("solved", ({ solved }) => `${solved} (${formatPercent(solved / pairs, 0)})`),
    line("solved here alone", String(found.onlyA), String(found.onlyB)),
    both("cost", ({ cost }) => money(cost)),
    both("cost per solved task", ({ cost, solved }) => (solved === 0 ? "-" : money(cost / solved))),
    both("calls", ({ turns }) => String(turns)),
    "",
    `${size}; both solved ${found.both}, neither ${found.neither}`,
    ...(withoutVerdict > 0
      ? [`Left out: ${plural(withoutVerdict, "pair")} that the API or the machine ended, or that was stopped`]
      : []),
    ...verdictLines(found),
  ];
  return lines.map((each) => `${each.trimEnd()}\n`).join("");
}

function verdictLines({ difference, interval, onlyA, onlyB, p, taskP, ...found }: Comparison): string[] {
  const [now, low, high] = [difference, interval.low, interval.high].map(points);
  const again =
    found.repetitions[1] > 1
      ? [
          `By task: ${found.oftenerA} solved more often in a, ${found.oftenerB} in b; sign test p = ${pText(taskP)}`,
          "Repetitions of a task are alike: where the two tests differ, believe the one by task.",
        ]
      : [];
  return [
    `b minus a: ${now} points of success, 95 % between ${low} and ${high}`,
    `McNemar's exact test over ${plural(onlyA + onlyB, "pair")} that ${onlyA + onlyB === 1 ? "differs" : "differ"}: p = ${pText(p)}`,
    ...again,
    "A large p does not show that both are as good: the interval says how much worse b could be.",
  ];
}

function points(share: number): string {
  const value = (100 * share).toFixed(1);
  return Number(value) === 0 ? "0.0" : share > 0 ? `+${value}` : value;
}

function pText(p: number): string {
  return p < 0.0001 ? p.toExponential(1) : p.toFixed(4);
}

function optionText(value: unknown): string {
  const text = value === undefined ? "-" : typeof value === "string" ? value : JSON.stringify(value);
  const line = cleanLine(text);
  // Paths differ at their ends.
  return line.length > cellWidth - 2 ? `…${line.slice(3 - cellWidth)}` : line;
}
