// A cart is a plain value: every change makes a new one.

/** An empty cart. */
export function emptyCart(id) {
  return { id, items: {}, coupon: undefined };
}

/** A cart as it is stored in a file; wrong quantities are refused. */
export function readCart({ id, items = {}, coupon }) {
  const cart = Object.entries(items).reduce(
    (made, [sku, quantity]) => setQuantity(made, sku, quantity),
    emptyCart(id),
  );
  return coupon ? withCoupon(cart, coupon) : cart;
}

export function addItem(cart, sku, quantity = 1) {
  return setQuantity(cart, sku, (cart.items[sku] ?? 0) + quantity);
}

/** Quantity 0 takes the product out. */
export function setQuantity(cart, sku, quantity) {
  if (!Number.isInteger(quantity) || quantity < 0) throw new RangeError(`${quantity} of ${sku} cannot be bought`);
  const { [sku]: _, ...others } = cart.items;
  return { ...cart, items: quantity === 0 ? others : { ...others, [sku]: quantity } };
}

export function withCoupon(cart, code) {
  return { ...cart, coupon: code.trim().toUpperCase() };
}

export function isEmpty(cart) {
  return Object.keys(cart.items).length === 0;
}

/** `[{ sku, quantity }]` in the order of the catalog's numbers, so that equal carts give equal receipts. */
export function itemsOf(cart) {
  return Object.entries(cart.items)
    .map(([sku, quantity]) => ({ sku, quantity }))
    .sort((a, b) => (a.sku < b.sku ? -1 : 1));
}
