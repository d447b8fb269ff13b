/** Values of flags: read, or refused with a sentence that names the flag. Pure. */

/** A mistake of the caller: one line that says what is wrong and what to do. Exit code 2. */
export class UsageError extends Error {
  readonly exitCode = 2;
}

/** An object with this field, or without it where there is no value. */
export function given<K extends string, T>(key: K, value: T | undefined): { [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]: T });
}

/** Throws `UsageError` for anything but one of the known words. */
export function oneOf<const T extends string>(flag: string, value: string | undefined, known: readonly T[]) {
  if (value === undefined) return undefined;
  const found = known.find((name) => name === value);
  if (!found) throw new UsageError(`${flag} ${value}: must be one of ${known.join(", ")}`);
  return found;
}

/** Throws `UsageError` for anything but a whole number above 0. */
export function wholeNumber(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d*$/.test(value)) throw new UsageError(`${flag} ${value}: must be a whole number above 0`);
  return Number(value);
}

/** Dollars. Throws `UsageError` for anything but an amount above 0. */
export function amount(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^\d*\.?\d+$/.test(value) || Number(value) <= 0)
    throw new UsageError(`${flag} ${value}: must be an amount in dollars above 0, such as 0.50`);
  return Number(value);
}

/** Milliseconds of `90s`, `10m`, `1h`, `500ms` or plain seconds. */
export function duration(flag: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const match = /^(\d*\.?\d+)(ms|s|m|h)?$/.exec(value);
  const factors = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const time = match ? Number(match[1]) * factors[(match[2] ?? "s") as keyof typeof factors] : 0;
  if (time <= 0) throw new UsageError(`${flag} ${value}: must be a time such as 90s, 10m or 1h`);
  return time;
}
