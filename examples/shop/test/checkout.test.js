import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyCart, readCart } from "../src/cart.js";
import { cancelCheckout, completeCheckout, startCheckout } from "../src/checkout.js";
import { OutOfStock } from "../src/inventory.js";
import { smallShop } from "../fixtures/small-shop.js";

const towels = (id, quantity) => readCart({ id, items: { TOWEL: quantity } });

test("a paid checkout becomes an order", () => {
  const { shop } = smallShop();
  const checkout = startCheckout(shop, towels("anna", 2));
  const order = completeCheckout(shop, checkout, checkout.prices.total);
  assert.deepEqual([order.number, order.cartId, order.total], [1001, "anna", 2378]);
  assert.equal(shop.inventory.available("TOWEL"), 1);
});

test("an empty cart cannot be checked out", () => {
  const { shop } = smallShop();
  assert.throws(() => startCheckout(shop, emptyCart("anna")), /empty/);
});

test("a wrong amount is refused and can be corrected", () => {
  const { shop } = smallShop();
  const checkout = startCheckout(shop, towels("anna", 1));
  assert.throws(() => completeCheckout(shop, checkout, 1), /0\.01 were paid, 11\.89 are due/);
  assert.equal(completeCheckout(shop, checkout, 1189).total, 1189);
});

test("a cancelled checkout gives its stock back at once", () => {
  const { shop } = smallShop();
  const checkout = startCheckout(shop, towels("anna", 3));
  assert.throws(() => startCheckout(shop, towels("ben", 1)), OutOfStock);
  cancelCheckout(shop, checkout);
  assert.ok(startCheckout(shop, towels("ben", 1)));
});

test("a checkout that is paid too late is refused", () => {
  const { shop, wait } = smallShop();
  const checkout = startCheckout(shop, towels("anna", 1));
  wait(16);
  assert.throws(() => completeCheckout(shop, checkout, checkout.prices.total), /too long ago/);
});

test("the stock of abandoned checkouts can be sold again", () => {
  const { shop, wait } = smallShop();
  startCheckout(shop, towels("anna", 1));
  startCheckout(shop, towels("ben", 2));
  wait(20);
  const checkout = startCheckout(shop, towels("cleo", 3));
  assert.equal(completeCheckout(shop, checkout, checkout.prices.total).lines[0].quantity, 3);
});
