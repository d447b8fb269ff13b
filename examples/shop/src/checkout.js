// From a cart to an order: hold the stock, take the payment, write the order.

import { isEmpty, itemsOf } from "./cart.js";
import { formatMoney } from "./money.js";
import { priceCart } from "./pricing.js";

export class CheckoutFailed extends Error {
  constructor(reason) {
    super(reason);
    this.name = "CheckoutFailed";
  }
}

/** Prices the cart and holds its stock. Throws when it is empty, sold out, or its coupon does not apply. */
export function startCheckout(shop, cart) {
  if (isEmpty(cart)) throw new CheckoutFailed("the cart is empty");
  const prices = priceCart(cart, shop);
  const expiresAt = shop.inventory.hold(cart.id, itemsOf(cart));
  return { cart, prices, expiresAt };
}

/** Takes the payment, in cents, and returns the order. A wrong amount leaves the hold as it is. */
export function completeCheckout(shop, checkout, paid) {
  const { cart, prices } = checkout;
  if (paid !== prices.total) {
    throw new CheckoutFailed(`${formatMoney(paid)} were paid, ${formatMoney(prices.total)} are due`);
  }
  if (!shop.inventory.commit(cart.id)) throw new CheckoutFailed("the stock was held too long ago; start again");
  return shop.orders.place({ ...prices, cartId: cart.id, coupon: cart.coupon, placedAt: shop.clock() });
}

/** Gives the stock back before the hold runs out. */
export function cancelCheckout(shop, checkout) {
  shop.inventory.release(checkout.cart.id);
}
