import assert from "node:assert/strict";
import { test } from "node:test";
import { readCart } from "../src/cart.js";
import { startCheckout } from "../src/checkout.js";
import { renderStockReport, stockReport } from "../src/stock-report.js";
import { smallShop } from "../fixtures/small-shop.js";

test("the report counts what is held and says what is low", () => {
  const { shop } = smallShop();
  startCheckout(shop, readCart({ id: "a", items: { POT: 2 } }));
  const { rows, low } = stockReport(shop);
  assert.deepEqual(rows.find((row) => row.sku === "POT"), {
    sku: "POT", name: "Iron teapot", onShelf: 6, held: 2, available: 4,
  });
  assert.deepEqual(low, ["POT", "TOWEL"]);
});

test("the report leaves out holds that ran out", () => {
  const { shop, wait } = smallShop();
  for (const id of ["a", "b", "c", "d"]) startCheckout(shop, readCart({ id, items: { TEA: 5 } }));
  wait(10);
  startCheckout(shop, readCart({ id: "e", items: { TEA: 1 } }));
  wait(6);
  assert.deepEqual(stockReport(shop).rows.map((row) => [row.sku, row.held]).slice(0, 2), [["TEA", 1], ["CAKE", 0]]);
});

test("the report is a table", () => {
  const { shop } = smallShop();
  const [head, first] = renderStockReport(stockReport(shop)).split("\n");
  assert.deepEqual([head.length, first.length], [52, 52]);
});
