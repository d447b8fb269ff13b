/** Facts of providers and cards that commands show. */

import { accessOf, type Environment, urlVariableOf } from "../../models/access.ts";
import { cardSource } from "../../models/cards.ts";
import type { Provider } from "../../models/providers.ts";

/** Below this many tokens of window it is said at once what does not fit. */
export const smallWindow = 16_000;

/** Returns the date of the figures on the cards, and how many days ago that was at `now`. */
export function cardAge(now: number): { date: string; days: number } {
  const { date } = cardSource;
  return { date, days: Math.floor((now - Date.parse(date)) / 86_400_000) };
}

/** Returns where a provider's requests go, and the variable that says so. */
export function providerUrl(row: Provider, env: Environment): { url: string; from: string } {
  return { url: accessOf(row, env).url, from: urlVariableOf(row) };
}
