/** Tables of policies over recordings: calls that run, ask and are refused, as text, JSON or CSV. Pure. */

import { headOf } from "../../core/text/clean-text.ts";
import { cut } from "../../report/text/columns.ts";
import type { JudgedCall, Policy } from "./permissions.ts";

/** Calls that a policy treats alike for the same reason. `rule`: would let them through. `example`: the first. */
export type Held = { calls: number; rule?: string; reason: string; example: string };

/** A host that commands name under a policy, and what the rules say about it. */
export type HostCount = { host: string; grant: string; calls: number; decision: string; rule?: string };

/** The figures of one policy. `perHost`: questions left where each host is asked for once. */
export type PolicyFigures = Pick<Policy, "mode" | "sandbox"> & {
  calls: number;
  free: number;
  asked: number;
  refused: number;
  perHost: number;
  hosts: HostCount[];
  questions: Held[];
  refusals: Held[];
};

/** Adds up what a policy made of all calls. */
export function figuresOf({ mode, sandbox }: Policy, judged: readonly JudgedCall[]): PolicyFigures {
  const of = (decision: JudgedCall["decision"]) => judged.filter((call) => call.decision === decision);
  const asked = of("ask");
  const byCall = asked.filter(({ decided }) => decided.decision === "ask");
  const byHost = asked.filter(({ decided }) => decided.decision !== "ask");
  const askedHosts = byHost.flatMap(({ hosts }) => hosts.filter(({ decision }) => decision === "ask"));
  return {
    mode,
    sandbox,
    calls: judged.length,
    free: of("allow").length,
    asked: asked.length,
    refused: of("deny").length,
    perHost: byCall.length + new Set(askedHosts.map(({ host }) => host)).size,
    hosts: hostsOf(judged),
    questions: heldOf(asked, "ask"),
    refusals: heldOf(of("deny"), "deny"),
  };
}

function hostsOf(judged: readonly JudgedCall[]): HostCount[] {
  const counts = new Map<string, HostCount>();
  for (const { hosts } of judged) {
    for (const { host, grant, decision, rule } of hosts) {
      const key = `${host} ${grant} ${decision}`;
      const before = counts.get(key) ?? { host, grant, calls: 0, decision, ...(rule ? { rule } : {}) };
      counts.set(key, { ...before, calls: before.calls + 1 });
    }
  }
  return [...counts.values()].sort((a, b) => b.calls - a.calls || (a.host < b.host ? -1 : 1));
}

function heldOf(calls: readonly JudgedCall[], decision: "ask" | "deny"): Held[] {
  const groups = new Map<string, Held>();
  for (const call of calls) {
    const { rule, reason } = reasonOf(call, decision);
    const key = rule ?? reason;
    const before = groups.get(key) ?? {
      calls: 0,
      ...(rule ? { rule } : {}),
      reason,
      example: exampleOf(call),
    };
    groups.set(key, { ...before, calls: before.calls + 1 });
  }
  return [...groups]
    .sort(([a, one], [b, other]) => other.calls - one.calls || (a < b ? -1 : 1))
    .map(([, held]) => held);
}

function reasonOf(
  { decided, hosts }: JudgedCall,
  decision: "ask" | "deny",
): { rule?: string; reason: string } {
  if (decided.decision === decision) {
    const rule = decision === "ask" ? decided.suggestion : decided.by === "rule" ? decided.rule : undefined;
    return { ...(rule === undefined ? {} : { rule }), reason: decided.reason };
  }
  const host = hosts.find((one) => one.decision === decision);
  if (!host) return { reason: decided.reason };
  const reason = `It names the host ${host.host}.`;
  if (host.rule !== undefined) return { rule: host.rule, reason };
  return host.host.startsWith("(") ? { reason } : { rule: hostRule(host.host, host.grant), reason };
}

function hostRule(host: string, grant: string): string {
  return grant === "full" ? `host(${host} full)` : `host(${host})`;
}

