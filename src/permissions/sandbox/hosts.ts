/** Rules about hosts: their syntax, the canonical spelling of a host, and which rule decides. Pure. */

import type { HostGrant, HostRule } from "../../core/sandbox.ts";
import { RuleError } from "../rule-error.ts";
import { embedded4, isAddress } from "./addresses.ts";

/** The name inside the sandbox for services of this machine, each allowed by a rule with a port. */
export const machineName = "host.sawtooth";

/** The name of this machine outside of the sandbox. It leads somewhere only by a rule that names it. */
export const localName = "localhost";

/** Ports that a rule without a port covers: ssh, http, https. */
export const usualPorts: readonly number[] = [22, 80, 443];

const howTo =
  "write host(api.example.com), host(*.example.com), host(api.example.com:8443), host(@npm), each with full behind it " +
  "where the host may be sent to, and trusted where all text on it is your own: host(git.example.com full trusted)";

/** The public hosts that a package manager or a service needs, by preset. */
const presets: Record<string, readonly string[]> = {
  "@npm": ["registry.npmjs.org", "registry.yarnpkg.com"],
  "@pypi": ["pypi.org", "files.pythonhosted.org"],
  "@cargo": ["index.crates.io", "static.crates.io", "crates.io"],
  "@go": ["proxy.golang.org", "sum.golang.org"],
  "@github": [
    ...["github.com", "api.github.com", "codeload.github.com", "ssh.github.com"],
    "*.githubusercontent.com",
  ],
};

/**
 * Parses the pattern of `host(…)`: a name, `*.name`, `*`, an address or a preset, optionally with
 * `:port`, `fetch` or `full`, and `trusted`. A preset is several rules. Throws `RuleError`.
 */
export function parseHostRule(pattern: string, kind: "allow" | "deny" = "allow"): HostRule[] {
  const text = `host(${pattern.trim()})`;
  const wrong = (what: string) => new RuleError(`the rule "${text}" ${what}: ${howTo}`);
  const [host = "", ...words] = pattern.trim().split(/[ \t]+/);
  const behind = words.join(" ");
  if (!/^(fetch|full)?( ?trusted)?$/.test(behind))
    throw wrong(`has "${behind}" behind the host, which is neither fetch nor full, nor trusted behind them`);
  if (kind === "deny" && behind !== "") throw wrong(`denies, so "${behind}" has no meaning: leave it out`);
  const grant: HostGrant = words[0] === "full" ? "full" : "fetch";
  const meaning = { grant, ...(words.at(-1) === "trusted" ? { trusted: true as const } : {}), text };
  if (host.startsWith("@")) {
    const names = presets[host];
    if (!names) throw wrong(`names a preset that is unknown (there are ${Object.keys(presets).join(", ")})`);
    return names.map((name) => ({ kind, name, ...meaning }));
  }
  const { name, port } = partsOf(host, wrong);
  if (name === machineName && port === undefined)
    throw wrong(`needs the port of the service on this machine, as in host(${machineName}:5432 full)`);
  return [{ kind, name, ...(port === undefined ? {} : { port }), ...meaning }];
}

type AnyRule = { tool: string; pattern?: string };

/** Returns the rules about hosts among rules of all kinds. */
export function hostRulesOf(allow: readonly AnyRule[], deny: readonly AnyRule[]): HostRule[] {
  const of = (rules: readonly AnyRule[], kind: HostRule["kind"]) =>
    rules.filter(({ tool }) => tool === "host").flatMap(({ pattern = "" }) => parseHostRule(pattern, kind));
  return [...of(deny, "deny"), ...of(allow, "allow")];
}

function partsOf(text: string, wrong: (what: string) => Error): { name: string; port?: number } {
  if (/^[a-z]+:\/\//i.test(text)) throw wrong("is a URL: leave out the scheme and the path");
  const split = splitPort(text);
  if (!split) throw wrong("has a port that is not a number from 1 to 65535");
  const { host, port } = split;
  const wild = host === "*" || host.startsWith("*.");
  const plain = host.startsWith("*.") ? host.slice(2) : host;
  const name = host === "*" ? "*" : canonicalHost(plain);
  if (name === undefined) throw wrong("does not name a host");
  if (wild && name !== "*" && isAddress(name)) throw wrong("has an address behind the star");
  const whole = wild && name !== "*" ? `*.${name}` : name;
  return port === undefined ? { name: whole } : { name: whole, port };
}

/** Splits `host:port`, `[address]:port`, or a host alone; undefined for an invalid port. */
export function splitPort(text: string): { host: string; port?: number } | undefined {
  const bracketed = /^(\[[^\]]*\])(?::(.*))?$/s.exec(text);
  const plain = bracketed ?? /^([^:]*)(?::([^:]*))?$/s.exec(text);
  // An IPv6 address without brackets has no port.
  if (!plain) return { host: text };
  const [, host = "", digits] = plain;
  if (digits === undefined) return { host };
  const port = /^[1-9]\d{0,4}$/.test(digits) ? Number(digits) : 0;
  return port >= 1 && port <= 65535 ? { host, port } : undefined;
}

