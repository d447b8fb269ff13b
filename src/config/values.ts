/** Values that people write, in options, settings and variables: read, or refused by name. Pure. */

import { ValueError } from "../core/errors.ts";

/** One of the known words. Throws `ValueError` for anything else. */
export function choiceOf<const T extends string>(name: string, value: string, known: readonly T[]): T {
  const found = known.find((word) => word === value);
  if (found === undefined) throw new ValueError(name, `${value}: must be one of ${known.join(", ")}`);
  return found;
}

/** Throws `ValueError` for anything but a whole number from `least` on. */
export function wholeNumber(name: string, value: string, least: 0 | 1 = 1): number {
  if (/^[1-9]\d*$/.test(value) || (value === "0" && least === 0)) return Number(value);
  throw new ValueError(name, `${value}: must be a whole number${least === 0 ? "" : " above 0"}`);
}

/** Dollars. Throws `ValueError` for anything but an amount above 0. */
export function amount(name: string, value: string): number {
  if (/^\d*\.?\d+$/.test(value) && Number(value) > 0) return Number(value);
  throw new ValueError(name, `${value}: must be an amount in dollars above 0, such as 0.50`);
}

const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Milliseconds of `90s`, `10m`, `1h`, `500ms` or plain seconds. Throws `ValueError`. */
export function duration(name: string, value: string): number {
  const match = /^(\d*\.?\d+)(ms|s|m|h)?$/.exec(value);
  const time = match ? Number(match[1]) * factors[(match[2] ?? "s") as keyof typeof factors] : 0;
  if (time > 0) return time;
  throw new ValueError(name, `${value}: must be a time such as 90s, 10m or 1h`);
}
