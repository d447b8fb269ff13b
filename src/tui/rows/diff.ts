/** A unified diff as rows with line numbers. Pure. */

import { cut, type Row, safe } from "./rows.ts";

export type DiffSize = { added: number; removed: number };

/** Counts the lines that the diff adds and removes. */
export function diffSize(patch: string): DiffSize {
  const lines = bodyOf(patch);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}

function bodyOf(patch: string): string[] {
  const lines = patch.split("\n");
  const start = lines.findIndex((line) => line.startsWith("@@"));
  return start < 0 ? [] : lines.slice(start);
}

/** Returns at most `maxRows` rows; a last one counts the hidden ones. */
export function diffRows(patch: string, columns: number, maxRows: number): Row[] {
  const lines = bodyOf(patch).filter((line) => !line.startsWith("\\"));
  const digits = String(Math.max(0, ...lines.map(lastNumber))).length;
  const rows: Row[] = [];
  let [old, made] = [0, 0];
  for (const [index, line] of lines.entries()) {
    if (rows.length >= maxRows && lines.length - index > 1) {
      const rest = lines.slice(index).filter((each) => !each.startsWith("@@")).length;
      return [...rows, [{ text: `${" ".repeat(digits)} … ${rest} more lines of this diff`, tone: "dim" }]];
    }
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line);
    if (hunk) {
      if (rows.length > 0) rows.push([{ text: `${" ".repeat(digits)} ⋮`, tone: "dim" }]);
      [old, made] = [Number(hunk[1]), Number(hunk[2])];
      continue;
    }
    const sign = line[0] ?? " ";
    rows.push(lineRow(sign, sign === "-" ? old : made, safe(line.slice(1)), { digits, columns }));
    if (sign !== "+") old += 1;
    if (sign !== "-") made += 1;
  }
  return rows;
}

/** Returns an upper bound of the line numbers that a hunk shows. */
function lastNumber(line: string): number {
  const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))?/.exec(line);
  if (!hunk) return 0;
  const [, old = "0", oldCount = "1", made = "0", madeCount = "1"] = hunk;
  return Math.max(Number(old) + Number(oldCount), Number(made) + Number(madeCount));
}

function lineRow(sign: string, number: number, text: string, at: { digits: number; columns: number }): Row {
  const label = `${String(number).padStart(at.digits)} ${sign} `;
  const body = cut(text, at.columns - label.length);
  if (sign === "+") return [{ text: label + body, tone: "good" }];
  if (sign === "-") return [{ text: label + body, tone: "bad" }];
  return [{ text: label, tone: "dim" }, { text: body }];
}
