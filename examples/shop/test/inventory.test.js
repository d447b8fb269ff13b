import assert from "node:assert/strict";
import { beforeEach, describe, test } from "node:test";
import { createInventory, OutOfStock } from "../src/inventory.js";

describe("inventory", () => {
  let now = 0;
  let inventory;
  beforeEach(() => {
    now = 0;
    inventory = createInventory([{ sku: "TEA", stock: 5 }, { sku: "POT", stock: 1 }], { clock: () => now });
  });

  test("what is held cannot be sold to others", () => {
    inventory.hold("a", [{ sku: "TEA", quantity: 4 }]);
    assert.equal(inventory.available("TEA"), 1);
    assert.throws(() => inventory.hold("b", [{ sku: "TEA", quantity: 2 }]), OutOfStock);
  });

  test("all items are held or none", () => {
    assert.throws(() => inventory.hold("a", [{ sku: "TEA", quantity: 1 }, { sku: "POT", quantity: 2 }]), OutOfStock);
    assert.equal(inventory.available("TEA"), 5);
  });

  test("a cart's later hold replaces its earlier one", () => {
    inventory.hold("a", [{ sku: "TEA", quantity: 4 }]);
    inventory.hold("a", [{ sku: "TEA", quantity: 5 }]);
    assert.equal(inventory.available("TEA"), 0);
  });

  test("a hold is void after fifteen minutes", () => {
    inventory.hold("a", [{ sku: "POT", quantity: 1 }]);
    now = 15 * 60_000 - 1;
    assert.equal(inventory.available("POT"), 0);
    now = 15 * 60_000;
    assert.equal(inventory.available("POT"), 1);
    assert.equal(inventory.commit("a"), false);
  });

  test("what was paid leaves the shelf", () => {
    inventory.hold("a", [{ sku: "TEA", quantity: 2 }]);
    assert.equal(inventory.commit("a"), true);
    assert.deepEqual(inventory.levels()[0], { sku: "TEA", onShelf: 3, held: 0, available: 3 });
  });
});
