import assert from "node:assert/strict";
import { test } from "node:test";
import { emptyCart, readCart } from "../src/cart.js";
import { priceCart } from "../src/pricing.js";
import { smallShop } from "../fixtures/small-shop.js";

const { shop } = smallShop();

test("an empty cart costs nothing", () => {
  assert.equal(priceCart(emptyCart("c1"), shop).total, 0);
});

test("each line bears the tax of its category", () => {
  const { lines, tax, total } = priceCart(readCart({ id: "c1", items: { TEA: 2, POT: 1 } }), shop);
  assert.deepEqual(lines.map((line) => [line.sku, line.gross, line.tax]), [["POT", 4900, 931], ["TEA", 1700, 85]]);
  assert.deepEqual([tax, total], [1016, 7616]);
});

test("tax is due on what is left after the discount", () => {
  const cart = readCart({ id: "c1", items: { POT: 1 }, coupon: "WELCOME10" });
  assert.deepEqual(priceCart(cart, shop).lines.map(({ discount, net, tax }) => [discount, net, tax]), [[490, 4410, 838]]);
});

test("a discount never makes a line cost less than nothing", () => {
  const { lines } = priceCart(readCart({ id: "c1", items: { CUPS: 3 }, coupon: "CUPS3FOR2" }), shop);
  assert.deepEqual(lines.map((line) => line.net), [4990]);
});