/**
 * Returns the canonical spelling of a host: lower case, without a final dot, names as punycode, addresses in usual form
 * without brackets (an IPv4 address embedded in IPv6 as IPv4). Undefined for anything odd: two parsers of
 * such a text could read different hosts.
 */
export function canonicalHost(text: string): string | undefined {
  if (text === "" || text.length > 1024 || /[\x00-\x20\x7f-\x9f%@/\\?#]/.test(text)) return undefined;
  if (text.includes(":")) {
    const inner = /^\[([^[\]]*)\]$/.exec(text)?.[1] ?? text;
    const host = hostOf(`[${inner}]`)?.slice(1, -1);
    return host === undefined ? undefined : (embedded4(host) ?? host);
  }
  const host = plainName.test(text) ? text : hostOf(text)?.replace(/\.$/, "");
  if (host === undefined || host.length > 253) return undefined;
  if (isAddress(host)) return host;
  const labels = host.split(".");
  const fits = (label: string) => label.length <= 63 && /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label);
  return labels.every(fits) && !/^\d+$/.test(labels.at(-1) ?? "") ? host : undefined;
}

/** Matches names already in canonical form, as most are. */
const plainName = /^(?!xn--)[a-z_][a-z0-9_-]*(\.(?!xn--)[a-z_][a-z0-9_-]*)*$/;

/** Reads a host as URLs do (WHATWG). */
function hostOf(text: string): string | undefined {
  const url = `http://${text}/`;
  return URL.canParse(url) ? new URL(url).hostname : undefined;
}

/** The decision on a connection and its reason. */
export type HostDecision =
  /** `trusted`: one of the rules that allow it says so. */
  | { decision: "allow"; rule: HostRule; trusted?: true }
  | { decision: "deny"; reason: "rule"; rule: HostRule }
  /** `unknown`: no rule names the host. `port`: a rule names it, on other ports. */
  | { decision: "ask"; reason: "unknown" | "port" }
  /** Addresses and services of this machine need a rule that names them: nobody is asked. */
  | { decision: "deny"; reason: "address" | "machine" };

/**
 * Decides on a host in its canonical spelling. Deny rules beat allow rules, and `full` allow rules beat `fetch` ones.
 * Nothing is allowed without a rule.
 */
export function decideHost(rules: readonly HostRule[], host: string, port: number): HostDecision {
  const address = isAddress(host);
  const denied = rules.find((rule) => rule.kind === "deny" && names(rule, host) && deniesPort(rule, port));
  if (denied) return { decision: "deny", reason: "rule", rule: denied };
  const named = rules.filter(
    (rule) =>
      rule.kind === "allow" && (address || host === machineName ? rule.name === host : names(rule, host)),
  );
  const fitting = named.filter((rule) => coversPort(rule, port));
  const rule = fitting.find(({ grant }) => grant === "full") ?? fitting[0];
  const trusted = fitting.some((one) => one.trusted);
  if (rule) return { decision: "allow", rule, ...(trusted ? { trusted } : {}) };
  if (address) return { decision: "deny", reason: "address" };
  if (host === machineName) return { decision: "deny", reason: "machine" };
  return { decision: "ask", reason: named.length > 0 ? "port" : "unknown" };
}

function names({ name }: HostRule, host: string): boolean {
  if (name === "*") return true;
  return name.startsWith("*.") ? host.endsWith(name.slice(1)) && !isAddress(host) : host === name;
}

function coversPort({ port }: HostRule, wanted: number): boolean {
  return port === undefined ? usualPorts.includes(wanted) : port === wanted;
}

/** Returns true when a deny rule covers the port; one without a port denies all. */
function deniesPort({ port }: HostRule, wanted: number): boolean {
  return port === undefined || port === wanted;
}

/** Returns the pattern of the rule that a yes to a question adds: `api.example.com`, or with its port. */
export function hostPattern(host: string, port: number): string {
  const shown = host.includes(":") ? `[${host}]` : host;
  return usualPorts.includes(port) ? shown : `${shown}:${port}`;
}
