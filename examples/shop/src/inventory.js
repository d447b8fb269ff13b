// Stock on the shelves, and holds: stock that a checkout keeps for a while before it is paid.

const minute = 60_000;

export class OutOfStock extends Error {
  constructor(sku, wanted, available) {
    super(`${wanted} of ${sku} are wanted, ${available} can be sold`);
    this.name = "OutOfStock";
    this.sku = sku;
  }
}

/** The inventory of a catalog's products. `clock` gives milliseconds; a hold that is not paid in time is void. */
export function createInventory(products, { clock = Date.now, holdMinutes = 15 } = {}) {
  const onShelf = new Map(products.map(({ sku, stock }) => [sku, stock]));
  const holds = [];

  function dropExpired() {
    const now = clock();
    holds.forEach((hold, index) => {
      if (hold.expiresAt <= now) holds.splice(index, 1);
    });
  }

  function heldOf(sku) {
    dropExpired();
    return holds.reduce((total, hold) => total + (hold.items.get(sku) ?? 0), 0);
  }

  function available(sku) {
    return (onShelf.get(sku) ?? 0) - heldOf(sku);
  }

  function release(cartId) {
    const index = holds.findIndex((hold) => hold.cartId === cartId);
    return index < 0 ? undefined : holds.splice(index, 1)[0];
  }

  return {
    available,
    release,

    /** Holds all items for the cart or none; a hold that the cart already had is replaced. Throws `OutOfStock`. */
    hold(cartId, items) {
      const earlier = release(cartId);
      const missing = items.find(({ sku, quantity }) => available(sku) < quantity);
      if (missing) {
        if (earlier) holds.push(earlier);
        throw new OutOfStock(missing.sku, missing.quantity, available(missing.sku));
      }
      const expiresAt = clock() + holdMinutes * minute;
      holds.push({ cartId, expiresAt, items: new Map(items.map(({ sku, quantity }) => [sku, quantity])) });
      return expiresAt;
    },

    /** Takes what the cart holds off the shelves. False when the hold is void. */
    commit(cartId) {
      dropExpired();
      const held = release(cartId);
      if (!held) return false;
      for (const [sku, quantity] of held.items) onShelf.set(sku, onShelf.get(sku) - quantity);
      return true;
    },

    /** Puts returned goods back. */
    restock(sku, quantity) {
      onShelf.set(sku, (onShelf.get(sku) ?? 0) + quantity);
    },

    /** `[{ sku, onShelf, held, available }]`. */
    levels() {
      return [...onShelf].map(([sku, count]) => {
        const held = heldOf(sku);
        return { sku, onShelf: count, held, available: count - held };
      });
    },
  };
}
