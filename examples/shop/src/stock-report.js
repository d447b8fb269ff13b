// What is on the shelves, for the people who fill them.

/** `{ rows, low }`: the levels with their names, and the products that should be ordered again. */
export function stockReport({ catalog, inventory }, { lowBelow = 5 } = {}) {
  const rows = inventory.levels().map((level) => ({ ...level, name: catalog.find(level.sku).name }));
  return { rows, low: rows.filter((row) => row.available < lowBelow).map((row) => row.sku) };
}

export function renderStockReport({ rows, low }) {
  const lines = rows.map(({ sku, name, onShelf, held, available }) =>
    [sku.padEnd(12), name.padEnd(22), ...[onShelf, held, available].map((count) => String(count).padStart(6))].join(""),
  );
  const head = `${"number".padEnd(12)}${"product".padEnd(22)} shelf  held  free`;
  return [head, ...lines, low.length > 0 ? `order again: ${low.join(", ")}` : "nothing is low"].join("\n");
}
