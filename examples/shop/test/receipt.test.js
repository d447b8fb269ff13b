import assert from "node:assert/strict";
import { test } from "node:test";
import { readCart } from "../src/cart.js";
import { completeCheckout, startCheckout } from "../src/checkout.js";
import { parseMoney, sum } from "../src/money.js";
import { renderReceipt } from "../src/receipt.js";
import { smallShop } from "../fixtures/small-shop.js";

function receiptOf(cart) {
  const { shop } = smallShop();
  const checkout = startCheckout(shop, readCart(cart));
  return renderReceipt(completeCheckout(shop, checkout, checkout.prices.total), { width: 32 });
}

test("a receipt shows lines, taxes and the total", () => {
  assert.equal(
    receiptOf({ id: "a", items: { TEA: 2, POT: 1 } }),
    [
      "Order 1001            2026-03-02",
      "--------------------------------",
      "Iron teapot                49.00",
      "Tea, 100 g                 17.00",
      "  2 x 8.50",
      "--------------------------------",
      "Subtotal                   66.00",
      "Tax 5 % of 17.00            0.85",
      "Tax 19 % of 49.00           9.31",
      "--------------------------------",
      "Total                      76.16",
      "",
      "Thank you for your visit.",
    ].join("\n"),
  );
});

test("names that are too long are cut", () => {
  assert.match(receiptOf({ id: "a", items: { BOOK: 1 } }), /^The Book of Tea, with pic… 14\.20$/m);
});

test("the discounts of the lines add up to the discount of the receipt", () => {
  const receipt = receiptOf({ id: "a", items: { TEA: 2, CAKE: 1, POT: 1, BOOK: 1 }, coupon: "TENOFF" });
  const perLine = [...receipt.matchAll(/less ([\d.]+)/g)].map(([, amount]) => parseMoney(amount));
  assert.equal(sum(perLine), 1000, receipt);
});
