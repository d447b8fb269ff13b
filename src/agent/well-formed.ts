/** Makes every string of a value valid Unicode: one lone surrogate would make the whole session invalid. */

/** The same value, lone surrogates replaced by U+FFFD; key order is kept. */
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormedValue);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormedValue(item)]),
  );
}
