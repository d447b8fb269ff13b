/** Exact statistics against published values. */

import { describe, expect, test } from "vitest";
import { differenceInterval, exactMcNemar } from "../../../src/lab/statistics/paired.ts";

describe("McNemar's exact test", () => {
  test.each([
    // M. P. Fay, exact2x2: Exact McNemar's Test (vignette of the R package), its first example.
    [9, 2, 0.06543],
    // Fagerland, Lydersen, Laake, BMC Medical Research Methodology 13:91 (2013): airway hyper-responsiveness, 1 and 7.
    [1, 7, 0.0703],
    // The same article: complete response, 2 and 8 of 10 that differ, by the table of the binomial.
    [2, 8, 0.109375],
    [6, 16, 0.0525],
    [0, 5, 0.0625],
    [0, 6, 0.03125],
    [0, 0, 1],
    [7, 7, 1],
  ])("of %i against %i is %d", (onlyA, onlyB, p) => {
    expect(exactMcNemar(onlyA, onlyB)).toBeCloseTo(p, 4);
    expect(exactMcNemar(onlyB, onlyA)).toBe(exactMcNemar(onlyA, onlyB));
  });

  test("stays exact for thousands of pairs", () => {
    expect(exactMcNemar(2_400, 2_600)).toBeCloseTo(0.0049, 4);
    // Smaller than any number.
    expect(exactMcNemar(0, 3_000)).toBe(0);
  });
});

describe("the interval of the difference", () => {
  test.each([
    // Tango, Statistics in Medicine 17:891 (1998), section 6.2: sleeping difficulties, 9 and 3 of 32 pairs.
    [3, 9, 32, -0.027, 0.39],
    // Fagerland, Lydersen, Laake, BMC Medical Research Methodology 13:91 (2013): 1 and 7 of 21 pairs.
    [7, 1, 21, -0.517, -0.026],
  ])("of %i and %i of %i pairs is %d to %d", (onlyA, onlyB, pairs, low, high) => {
    const found = differenceInterval({ onlyA, onlyB, pairs });
    expect(found.low).toBeCloseTo(low, 3);
    expect(found.high).toBeCloseTo(high, 3);
    const mirrored = differenceInterval({ onlyA: onlyB, onlyB: onlyA, pairs });
    expect(mirrored.low).toBeCloseTo(-high, 3);
  });

  test("is not empty where no pair differs: z² over pairs and z²", () => {
    const { low, high } = differenceInterval({ onlyA: 0, onlyB: 0, pairs: 20 });
    expect(high).toBeCloseTo(3.8415 / 23.8415, 4);
    expect(low).toBeCloseTo(-high, 9);
    expect(differenceInterval({ onlyA: 0, onlyB: 0, pairs: 0 })).toEqual({ low: -1, high: 1 });
    expect(differenceInterval({ onlyA: 0, onlyB: 4, pairs: 4 }).high).toBeCloseTo(1, 6);
  });
});
