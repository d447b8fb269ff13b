import assert from "node:assert/strict";
import { test } from "node:test";
import { createCatalog, UnknownProduct } from "../src/catalog.js";
import { openShop } from "../src/shop.js";

const tea = { sku: "TEA", name: "Tea", price: "8.50", category: "food", stock: 4 };

test("a product is found by its number, with its price in cents", () => {
  assert.deepEqual(createCatalog([tea]).find("TEA"), { ...tea, price: 850 });
});

test("an unknown number is refused", () => {
  assert.throws(() => createCatalog([tea]).find("COFFEE"), UnknownProduct);
});

test("rows that are wrong are refused", () => {
  assert.throws(() => createCatalog([tea, tea]), /listed twice/);
  assert.throws(() => createCatalog([{ ...tea, stock: -1 }]), /stock of TEA/);
  assert.throws(() => createCatalog([{ ...tea, name: "" }]), /lacks/);
});

test("the shop's own data can be read", () => {
  const { catalog } = openShop(new URL("../data/", import.meta.url));
  assert.equal(catalog.inCategory("food").length, 3);
});
