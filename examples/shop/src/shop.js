// Puts the parts of a shop together.

import { readFileSync } from "node:fs";
import { createCatalog } from "./catalog.js";
import { createCoupons } from "./coupons.js";
import { createInventory } from "./inventory.js";
import { createOrders } from "./orders.js";

/** A shop of the given rows. `clock` gives milliseconds. */
export function createShop({ products, coupons = [], clock = Date.now, holdMinutes }) {
  const catalog = createCatalog(products);
  return {
    clock,
    catalog,
    coupons: createCoupons(coupons),
    inventory: createInventory(catalog.list(), { clock, holdMinutes }),
    orders: createOrders(),
  };
}

/** The shop of a data folder (a URL that ends in a slash). */
export function openShop(folder, options = {}) {
  const read = (name) => JSON.parse(readFileSync(new URL(name, folder), "utf8"));
  return createShop({ products: read("catalog.json"), coupons: read("coupons.json"), ...options });
}
