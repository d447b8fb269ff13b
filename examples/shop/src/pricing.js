// What a cart costs, line by line.

import { isEmpty, itemsOf } from "./cart.js";
import { discountOf } from "./coupons.js";
import { allocate, sum } from "./money.js";
import { taxOn, taxRate } from "./tax.js";

/**
 * The prices of a cart: `{ lines, subtotal, discount, tax, total }`, all in cents. The discount is spread over
 * the lines in proportion to their price, because tax is due on what is left of each.
 */
export function priceCart(cart, { catalog, coupons }) {
  if (isEmpty(cart)) return { lines: [], subtotal: 0, discount: 0, tax: 0, total: 0 };
  const gross = itemsOf(cart).map((item) => grossLine(item, catalog));
  const discount = cart.coupon ? discountOf(coupons.find(cart.coupon), gross) : 0;
  const shares = allocate(
    discount,
    gross.map((line) => line.gross),
  );
  const lines = gross.map((line, index) => withTax(line, shares[index]));

  const subtotal = sum(lines.map((line) => line.gross));
  const tax = sum(lines.map((line) => line.tax));
  return { lines, subtotal, discount, tax, total: subtotal - discount + tax };
}

function grossLine({ sku, quantity }, catalog) {
  const { name, price, category } = catalog.find(sku);
  return { sku, name, quantity, unitPrice: price, gross: price * quantity, taxRate: taxRate(category) };
}

function withTax(line, discount) {
  const net = line.gross - discount;
  const tax = taxOn(net, line.taxRate);
  return { ...line, discount, net, tax, total: net + tax };
}
