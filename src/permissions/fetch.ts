/** Decides whether a page may be fetched: by the rules about hosts, and by who named the address. Pure. */

import type { Access } from "../core/ports.ts";
import type { HostRule } from "../core/sandbox.ts";
import { toolNames } from "../core/tool-calls.ts";
import { byMode, byRule, type PermissionDecision, type PermissionQuery, refused } from "./decision.ts";
import { parseRule, type Rule } from "./parse-rule.ts";
import { addressClass, isAddress } from "./sandbox/addresses.ts";
import { canonicalHost, decideHost, hostPattern, hostRulesOf, localName } from "./sandbox/hosts.ts";

/** The place that an address leads to, or what is wrong with the address. `host`: canonical. */
export type FetchTarget = { url: URL; host: string; port: number } | { problem: string };

/** Ports of web servers; others need a rule that names them. */
const webPorts: readonly number[] = [80, 443];

/** Reads the address of a page. The fragment is left out: it is never sent. */
export function fetchTarget(text: string): FetchTarget {
  if (!URL.canParse(text)) return { problem: "it is not an address such as https://example.com/page" };
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { problem: `${url.protocol} is neither http: nor https:` };
  if (url.username !== "" || url.password !== "")
    return { problem: "it has a user or a password in it, and no credentials are sent" };
  const host = canonicalHost(url.hostname);
  if (host === undefined) return { problem: "its host is written oddly" };
  const port = Number(url.port) || (url.protocol === "http:" ? 80 : 443);
  if (port === 22) return { problem: "port 22 is for ssh" };
  url.hash = "";
  return { url, host, port };
}

/** Decides a fetch: deny rules, then rules that name the host; what is left is asked, and denied in plan mode. */
export function decideFetch(
  query: PermissionQuery,
  { url, invented }: Extract<Access, { kind: "fetch" }>,
): PermissionDecision {
  const off = query.deny.find(({ tool }) => tool === toolNames.fetch);
  if (off) return byRule("deny", off);
  const target = fetchTarget(url);
  if ("problem" in target) return refused(target.problem);
  const { host, port } = target;
  const decided = decideHost(hostRulesOf(query.allow, query.deny), host, port);
  const pattern = hostPattern(host, port);
  if (decided.decision === "deny" && decided.reason === "rule") return byHostRule("deny", decided.rule);
  if (decided.decision === "allow" && !isLocal(host, decided.rule)) {
    const { rule } = decided;
    const stays = host === localName || (isAddress(host) && addressClass(host) === "loopback");
    const sends = invented && rule.grant !== "full" && !stays && !isFrontPage(target.url, rule);
    if (!sends) return byHostRule("allow", rule);
    return open(query, inventedText(host), `host(${pattern} full)`);
  }
  if (decided.decision !== "ask" || !isAskedAbout(target)) return onlyByRule(query, pattern);
  if (!invented) return open(query, `${host} is not on the list of hosts.`, `host(${pattern})`);
  return open(query, `${host} is not on the list of hosts. ${inventedText(host)}`, `host(${pattern} full)`);
}

/** Returns true for a place that a person is asked about; others need a rule. */
export function isAskedAbout({ host, port }: { host: string; port: number }): boolean {
  return !isLocal(host) && webPorts.includes(port);
}

/** A name of this machine counts as allowed only by a rule that names it; without a rule it is one of them. */
function isLocal(host: string, rule?: HostRule): boolean {
  return (host === localName || host.endsWith(`.${localName}`)) && rule?.name !== host;
}

/** A page that the rule itself names: its address carries nothing else. */
function isFrontPage({ pathname, search }: URL, rule: HostRule): boolean {
  return pathname === "/" && search === "" && !rule.name.startsWith("*");
}

function inventedText(host: string): string {
  return `The model made this address up: no message, file or result named it before, so it could carry data to ${host}.`;
}

function byHostRule(decision: "allow" | "deny", { text }: HostRule): PermissionDecision {
  return byRule(decision, { text, tool: "host" });
}

function open(query: PermissionQuery, reason: string, suggestion: string): PermissionDecision {
  if (query.mode !== "plan") return byMode(query, "ask", reason, suggestion);
  return byMode(
    query,
    "deny",
    `${reason} Plan mode asks for no page; it would be allowed by --allow '${suggestion}'.`,
  );
}

function onlyByRule(query: PermissionQuery, pattern: string): PermissionDecision {
  const reason = `Addresses, this machine, and ports other than 80 and 443 need a rule that names them: --allow 'host(${pattern})'.`;
  return byMode(query, "deny", reason);
}

/** Returns true when rules let pages be fetched at all: a host is allowed, or `fetch` is, and no rule denies it. */
export function offersFetch(allow: readonly string[], deny: readonly string[]): boolean {
  const offers = ({ tool }: Rule) => tool === "host" || tool === toolNames.fetch;
  return (
    allow.map(parseRule).some(offers) && !deny.map(parseRule).some(({ tool }) => tool === toolNames.fetch)
  );
}
