/** Decides on the provider's own web search in a new session: by the person's setting, and the rules that deny. */

import type { Settings } from "../../config/settings.ts";
import { canSearch, mostBlocked } from "../../context/request/compose.ts";
import type { ModelCard } from "../../core/model-card.ts";
import type { WebSearch } from "../../core/request.ts";
import { parseRule } from "../../permissions/parse-rule.ts";
import { isAddress } from "../../permissions/sandbox/addresses.ts";
import { hostRulesOf } from "../../permissions/sandbox/hosts.ts";

/** Most searches of one reply. */
const maxUses = 8;

/**
 * Returns the search; undefined where the person did not turn it on, or a rule denies `web_search` or every host. The
 * domains of rules that deny are left out of it, each with all below it: the API knows no narrower form. A rule with a
 * port is about connections alone. Rules that allow say what needs no question, not where to look.
 */
export function webSearchOf({ webSearch }: Settings, deny: readonly string[]): WebSearch | undefined {
  const rules = deny.map(parseRule);
  if (!webSearch || rules.some(({ tool }) => tool === "web_search")) return undefined;
  const denied = hostRulesOf([], rules).filter(({ port }) => port === undefined);
  if (denied.some(({ name }) => name === "*")) return undefined;
  const domains = denied.map(({ name }) => name.replace(/^\*\./, ""));
  const named = domains.filter((domain) => domain.includes(".") && !isAddress(domain));
  return { maxUses, blockedDomains: [...new Set(named)].sort() };
}

/** Returns why a model does not search although the settings turn it on; undefined where it does, or a rule denies it. */
export function noSearch(card: ModelCard, settings: Settings, deny: readonly string[]): string | undefined {
  const search = webSearchOf(settings, deny);
  if (!search || canSearch(card, search)) return undefined;
  if (card.prices.webSearch === undefined) return `no web search is known for ${card.id}`;
  return `${search.blockedDomains.length} domains are denied, and that of ${card.id} can leave out ${mostBlocked}: deny fewer, or use a Claude model`;
}
