// The products of the shop. Read once, never changed.

import { parseMoney } from "./money.js";

export class UnknownProduct extends Error {
  constructor(sku) {
    super(`no product has the number ${sku}`);
    this.name = "UnknownProduct";
    this.sku = sku;
  }
}

/** Makes a catalog of the rows of data/catalog.json. Throws when a row is wrong or a number is given twice. */
export function createCatalog(rows) {
  const products = new Map();
  for (const row of rows) {
    if (products.has(row.sku)) throw new Error(`the product ${row.sku} is listed twice`);
    products.set(row.sku, readProduct(row));
  }

  return {
    find(sku) {
      const product = products.get(sku);
      if (!product) throw new UnknownProduct(sku);
      return product;
    },
    list: () => [...products.values()],
    inCategory: (category) => [...products.values()].filter((product) => product.category === category),
  };
}

function readProduct({ sku, name, price, category, stock }) {
  if (!sku || !name || !category) throw new Error(`a product lacks its number, name or category: ${sku ?? name}`);
  if (!Number.isInteger(stock) || stock < 0) throw new Error(`the stock of ${sku} is ${stock}`);
  return Object.freeze({ sku, name, price: parseMoney(price), category, stock });
}
