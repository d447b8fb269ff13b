// Receipts and prices as text, in columns of a fixed width.

import { formatMoney } from "./money.js";
import { taxSummary } from "./tax.js";

/** The receipt of an order. */
export function renderReceipt(order, { width = 48 } = {}) {
  const rule = "-".repeat(width);
  const date = new Date(order.placedAt).toISOString().slice(0, 10);
  return [
    columns(`Order ${order.number}`, date, width),
    rule,
    renderPrices(order, { width }),
    "",
    "Thank you for your visit.",
  ].join("\n");
}

/** The lines of a priced cart and its sums. */
export function renderPrices({ lines, subtotal, discount, total, coupon }, { width = 48 } = {}) {
  const rule = "-".repeat(width);
  return [
    ...lines.flatMap((line) => renderLine(line, width)),
    rule,
    columns("Subtotal", formatMoney(subtotal), width),
    ...(discount > 0 ? [columns(`Discount ${coupon ?? ""}`.trim(), formatMoney(-discount), width)] : []),
    ...taxSummary(lines).map(({ rate, net, tax }) =>
      columns(`Tax ${rate} % of ${formatMoney(net)}`, formatMoney(tax), width),
    ),
    rule,
    columns("Total", formatMoney(total), width),
  ].join("\n");
}

function renderLine({ name, quantity, unitPrice, gross, discount }, width) {
  const first = columns(name, formatMoney(gross), width);
  const detail = [
    quantity > 1 ? `${quantity} x ${formatMoney(unitPrice)}` : "",
    discount > 0 ? `less ${formatMoney(discount)}` : "",
  ].filter(Boolean);
  return detail.length > 0 ? [first, `  ${detail.join(", ")}`] : [first];
}

function columns(left, right, width) {
  const room = width - right.length - 1;
  const text = left.length > room ? `${left.slice(0, room - 1)}…` : left;
  return `${text.padEnd(room)} ${right}`;
}
