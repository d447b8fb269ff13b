// Orders that were paid, and what of them was paid back.

import { sum } from "./money.js";

/** Orders are numbered from 1001; a number is never given twice. */
export function createOrders() {
  const orders = new Map();
  let next = 1001;

  function find(number) {
    const order = orders.get(number);
    if (!order) throw new Error(`there is no order ${number}`);
    return order;
  }

  return {
    find,
    list: () => [...orders.values()],

    place(details) {
      const order = { number: next++, refunded: [], ...details };
      orders.set(order.number, order);
      return order;
    },

    /** Pays lines back, each once; returns the cents that the customer gets. */
    refund(number, skus) {
      const order = find(number);
      const lines = skus.map((sku) => {
        const line = order.lines.find((one) => one.sku === sku);
        if (!line) throw new Error(`order ${number} has no ${sku}`);
        if (order.refunded.includes(sku)) throw new Error(`${sku} of order ${number} was paid back already`);
        return line;
      });
      orders.set(number, { ...order, refunded: [...order.refunded, ...skus] });
      return sum(lines.map((line) => line.total));
    },

    /** Cents that were taken and not paid back. */
    balance(number) {
      const { total, lines, refunded } = find(number);
      const back = lines.filter((line) => refunded.includes(line.sku)).map((line) => line.total);
      return total - sum(back);
    },
  };
}
