import assert from "node:assert/strict";
import { test } from "node:test";
import { readCart } from "../src/cart.js";
import { completeCheckout, startCheckout } from "../src/checkout.js";
import { smallShop } from "../fixtures/small-shop.js";

function buy(shop, cart) {
  const checkout = startCheckout(shop, readCart(cart));
  return completeCheckout(shop, checkout, checkout.prices.total);
}

test("orders are numbered in turn", () => {
  const { shop } = smallShop();
  const numbers = ["a", "b"].map((id) => buy(shop, { id, items: { TEA: 1 } }).number);
  assert.deepEqual(numbers, [1001, 1002]);
});

test("a line is paid back once, with its tax", () => {
  const { shop } = smallShop();
  const { number } = buy(shop, { id: "a", items: { TEA: 2, POT: 1 } });
  assert.equal(shop.orders.refund(number, ["POT"]), 5831);
  assert.throws(() => shop.orders.refund(number, ["POT"]), /paid back already/);
  assert.equal(shop.orders.balance(number), 1785);
});

test("an order that is paid back whole leaves nothing on the books", () => {
  const { shop } = smallShop();
  const items = { TEA: 2, POT: 2, CUPS: 1 };
  const { number, total } = buy(shop, { id: "a", items, coupon: "TENOFF" });
  assert.equal(shop.orders.refund(number, Object.keys(items)), total);
  assert.equal(shop.orders.balance(number), 0);
});
