// Money is a whole number of cents everywhere. This file is the only one that reads or writes it as text.

/** Cents of a text such as "12.34" or "-3". Throws on anything else. */
export function parseMoney(text) {
  const match = /^(-?)(\d+)(?:\.(\d{2}))?$/.exec(String(text).trim());
  if (!match) throw new TypeError(`not an amount of money: ${text}`);
  const [, sign, units, cents = "00"] = match;
  const amount = Number(units) * 100 + Number(cents);
  return sign ? -amount : amount;
}

/** "1,234.50" for 123450. */
export function formatMoney(cents) {
  if (!Number.isInteger(cents)) throw new TypeError(`not a whole number of cents: ${cents}`);
  const digits = String(Math.abs(cents)).padStart(3, "0");
  const units = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${cents < 0 ? "-" : ""}${units}.${digits.slice(-2)}`;
}

export function sum(amounts) {
  return amounts.reduce((total, amount) => total + amount, 0);
}

/** A percentage of an amount, in whole cents; half a cent is rounded away from zero. */
export function percentOf(cents, percent) {
  const exact = (cents * percent) / 100;
  return Math.sign(exact) * Math.round(Math.abs(exact));
}

/** Splits an amount in proportion to the weights: `allocate(100, [3, 1])` is `[75, 25]`. */
export function allocate(amount, weights) {
  const whole = sum(weights);
  if (whole === 0) return weights.map(() => 0);
  return weights.map((weight) => Math.round((amount * weight) / whole));
}
