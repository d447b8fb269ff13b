import assert from "node:assert/strict";
import { test } from "node:test";
import { CouponRefused, createCoupons, discountOf } from "../src/coupons.js";

const coupons = createCoupons([
  { code: "TENTH", kind: "percent", percent: 10 },
  { code: "FIVE", kind: "amount", amount: "5.00", minimum: "8.00" },
  { code: "THIRD", kind: "nth_free", sku: "CUPS", nth: 3 },
]);
const cups = (quantity) => ({ sku: "CUPS", quantity, unitPrice: 300, gross: 300 * quantity });

test("a percentage is taken off the whole cart", () => {
  assert.equal(discountOf(coupons.find("TENTH"), [cups(2), cups(3)]), 150);
});

test("an amount needs a cart that is large enough", () => {
  assert.equal(discountOf(coupons.find("FIVE"), [cups(3)]), 500);
  assert.throws(() => discountOf(coupons.find("FIVE"), [cups(2)]), CouponRefused);
});

test("every third set is free", () => {
  assert.deepEqual([2, 3, 7].map((count) => discountOf(coupons.find("THIRD"), [cups(count)])), [0, 300, 600]);
});

test("an unknown code is refused", () => {
  assert.throws(() => coupons.find("NOPE"), /NOPE does not apply: it is not known/);
});
