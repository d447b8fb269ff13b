import assert from "node:assert/strict";
import { test } from "node:test";
import { addItem, emptyCart, isEmpty, itemsOf, readCart, setQuantity, withCoupon } from "../src/cart.js";

test("adding a product twice adds its quantities", () => {
  const cart = addItem(addItem(emptyCart("c1"), "TEA"), "TEA", 2);
  assert.deepEqual(itemsOf(cart), [{ sku: "TEA", quantity: 3 }]);
});

test("a change leaves the earlier cart as it was", () => {
  const before = addItem(emptyCart("c1"), "TEA");
  assert.ok(isEmpty(setQuantity(before, "TEA", 0)));
  assert.ok(!isEmpty(before));
});

test("a quantity is a whole number and not below zero", () => {
  assert.throws(() => addItem(emptyCart("c1"), "TEA", 0.5), RangeError);
  assert.throws(() => addItem(emptyCart("c1"), "TEA", -1), RangeError);
});

test("a stored cart is read with its coupon", () => {
  const cart = readCart({ id: "c1", items: { TEA: 1, CAKE: 2 }, coupon: " tenoff " });
  assert.deepEqual(cart, withCoupon(setQuantity(addItem(emptyCart("c1"), "TEA"), "CAKE", 2), "TENOFF"));
});
