import { describe, expect, test } from "vitest";
import { drawCurve } from "../../../src/context/report/curve.ts";

describe("the curve", () => {
  test("shows sizes, the limit, edits under their steps and the number of steps", () => {
    const lines = drawCurve([10, 20, 40, 15], { width: 19, height: 2, limit: 40, marks: [3] });
    expect(lines).toEqual([
      "   40 ┤┈┈┈┈┈┈███┈┈┈",
      "   20 ┤▄▄▄██████▆▆▆",
      "    0 └────────────",
      "                ▲",
      "       1          4",
    ]);
  });

  test("never gets wider than it may", () => {
    const sizes = Array.from({ length: 1_000 }, (_, index) => 1 + (index % 90) * 1_000);
    const lines = drawCurve(sizes, { width: 80, marks: [0, 500, 999] });
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.join("\n").match(/▲/g)).toHaveLength(3);
  });

  test("of nothing is nothing", () => {
    expect(drawCurve([])).toEqual([]);
  });
});
