// Coupons: how much of a cart's price a code takes off.

import { parseMoney, percentOf, sum } from "./money.js";

export class CouponRefused extends Error {
  constructor(code, reason) {
    super(`the coupon ${code} does not apply: ${reason}`);
    this.name = "CouponRefused";
    this.code = code;
  }
}

/** Makes the coupon book of the rows of data/coupons.json. */
export function createCoupons(rows) {
  const coupons = new Map(rows.map((row) => [row.code, readCoupon(row)]));
  return {
    find(code) {
      const coupon = coupons.get(code);
      if (!coupon) throw new CouponRefused(code, "it is not known");
      return coupon;
    },
  };
}

/** Cents that the coupon takes off the lines, never more than they cost. Throws `CouponRefused`. */
export function discountOf(coupon, lines) {
  const subtotal = sum(lines.map((line) => line.gross));
  if (subtotal < coupon.minimum) throw new CouponRefused(coupon.code, "the cart is too small");
  return Math.min(subtotal, takenOff(coupon, lines, subtotal));
}

function takenOff(coupon, lines, subtotal) {
  switch (coupon.kind) {
    case "percent":
      return percentOf(subtotal, coupon.percent);
    case "amount":
      return coupon.amount;
    case "nth_free": {
      const line = lines.find((one) => one.sku === coupon.sku);
      return line ? Math.floor(line.quantity / coupon.nth) * line.unitPrice : 0;
    }
    default:
      throw new CouponRefused(coupon.code, `its kind is ${coupon.kind}`);
  }
}

function readCoupon({ code, kind, minimum = "0", amount = "0", percent = 0, sku, nth }) {
  return { code, kind, minimum: parseMoney(minimum), amount: parseMoney(amount), percent, sku, nth };
}
