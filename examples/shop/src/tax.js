// Value added tax. Prices are without tax; it is due on what is really paid for each line.

import { percentOf, sum } from "./money.js";

const rates = { food: 5, books: 7, goods: 19 };

/** Percent of tax on a category. */
export function taxRate(category) {
  const rate = rates[category];
  if (rate === undefined) throw new Error(`no tax rate is set for ${category}`);
  return rate;
}

export function taxOn(net, rate) {
  return percentOf(net, rate);
}

/** `[{ rate, net, tax }]` of priced lines, lowest rate first, for the foot of a receipt. */
export function taxSummary(lines) {
  const found = [...new Set(lines.map((line) => line.taxRate))].sort((a, b) => a - b);
  return found.map((rate) => {
    const same = lines.filter((line) => line.taxRate === rate);
    return { rate, net: sum(same.map((line) => line.net)), tax: sum(same.map((line) => line.tax)) };
  });
}
