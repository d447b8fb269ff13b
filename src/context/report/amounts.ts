/** Formats tokens, dollars, shares and times for people. Pure. */

import { formatInteger } from "../../core/text/clean-text.ts";

/** Formats tokens in at most four characters: 950, 9.2k, 92k, 920k, 1.2M. */
export function formatTokens(tokens: number): string {
  if (tokens < 999.5) return String(Math.round(tokens));
  const [value, unit] = tokens < 999_500 ? [tokens / 1e3, "k"] : [tokens / 1e6, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** Formats dollars: to the hundredth of a cent below ten dollars, to the cent above. */
export function money(dollars: number): string {
  return `${dollars < 0 ? "-" : ""}$${Math.abs(dollars).toFixed(Math.abs(dollars) < 10 ? 4 : 2)}`;
}

/** Formats dollars gained or lost, with a sign. */
export function signed(dollars: number): string {
  return `${dollars < 0 ? "-" : "+"}${money(Math.abs(dollars))}`;
}

/** Formats a share as a percentage: 0.123 is "12.3 %". */
export function formatPercent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}

/** Formats a share with its sign; no sign if it rounds to zero. */
export function signedPercent(share: number): string {
  const amount = formatPercent(Math.abs(share));
  return amount === formatPercent(0) ? amount : `${share < 0 ? "-" : "+"}${amount}`;
}

/** Describes the numbers that a policy logged: `removedTokens: 17013` is "removed tokens 17,013". */
export function economicsText(economics: Readonly<Record<string, number | string>>): string {
  return Object.entries(economics)
    .filter(([name]) => name !== "reason")
    .map(([name, value]) => {
      const words = name.replace(/Usd$/, "").replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      if (typeof value === "string") return `${words} ${value}`;
      return `${words} ${name.endsWith("Usd") ? money(value) : grouped(value)}`;
    })
    .join(", ");
}

function grouped(value: number): string {
  return Number.isInteger(value) ? formatInteger(value) : String(Number(value.toPrecision(3)));
}

/** `1 step`, `2 steps`. */
export function plural(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** Milliseconds as `42 s`, `12 min`, `3 h 20 min`. */
export function formatDuration(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (ms < 90_000) return `${Math.round(ms / 1000)} s`;
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