function exampleOf({ access }: JudgedCall): string {
  if (access.kind === "execute") return headOf(access.command.replaceAll(/\s+/g, " ").trim(), 200);
  if (access.kind === "remote") return `${access.server}/${access.tool}`;
  return "paths" in access ? `${access.kind} ${access.paths.join(", ")}` : access.kind;
}

/** Rows of a list in the table; JSON has them all. */
const mostRows = 25;

const share = (part: number, whole: number): string => ((100 * part) / Math.max(1, whole)).toFixed(1);

/** Shows the policies in a table, then the hosts, and for a single mode every question and refusal. */
export function policyTable(figures: readonly PolicyFigures[]): string {
  const head = ["mode", "sandbox", "calls", "free", "asked", "per 100", "one a host", "refused", "per 100"];
  const rows = figures.map(({ mode, sandbox, calls, free, asked, perHost, refused }) => {
    const counts = [
      calls,
      free,
      asked,
      share(asked, calls),
      share(perHost, calls),
      refused,
      share(refused, calls),
    ];
    return [mode, sandbox ? "on" : "off", ...counts.map(String)];
  });
  const inside = figures.find(({ hosts }) => hosts.length > 0);
  const listed = new Set(figures.map(({ mode }) => mode)).size === 1 ? figures : [];
  return [
    aligned([head, ...rows]),
    ...(inside ? ["", ...hostLines(inside)] : []),
    ...listed.flatMap((one) => {
      const where = `(${one.mode}, sandbox ${one.sandbox ? "on" : "off"})`;
      return [...heldLines(`asked ${where}`, one.questions), ...heldLines(`refused ${where}`, one.refusals)];
    }),
  ].join("\n");
}

function hostLines({ hosts, mode }: PolicyFigures): string[] {
  const rows = hosts.map(({ host, grant, calls, decision, rule }) => [
    host,
    grant,
    String(calls),
    rule === undefined ? decision : `${decision}: ${rule}`,
  ]);
  return [
    `hosts that the commands name (${mode}, sandbox on)`,
    aligned([["host", "for", "calls", "decision"], ...rows]),
  ];
}

function heldLines(title: string, held: readonly Held[]): string[] {
  if (held.length === 0) return [];
  const rows = held
    .slice(0, mostRows)
    .map(({ calls, rule, reason, example }) => [String(calls), cut(rule ?? reason, 60), cut(example, 60)]);
  const rest = held.length - rows.length;
  const more = rest > 0 ? [`and ${rest} more`] : [];
  return ["", title, aligned([["calls", "rule or reason", "first"], ...rows]), ...more];
}

export function policyJson(figures: readonly PolicyFigures[]): string {
  const policies = figures.map((one) => ({
    ...one,
    askedPer100: Number(share(one.asked, one.calls)),
    refusedPer100: Number(share(one.refused, one.calls)),
  }));
  return JSON.stringify({ policies }, undefined, 2);
}

export function policyCsv(figures: readonly PolicyFigures[]): string {
  const head = "mode,sandbox,calls,free,asked,one_a_host,refused";
  const rows = figures.map(({ mode, sandbox, calls, free, asked, perHost, refused }) =>
    [mode, sandbox ? "on" : "off", calls, free, asked, perHost, refused].join(","),
  );
  return [head, ...rows].join("\n");
}

/** Lines up columns; those of numbers to the right. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => [...(row[at] ?? "")].length)));
  const isNumber = (at: number) => rows.slice(1).every((row) => /^[\d.]+$/.test(row[at] ?? ""));
  const lines = rows.map((row) =>
    row
      .map((cell, at) => (isNumber(at) ? cell.padStart(widths[at] ?? 0) : cell.padEnd(widths[at] ?? 0)))
      .join("  "),
  );
  return lines.map((line) => line.trimEnd()).join("\n");
}
