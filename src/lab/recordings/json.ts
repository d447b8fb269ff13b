/** Reads values out of JSON whose shape is not known: what is missing or of another type becomes nothing. Pure. */

export type Fields = Readonly<Record<string, unknown>>;

/** The fields of an object; none for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A string, in valid Unicode; "" for anything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value.toWellFormed() : "";
}

/** A count; 0 for anything that is none. */
export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** Milliseconds since 1970 of an ISO text, of seconds or of milliseconds; undefined when it is no time. */
export function timeOf(value: unknown): number | undefined {
  const number = typeof value === "string" ? Date.parse(value) : value;
  if (typeof number !== "number" || !Number.isFinite(number) || number <= 0) return undefined;
  return Math.round(number < 1e11 ? 1000 * number : number);
}

/** The value of a JSON text, or undefined when it is none. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
