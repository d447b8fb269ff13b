#!/usr/bin/env node
// The command line: shop stock | price <cart.json> | buy <cart.json>

import { readFileSync } from "node:fs";
import { readCart } from "./cart.js";
import { completeCheckout, startCheckout } from "./checkout.js";
import { priceCart } from "./pricing.js";
import { renderPrices, renderReceipt } from "./receipt.js";
import { openShop } from "./shop.js";
import { renderStockReport, stockReport } from "./stock-report.js";

const usage = "usage: shop stock | shop price <cart.json> | shop buy <cart.json>";
const [command, file] = process.argv.slice(2);

try {
  console.log(run(openShop(new URL("../data/", import.meta.url))));
} catch (error) {
  console.error(`shop: ${error.message}`);
  process.exitCode = 1;
}

function run(shop) {
  if (command === "stock") return renderStockReport(stockReport(shop));
  if (!file || !["price", "buy"].includes(command)) throw new Error(usage);
  const cart = readCart(JSON.parse(readFileSync(file, "utf8")));
  if (command === "price") return renderPrices({ ...priceCart(cart, shop), coupon: cart.coupon });
  const checkout = startCheckout(shop, cart);
  return renderReceipt(completeCheckout(shop, checkout, checkout.prices.total));
}
