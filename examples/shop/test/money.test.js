import assert from "node:assert/strict";
import { test } from "node:test";
import { allocate, formatMoney, parseMoney, percentOf, sum } from "../src/money.js";

test("money is read from text", () => {
  assert.deepEqual(["12.34", "3", "-0.50"].map(parseMoney), [1234, 300, -50]);
});

test("what is no amount of money is refused", () => {
  for (const text of ["", "1.5", "1,50", "ten", "1.234"]) assert.throws(() => parseMoney(text), TypeError);
});

test("money is written with two digits and thousands", () => {
  assert.deepEqual([5, 123450, -1999, 100000000].map(formatMoney), ["0.05", "1,234.50", "-19.99", "1,000,000.00"]);
});

test("half a cent is rounded away from zero", () => {
  assert.deepEqual([percentOf(50, 5), percentOf(-50, 5), percentOf(249, 10)], [3, -3, 25]);
});

test("an amount is split in proportion", () => {
  assert.deepEqual(allocate(100, [3, 1]), [75, 25]);
  assert.deepEqual(allocate(900, [1, 1, 1]), [300, 300, 300]);
});

test("nothing is split over lines that cost nothing", () => {
  assert.equal(sum(allocate(500, [0, 0])), 0);
});
